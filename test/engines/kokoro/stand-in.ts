import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { onnxFile, type Node, type Value } from '../onnx-file.ts';

const ROWS = 510;
const COLUMNS = 256;

/** Duration that the stand-in gives each id at speed 1, in frames of 600 samples. */
export const FRAMES = 4;

/**
 * Returns a model with the inputs and outputs of Kokoro. Each id gets a tone of four frames, divided by the speed. The
 * first number of the style is the amplitude of the tone.
 */
export function standInModel({ ids = 'tokens', durations = 'Clip' } = {}): Buffer {
  const nodes: Node[] = [
    ['Cast', [ids], ['ids_float32']],
    ['Mul', ['ids_float32', 'zero'], ['zeros']],
    ['Div', ['frames', 'speed'], ['each']],
    ['Add', ['zeros', 'each'], ['lengths']],
    ['Round', ['lengths'], ['rounded']],
    durations === 'Clip'
      ? ['Clip', ['rounded', 'one'], ['durations']]
      : ['Max', ['rounded', 'one'], ['durations']],
    ['ReduceSum', ['durations'], ['total']],
    ['Mul', ['total', 'frame_samples'], ['samples']],
    ['Range', ['zero', 'samples', 'one'], ['at']],
    ['Mul', ['at', 'step'], ['phase']],
    ['Sin', ['phase'], ['tone']],
    ['ReduceSum', ['style'], ['amplitude']],
    ['Mul', ['tone', 'amplitude'], ['audio']],
  ];
  return onnxFile({
    nodes,
    constants: [
      scalar('zero', 0),
      scalar('one', 1),
      scalar('frames', FRAMES),
      scalar('frame_samples', 600),
      scalar('step', 0.1),
    ],
    inputs: [
      { name: ids, type: 'int64', dims: [1, 'length'] },
      { name: 'style', type: 'float32', dims: [1, COLUMNS] },
      { name: 'speed', type: 'float32', dims: [1] },
    ],
    outputs: [{ name: 'audio', type: 'float32', dims: ['samples'] }],
  });
}

/** Returns the styles of a voice: the sum of each row is the amplitude of its tone. */
export function standInVoice(amplitudeOf: (row: number) => number): Buffer {
  const numbers = new Float32Array(ROWS * COLUMNS);
  for (let row = 0; row < ROWS; row += 1) numbers[row * COLUMNS] = amplitudeOf(row);
  return Buffer.from(numbers.buffer);
}

/** Writes a folder of models with these voices; it is removed after the test. */
export async function standInFolder(
  voices: Readonly<Record<string, Buffer>>,
  model = standInModel(),
): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'foley-kokoro-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await mkdir(path.join(folder, 'voices'));
  await writeFile(path.join(folder, 'kokoro-v1.0.int8.onnx'), model);
  for (const [name, styles] of Object.entries(voices)) {
    await writeFile(path.join(folder, 'voices', `${name}.bin`), styles);
  }
  return folder;
}

function scalar(name: string, value: number): Value {
  return { name, type: 'float32', dims: [], values: [value] };
}
