import { constant, toneModel } from '../stand-in.ts';

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
  const isMany = speakers > 1;
  return toneModel({
    ids: 'input',
    frameSamples: FRAME_SAMPLES,
    inputs: [
      { name: 'input_lengths', type: 'int64', dims: [1] },
      { name: 'scales', type: 'float32', dims: [3] },
      ...(isMany ? [{ name: 'sid', type: 'int64', dims: [1] } as const] : []),
    ],
    constants: [
      constant('first', 0, 'int64'),
      constant('second', 1, 'int64'),
      constant('amplitude', amplitude),
    ],
    each: [
      ['Gather', ['scales', 'second'], ['length']],
      ['Mul', ['frames', 'length'], ['each']],
    ],
    durations: [[durations, ['lengths'], ['durations']]],
    raised: isMany
      ? [
          ['Cast', ['sid'], ['sid_float32']],
          ['Add', ['sid_float32', 'one'], ['factor']],
          ['Mul', ['at', 'factor'], ['raised']],
        ]
      : undefined,
    sound: [
      ['Gather', ['scales', 'first'], ['noise_scale']],
      ['RandomNormalLike', ['tone'], ['noise']],
      ['Mul', ['noise', 'noise_scale'], ['scaled_noise']],
      ['Add', ['tone', 'scaled_noise'], ['sound']],
      ['Mul', ['sound', 'amplitude'], ['output']],
    ],
    output: 'output',
  });
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
