import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { modelFolder, toneModel } from '../stand-in.ts';

const ROWS = 510;
const COLUMNS = 256;

/**
 * Returns a model with the inputs and outputs of Kokoro. Each id gets a tone of four frames, divided by the speed. The
 * first number of the style is the amplitude of the tone.
 */
export function standInModel({ ids = 'tokens', durations = 'Clip' } = {}): Buffer {
  return toneModel({
    ids,
    frameSamples: 600,
    inputs: [
      { name: 'style', type: 'float32', dims: [1, COLUMNS] },
      { name: 'speed', type: 'float32', dims: [1] },
    ],
    each: [['Div', ['frames', 'speed'], ['each']]],
    durations: [
      ['Round', ['lengths'], ['rounded']],
      [durations === 'Clip' ? 'Clip' : 'Max', ['rounded', 'one'], ['durations']],
    ],
    sound: [
      ['ReduceSum', ['style'], ['amplitude']],
      ['Mul', ['tone', 'amplitude'], ['audio']],
    ],
    output: 'audio',
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
  const styles = Object.entries(voices).map(([name, voice]) => [`voices/${name}.bin`, voice]);
  const folder = await modelFolder({
    'kokoro-v1.0.int8.onnx': model,
    ...Object.fromEntries(styles),
  });
  await mkdir(path.join(folder, 'voices'), { recursive: true });
  return folder;
}
