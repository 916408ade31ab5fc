import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { DrivenEngine } from './drive-engine.ts';
import { onnxFile, type Node, type Value } from './onnx-file.ts';

/** Duration that a stand-in gives each id at speed 1, in frames. */
export const FRAMES = 4;

interface ToneModel {
  /** Name of the input with the ids. */
  readonly ids: string;
  readonly frameSamples: number;
  /** The other inputs. */
  readonly inputs: readonly Value[];
  readonly constants?: readonly Value[];
  /** Nodes that give `each`, the frames of an id, from `frames` and the inputs. */
  readonly each: readonly Node[];
  /** Nodes that give `durations` from `lengths`. */
  readonly durations: readonly Node[];
  /** Nodes that give `raised`, the place in the tone, from `at`. */
  readonly raised?: readonly Node[] | undefined;
  /** Nodes that give the output from `tone`. */
  readonly sound: readonly Node[];
  readonly output: string;
}

/** Returns a model that is small and has the inputs and outputs of a real one: each id becomes frames of a tone. */
export function toneModel({ constants = [], ids, inputs, output, ...model }: ToneModel): Buffer {
  const { durations, each, frameSamples, sound } = model;
  const { raised = [['Mul', ['at', 'one'], ['raised']]] } = model;
  return onnxFile({
    nodes: [
      ['Cast', [ids], ['ids_float32']],
      ['Mul', ['ids_float32', 'zero'], ['zeros']],
      ...each,
      ['Add', ['zeros', 'each'], ['lengths']],
      ...durations,
      ['ReduceSum', ['durations'], ['total']],
      ['Mul', ['total', 'frame_samples'], ['samples']],
      ['Range', ['zero', 'samples', 'one'], ['at']],
      ...raised,
      ['Mul', ['raised', 'step'], ['phase']],
      ['Sin', ['phase'], ['tone']],
      ...sound,
    ],
    constants: [
      constant('zero', 0),
      constant('one', 1),
      constant('frames', FRAMES),
      constant('frame_samples', frameSamples),
      constant('step', 0.1),
      ...constants,
    ],
    inputs: [{ name: ids, type: 'int64', dims: [1, 'length'] }, ...inputs],
    outputs: [{ name: output, type: 'float32', dims: ['samples'] }],
  });
}

/** Returns a constant of a model: a single number. */
export function constant(
  name: string,
  value: number,
  type: 'float32' | 'int64' = 'float32',
): Value {
  return { name, type, dims: [], values: [value] };
}

/** Writes a folder of models with these files, by their paths; it is removed after the test. */
export async function modelFolder(
  files: Readonly<Record<string, Uint8Array | string>>,
): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'foley-models-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
    await writeFile(path.join(folder, name), content);
  }
  return folder;
}

/** Expects a time for each word of a text, in order and within the audio. The engine has greeted. */
export async function expectTimedWords(
  engine: DrivenEngine,
  { text, voice, sampleRate }: { text: string; voice: string; sampleRate: number },
): Promise<void> {
  const { end, samples, words } = await engine.speak(text, voice);
  expect(end).toEqual({ type: 'done', id: 1 });
  const characters = Array.from(text);
  expect(words.map((word) => characters.slice(word.start, word.end).join(''))).toEqual(
    'Hello there the end of the long day It is 5 o’clock 🙂 now'.split(' '),
  );
  const times = words.flatMap(({ startMs, endMs }) => [startMs, endMs]);
  expect(times).toEqual(times.toSorted((one, other) => one - other));
  expect(times.at(-1)).toBeLessThanOrEqual((samples.length * 1000) / sampleRate);
  expect(words.every(({ startMs, endMs }) => endMs > startMs)).toBe(true);
}
