import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { heardWords } from '../../harness/spoken-words.ts';
import { runFoley } from '../../harness/run-foley.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import { readWav } from '../../harness/wav.ts';

/** A server whose model loads on a busy machine takes long. */
export const SLOW_MS = 300_000;

/** Starts a server that prints its URL first. */
export async function startProgram(...command: readonly string[]): Promise<string> {
  const [program = '', ...args] = command;
  const running = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => {
    running.kill();
  });
  const ended = once(running, 'exit').then(() => {
    throw new Error(`${program} ended before it served`);
  });
  const [line] = await Promise.race([once(running.stdout, 'data'), ended]);
  ended.catch(() => undefined);
  return String(line).trim();
}

export const SENTENCE = 'The ship left at noon and nobody waved.';

/** Speaks a sentence with a voice of a server, with captions, and with the built-in voice beside it. */
export async function expectSentence(sandbox: Sandbox, voice: string): Promise<void> {
  const say = async (file: string, ...options: readonly string[]) => {
    const args = ['tts', SENTENCE, '--local', ...options, '-o', file];
    const spoken = await runFoley(args, { sandbox, timeoutMs: SLOW_MS });
    expect(spoken.code, spoken.stderr).toBe(0);
    const { stdout } = await runFoley(['inspect', file, '--json'], { sandbox });
    return JSON.parse(stdout.toString());
  };
  const own = await say('own.wav');
  const remote = await say('a.wav', '-v', voice, '--subtitles', 'a.srt');
  expect(Math.abs(remote.loudnessLufs - own.loudnessLufs)).toBeLessThan(3);
  expect(remote.durationMs / own.durationMs).toBeGreaterThan(0.6);
  expect(remote.durationMs / own.durationMs).toBeLessThan(1.5);
  expect(remote.clippedSamples).toBe(0);
  const { channels, sampleRate } = readWav(await readFile(path.join(sandbox.out, 'a.wav')));
  const [samples = new Float32Array()] = channels;
  const heard = await heardWords(
    { samples, sampleRate },
    SENTENCE.toLowerCase().match(/\w+/g) ?? [],
  );
  expect(heard.map(({ word }) => word)).toContain('waved');
  expect(await readFile(path.join(sandbox.out, 'a.srt'), 'utf8')).toMatch(/nobody waved/);
}
