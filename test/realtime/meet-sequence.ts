import { expect } from 'vitest';
import { errorLine } from '../harness/error-line.ts';
import { parseJsonLines } from '../harness/json-lines.ts';
import { live, made, REQUEST_ID, scripted, WHO } from '../binary/live/spoken.ts';
import { startFoley } from '../harness/run-foley.ts';
import type { Version } from './messages.ts';
import { serve } from './script.ts';
import type { Step } from './script.ts';
import { startScriptedServer } from './scripted-server.ts';
import { spokenAudio } from './segment-audio.ts';
import { FRAMES, stepsOf } from './sequences.ts';

/**
 * Writes each text to `foley live` when the connection before it has ended. Returns the exit code and the number of
 * connections, after a check of the audio.
 */
export async function meetIdleSequence(
  version: Version,
  after: string,
  end: Step,
  texts: readonly string[],
): Promise<readonly [exit: number | null, connections: number]> {
  const fault = { on: 'sent', event: after, number: 1, when: 'after', steps: [end] } as const;
  const ending = { steps: [serve({ faults: [fault] })] };
  // The first connection ends before a text, all others after one.
  const connections = after === 'ready' ? [ending] : texts.map(() => ending);
  const server = await startScriptedServer({ connections });
  const args = ['live', ...WHO, '--protocol', version, '--request-id', REQUEST_ID, '-o', 'a.mp3'];
  const running = await startFoley(args, { keepInputOpen: true, input: '', env: scripted(server) });
  for (const [index, text] of texts.entries()) {
    if (index > 0) await (await server.connected(index)).gone;
    running.write(`${text}\n`);
  }
  if (after !== 'ready') await (await server.connected(texts.length)).gone;
  running.endInput();
  const result = await running.done;
  if (result.code === 0) {
    const spoken = texts.filter((text) => text !== '');
    expect((await made(result, 'a.mp3')).equals(spokenAudio(spoken))).toBe(true);
    expect(server.book.charges).toHaveLength(spoken.length);
  }
  return [result.code, server.handshakes.length];
}

const SHORT = ['--response-timeout', '20s', '--max-retries', '0'];

/** Runs `foley live` against a sequence, and returns its exit code, its audio frames and whether it was billed. */
export async function meetSequence(
  version: Version,
  mode: 'simple' | 'reliable',
  words: string,
): Promise<{
  readonly outcome: readonly [number | null, number, string];
  readonly stderr: string;
}> {
  // A sequence without a `finish` ends when the client leaves.
  const steps = [
    ...stepsOf(words),
    ...(/finish|close|drop|silence/.test(words) ? [] : stepsOf('silence')),
  ];
  const server = await startScriptedServer({ connections: [{ steps }] });
  const text = mode === 'simple' ? ['One.'] : [];
  const quiet = /ping|silence/.test(words) ? ['--idle-timeout', '2s'] : [];
  const result = await live(
    server,
    ['--protocol', version, '--mode', mode, '--json', '-o', 'a.mp3', ...SHORT, ...quiet, ...text],
    mode === 'simple' ? {} : { input: 'One. Two.' },
  );
  server.takeProblems();
  // However much the service sends.
  expect(result.stderr.length + result.stdout.length).toBeLessThan(60_000);
  const { code, stderr, stdout } = result;
  if (code !== 0) return { outcome: [code, 0, errorLine(result).billed], stderr };
  expect(parseJsonLines(stdout.toString()).at(-1)).toMatchObject({ event: 'summary', units: 7 });
  const audio = await made(result, 'a.mp3');
  const count = audio.byteLength / (FRAMES[0]?.byteLength ?? 1);
  expect(audio.equals(Buffer.concat(FRAMES.slice(0, count)))).toBe(true);
  return { outcome: [code, count, 'yes'], stderr };
}
