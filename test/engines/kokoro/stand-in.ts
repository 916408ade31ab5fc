import { toneModel } from '../stand-in.ts';

export const COLUMNS = 256;

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
