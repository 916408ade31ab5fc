import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { onnxFile, type Node, type Value } from '../onnx-file.ts';

/** Duration that the stand-in gives each id at speed 1, in frames of 256 samples. */
export const FRAMES = 4;
export const FRAME_SAMPLES = 256;

/**
 * Returns a model with the inputs and outputs of Piper. Each id gets four frames of a tone with as much noise as the
 * scales say. The number of the speaker raises the tone.
 */
export function standInModel({
  amplitude = 0.1,
  durations = 'Ceil',
  speakers = 1,
}: {
  readonly amplitude?: number;
  readonly durations?: 'Ceil' | 'Floor';
  readonly speakers?: number;
} = {}): Buffer {
  const nodes: Node[] = [
    ['Cast', ['input'], ['ids_float32']],
    ['Mul', ['ids_float32', 'zero'], ['zeros']],
    ['Gather', ['scales', 'second'], ['length']],
    ['Mul', ['frames', 'length'], ['each']],
    ['Add', ['zeros', 'each'], ['lengths']],
    [durations, ['lengths'], ['durations']],
    ['ReduceSum', ['durations'], ['total']],
    ['Mul', ['total', 'frame_samples'], ['samples']],
    ['Range', ['zero', 'samples', 'one'], ['at']],
    ...(speakers === 1
      ? []
      : ([
          ['Cast', ['sid'], ['sid_float32']],
          ['Add', ['sid_float32', 'one'], ['factor']],
          ['Mul', ['at', 'factor'], ['raised']],
        ] as const)),
    ['Mul', [speakers === 1 ? 'at' : 'raised', 'step'], ['phase']],
    ['Sin', ['phase'], ['tone']],
    ['Gather', ['scales', 'first'], ['noise_scale']],
    ['RandomNormalLike', ['tone'], ['noise']],
    ['Mul', ['noise', 'noise_scale'], ['scaled_noise']],
    ['Add', ['tone', 'scaled_noise'], ['sound']],
    ['Mul', ['sound', 'amplitude'], ['output']],
  ];
  return onnxFile({
    nodes,
    constants: [
      constant('zero', 0),
      constant('one', 1),
      constant('first', 0, 'int64'),
      constant('second', 1, 'int64'),
      constant('frames', FRAMES),
      constant('frame_samples', FRAME_SAMPLES),
      constant('step', 0.1),
      constant('amplitude', amplitude),
    ],
    inputs: [
      { name: 'input', type: 'int64', dims: [1, 'length'] },
      { name: 'input_lengths', type: 'int64', dims: [1] },
      { name: 'scales', type: 'float32', dims: [3] },
      ...(speakers === 1 ? [] : [{ name: 'sid', type: 'int64', dims: [1] } as const]),
    ],
    outputs: [{ name: 'output', type: 'float32', dims: ['samples'] }],
  });
}

function constant(name: string, value: number, type: 'float32' | 'int64' = 'float32'): Value {
  return { name, type, dims: [], values: [value] };
}

const SYMBOLS = '_^$ .,:;?!abcdefhijklmnopqrstuvwxyzæðŋɐɑɔəɚɛɜɡɪɹɾʃʊʌʒθˈˌːᵻ';

/** Returns the description of a voice, as in the file `NAME.onnx.json`. */
export function standInDescription(changes: object = {}): object {
  return {
    audio: { sample_rate: 22_050, quality: 'medium' },
    espeak: { voice: 'en-us' },
    inference: { noise_scale: 0.667, length_scale: 1, noise_w: 0.8 },
    phoneme_type: 'espeak',
    phoneme_id_map: Object.fromEntries(Array.from(SYMBOLS, (symbol, id) => [symbol, [id]])),
    num_symbols: 256,
    num_speakers: 1,
    speaker_id_map: {},
    language: { code: 'en_US' },
    ...changes,
  };
}

interface StandInVoice {
  readonly model?: Buffer;
  /** Undefined for a voice without the file. */
  readonly description?: object | undefined;
}

/** Writes a folder with these voices; it is removed after the test. */
export async function standInFolder(
  voices: Readonly<Record<string, StandInVoice>>,
): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'foley-piper-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [name, voice] of Object.entries(voices)) {
    const description = 'description' in voice ? voice.description : standInDescription();
    await writeFile(path.join(folder, `${name}.onnx`), voice.model ?? standInModel());
    if (description === undefined) continue;
    await writeFile(path.join(folder, `${name}.onnx.json`), JSON.stringify(description));
  }
  return folder;
}
