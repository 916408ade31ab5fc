import { readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { inShell } from '../harness/in-shell.ts';
import { parseJsonDocument } from '../harness/json-lines.ts';
import { runFoley } from '../harness/run-foley.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { startInTerminal } from '../harness/terminal.ts';
import * as faults from '../fault-server/catalogue.ts';
import { onSpeech, paidAudio, createFixture, SPEAK } from '../binary/support/fixture.ts';
import { expectSound, expectSoundIn } from '../binary/support/sound.ts';

/** Without moving progress, which comes only when something takes long. */
const PLAIN = ['--local', '--no-progress'];

async function filesIn(sandbox: Sandbox): Promise<string[]> {
  return (await readdir(sandbox.out)).sort();
}

describe('without --output', () => {
  test('audio goes to stdout when that is no terminal, and nothing else does', async () => {
    const result = await runFoley(['tts', 'Hello there.', '--local']);
    expect(result.code, result.stderr).toBe(0);
    expect(await expectSound(result.stdout)).toMatchObject({ format: 'mp3' });
    expect(await filesIn(result.sandbox)).toEqual([]);
  });

  test('audio goes to a file that is named after the text on a terminal', async () => {
    const running = await startInTerminal(['tts', '  Hello, Wörld! It is 7 o’clock', ...PLAIN]);
    const { sandbox, code, stdout } = await running.done;
    expect(code).toBe(0);
    expect(stdout.toString()).toMatch(/^hello-world-it-is-7-o-clock\.mp3: mp3, /);
    await expectSoundIn(sandbox, 'hello-world-it-is-7-o-clock.mp3');
    expect(await filesIn(sandbox)).toHaveLength(1);
  });

  test('a terminal that says it has no columns shows progress as any other', async () => {
    const fixture = await createFixture([onSpeech(faults.slowBody((await paidAudio()).mp3))]);
    const { sandbox, env } = fixture;
    const running = await startInTerminal(SPEAK, { sandbox, env, columns: 0, timeoutMs: 20_000 });
    await running.waitFor('stdout', /speaking/);
    await fixture.server.advance();
    expect(await running.done).toMatchObject({ code: 0 });
    expect(running.stdout.length).toBeLessThan(20_000);
    await expectSoundIn(sandbox, 'hi.mp3');
  });

  test('the automatic name is of the format that is asked for', async () => {
    const running = await startInTerminal(['tts', '你好, 42', '--format', 'wav', ...PLAIN]);
    const { sandbox } = await running.done;
    expect(await filesIn(sandbox)).toEqual(['42.wav']);
  });

  test('audio goes to a file with --json, whatever stdout is', async () => {
    const result = await runFoley(['tts', 'Hello there.', '--json', '--local']);
    expect(parseJsonDocument(result.stdout)).toMatchObject({ output: 'hello-there.mp3' });
    await expectSoundIn(result.sandbox, 'hello-there.mp3');
  });

  test('a long text gives a short name', async () => {
    const text = 'A very long text, of which only the beginning becomes a name.';
    const { sandbox } = await runFoley(['tts', text, '--json', '--local']);
    expect(await filesIn(sandbox)).toEqual(['a-very-long-text-of-which-only-the-begi.mp3']);
  });

  test('a text of signs only in its beginning is called speech', async () => {
    const { sandbox } = await runFoley(['tts', `${'-'.repeat(60)} hello`, '--json', '--local']);
    expect(await filesIn(sandbox)).toEqual(['speech.mp3']);
  });

  test('automatic names never replace anything', async () => {
    const sandbox = await createSandbox();
    await writeFile(path.join(sandbox.out, 'hi.mp3'), 'precious');
    for (const output of ['hi-2.mp3', 'hi-3.mp3']) {
      const result = await runFoley(['tts', 'Hi', '--json', '--local'], { sandbox });
      expect(parseJsonDocument(result.stdout)).toMatchObject({ output });
    }
    expect(await filesIn(sandbox)).toEqual(['hi-2.mp3', 'hi-3.mp3', 'hi.mp3']);
  });
});

describe('--output -', () => {
  test('writes audio even to a terminal', async () => {
    const running = await startInTerminal(['tts', 'Hello there.', '-o', '-', '--local', '-q']);
    const { sandbox, code, stdout } = await running.done;
    expect(code).toBe(0);
    expect(stdout.length).toBeGreaterThan(5_000);
    expect(await filesIn(sandbox)).toEqual([]);
  });

  test('keeps notices off the audio when both are captured', async () => {
    const result = await inShell('foley tts "Hello there." -o - 2>notices >hello.mp3');
    expect(result.code).toBe(0);
    await expectSoundIn(result.sandbox, 'hello.mp3');
  });
});

test('a file in another folder gets its name there', async () => {
  const sandbox = await createSandbox();
  const target = path.join(sandbox.home, 'Hello there.mp3');
  const result = await runFoley(['tts', 'Hello there.', '-o', target, '--local'], { sandbox });
  expect(result.stderr).toContain(target);
  expect(await readdir(sandbox.home)).toEqual(['Hello there.mp3']);
  expect(await filesIn(sandbox)).toEqual([]);
});
