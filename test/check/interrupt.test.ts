import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { largeBody, slowHeaders, stallMidBody } from '../fault-server/catalogue.ts';
import { SPEECH_PATH } from '../fault-server/healthy-service.ts';
import { tinyAudio } from '../fault-server/tiny-audio.ts';
import { requirePosix } from '../harness/posix.ts';
import { requireTool } from '../harness/require-tool.ts';
import { FOLEY, runFoley, startFoley } from '../harness/run-foley.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { difference, snapshot } from '../harness/snapshot.ts';
import { startProgramInTerminal } from '../harness/terminal.ts';
import { TESTED_NODE } from '../harness/tested-node.ts';
import { startHostedService } from '../binary/support/hosted-service.ts';
import { longText } from '../binary/support/sound.ts';

const { mp3 } = await tinyAudio();
const UNCHANGED = { added: [], removed: [], changed: [] };

/** A model that takes the long text at once, in one answer. */
const AT_ONCE = ['-m', 'vendor-s21pro-flash', '--via', 'sync'] as const;

/** `--verbose` says this when the audio has begun to arrive, long before it is whole. */
const HAS_BEGUN = /POST \S+\/speech\/tts 200/;

async function sandboxWithLongText(): Promise<Sandbox> {
  const sandbox = await createSandbox();
  await writeFile(path.join(sandbox.out, 'long.txt'), longText(9_000));
  await writeFile(path.join(sandbox.out, 'out.mp3'), 'the older file');
  return sandbox;
}

describe('a signal in the middle of a long text', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)(
    '%s keeps the previous file, leaves no temporary file and ends with the signal',
    async (signal) => {
      const sandbox = await sandboxWithLongText();
      const before = await snapshot(sandbox.out);
      const args = ['tts', '-f', 'long.txt', '-o', 'out.mp3', '--local', '--verbose', ...AT_ONCE];
      const result = await runFoley(args, { sandbox, signalAt: { signal, when: HAS_BEGUN } });
      expect(result).toMatchObject({ code: null, signal });
      expect(difference(before, await snapshot(sandbox.out))).toEqual(UNCHANGED);
      expect(result.stderr).not.toMatch(/internal|Error|\.ts:|\.cjs:/);
    },
  );

  test('leaves a state in which the next command works', async () => {
    const sandbox = await sandboxWithLongText();
    const args = ['tts', '-f', 'long.txt', '-o', 'out.mp3', '--local', '--verbose', ...AT_ONCE];
    const when = { signal: 'SIGINT', when: HAS_BEGUN } as const;
    await runFoley(args, { sandbox, signalAt: when });
    const next = await runFoley(['tts', 'Hi', '-o', 'out.mp3', '--local'], { sandbox });
    expect(next.code, next.stderr).toBe(0);
  });

  test.each([
    ['while nothing has come', slowHeaders(mp3)],
    ['while half has come', stallMidBody(mp3)],
  ])('of a hosted service, %s', async (_, answer) => {
    const { server, env } = await startHostedService([
      { method: 'POST', path: SPEECH_PATH, answer },
    ]);
    const sandbox = await sandboxWithLongText();
    const before = await snapshot(sandbox.out);
    const signalAt = { signal: 'SIGINT', when: server.paused() } as const;
    const result = await runFoley(['tts', 'Hi', '-o', 'out.mp3'], { sandbox, env, signalAt });
    expect(result).toMatchObject({ code: null, signal: 'SIGINT' });
    expect(difference(before, await snapshot(sandbox.out))).toEqual(UNCHANGED);
    expect(await server.abandoned()).toMatchObject({ path: SPEECH_PATH });
  });

  test('while a slow reader has not read', async () => {
    const { server, env } = await startHostedService([
      { method: 'POST', path: SPEECH_PATH, answer: largeBody(mp3, 16 * 1_048_576) },
    ]);
    const running = await startFoley(['tts', 'Hi'], { env, holdStdout: true });
    await server.received({ path: SPEECH_PATH });
    running.signal('SIGTERM');
    expect(await running.done).toMatchObject({ code: null, signal: 'SIGTERM' });
  });
});

test('a signal while the text is awaited ends the wait', async () => {
  const running = await startFoley(['tts', '-f', '-', '--verbose'], { keepInputOpen: true });
  running.write('Not all of it');
  // No output shows that it reads; it does by the time another process has printed its help.
  await runFoley(['--help']);
  running.signal('SIGINT');
  expect(await running.done).toMatchObject({ code: null, signal: 'SIGINT' });
});

/** A shell loop that speaks the long text three times. */
function loop(flags: string): string {
  const foley = `'${TESTED_NODE}' '${FOLEY}' tts -f long.txt -o out.mp3 ${AT_ONCE.join(' ')} ${flags}`;
  return `for i in 1 2 3; do echo "run $i"; ${foley}; done; echo "after all"`;
}

describe('Ctrl-C on a terminal stops the loop that the command is in', () => {
  test('in the middle of its audio', async () => {
    const bash = requireTool('bash');
    const sandbox = await sandboxWithLongText();
    const before = await snapshot(sandbox.out);
    const script = loop('--local --verbose --no-progress');
    const running = await startProgramInTerminal(bash, ['-c', script], { sandbox });
    await running.waitFor('stdout', HAS_BEGUN);
    running.write('\u0003');
    const { code, stdout } = await running.done;
    expect(code).toBe(130);
    expect(stdout.toString()).toContain('run 1');
    expect(stdout.toString()).not.toMatch(/run 2|after all/);
    expect(difference(before, await snapshot(sandbox.out))).toEqual(UNCHANGED);
  });

  test('while it shows that it is at work', async () => {
    const bash = requireTool('bash');
    const { env } = await startHostedService([
      { method: 'POST', path: SPEECH_PATH, answer: slowHeaders(mp3) },
    ]);
    const sandbox = await sandboxWithLongText();
    const running = await startProgramInTerminal(bash, ['-c', loop('')], { sandbox, env });
    await running.waitFor('stdout', /speaking/);
    running.write('\u0003');
    const { code, stdout } = await running.done;
    expect(code).toBe(130);
    expect(stdout.toString()).not.toMatch(/run 2|after all/);
  });
});

// The player stops foley, so that its own end and the signal reach foley at the same time.
describe('Ctrl-C counts when foley learns of it and of the end of the player at once', () => {
  const TTS = ['tts', 'Hi', '--local'];
  test.each([
    ['fails, as mpv does', 'exit 4', TTS],
    ['reports success, as mpg123 does', 'exit 0', TTS],
    ['fails', 'exit 4', [...TTS, '-o', 'out.mp3']],
    ['fails', 'exit 4', ['live', 'Hi', '--local']],
    ['reports success', 'exit 0', ['live', 'Hi', '--local', '-o', 'out.mp3']],
    ['reports success', 'exit 0', ['voices', 'preview', 'Martin', '--local']],
  ])('and the player %s (%s): foley %j', async (_how, end, args) => {
    requirePosix('programs that begin with #!');
    const sandbox = await createSandbox();
    const script = `#!/bin/sh
      cat > heard
      kill -STOP $PPID; kill -INT $PPID
      (while sleep 0.2; kill -CONT $PPID; do :; done) > /dev/null 2>&1 &
      ${end}`;
    await writeFile(path.join(sandbox.out, 'play.sh'), script, { mode: 0o755 });
    const result = await runFoley([...args, '--player', './play.sh'], { sandbox });
    expect(result, result.stderr).toMatchObject({ code: null, signal: 'SIGINT' });
  });
});
