import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { decodeAudio } from '../harness/decode-audio.ts';
import { independentMeter } from '../harness/independent-meter.ts';
import { runFoley } from '../harness/run-foley.ts';
import { createSandbox } from '../harness/sandbox.ts';

const TEXT = '[pause 1s] Hello from foley. It trims the silence. [pause 1s]';

test('--loudness and --trim change the sound, and the word times move with it', async () => {
  const sandbox = await createSandbox();
  const read = (name: string): Promise<Buffer> => readFile(path.join(sandbox.out, name));
  const speak = async (name: string, more: readonly string[]) => {
    const args = ['tts', TEXT, '--pauses', '-o', `${name}.wav`, '--timings', `${name}.json`];
    const result = await runFoley([...args, '--local', ...more], { sandbox });
    expect(result.code, result.stderr).toBe(0);
    const { channels, durationMs, sampleRate } = await decodeAudio(await read(`${name}.wav`));
    const [samples = new Float32Array()] = channels;
    const loud = samples.findIndex((sample) => Math.abs(sample) >= 10 ** (-50 / 20));
    const startMs = (loud / sampleRate) * 1_000;
    const timings = JSON.parse((await read(`${name}.json`)).toString());
    return { samples, durationMs, sampleRate, startMs, timings };
  };
  const plain = await speak('plain', []);
  const changed = await speak('changed', ['--trim']);
  const cutMs = plain.startMs - changed.startMs;
  expect(cutMs).toBeGreaterThan(900);
  expect(changed.startMs).toBeLessThanOrEqual(50);
  expect(plain.timings.words).toHaveLength(7);
  for (const [index, { startMs }] of plain.timings.words.entries()) {
    expect(Math.abs(changed.timings.words[index].startMs + cutMs - startMs)).toBeLessThanOrEqual(1);
  }
  expect(Math.abs(changed.timings.durationMs - changed.durationMs)).toBeLessThanOrEqual(1);

  const meter = await independentMeter();
  const { sampleRate, samples } = await speak('loud', ['--trim', '--loudness', '-16']);
  expect(samples).toHaveLength(changed.samples.length);
  expect(Math.abs(meter.mono(sampleRate, samples) + 16)).toBeLessThan(0.5);
  expect(meter.truePeakDb(sampleRate, samples)).toBeLessThan(-1);
});
