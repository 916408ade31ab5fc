import { execFileSync } from 'node:child_process';
import { open, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { constants } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import * as faults from '../../fault-server/catalogue.ts';
import { ALIGNED_PATH, audioEvent, eventsAround } from '../../fault-server/faults/aligned.ts';
import { PROFILE_PATH } from '../../fault-server/healthy-service.ts';
import { inShell } from '../../harness/in-shell.ts';
import { requireTool } from '../../harness/require-tool.ts';
import { startFoley } from '../../harness/run-foley.ts';
import type { Running } from '../../harness/run-options.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import { startProgramInTerminal } from '../../harness/terminal.ts';
import { serve } from '../../realtime/script.ts';
import { startScriptedServer } from '../../realtime/scripted-server.ts';
import { REQUEST_ID, scripted, WHO } from '../../binary/live/spoken.ts';
import { JOB_PATH, jobFixture, onPoll } from '../../binary/jobs/job-fixture.ts';
import type { Fixture } from '../../binary/support/fixture.ts';
import {
  expectOneKey,
  filesLeft,
  KEPT,
  onSpeech,
  OPEN,
  outputOf,
  paidAudio,
  RATES,
  createFixture,
  SOON,
  SPEAK,
  speakWith,
  spooled,
  VOICE,
} from '../../binary/support/fixture.ts';

const { mp3 } = await paidAudio();
const half = mp3.bytes.subarray(0, Math.floor(mp3.bytes.length / 2));

describe('Ctrl-C before anything is sent', () => {
  test('while the text is read from a silent pipe', async () => {
    const fixture = await createFixture([]);
    const fifo = makeFifo(fixture.sandbox, 'text');
    const running = await fixture.start(['tts', '-f', 'text', '-v', VOICE, '-o', 'hi.mp3']);
    const writer = await open(fifo, 'w');
    await writer.write('not all of it');
    running.signal('SIGINT');
    expect(await running.done).toMatchObject({ code: null, signal: 'SIGINT', stderr: '' });
    await writer.close();
    expect(fixture.server.connections).toBe(0);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([]);
  });

  test('while the key is read from stdin: the temporary output is removed', async () => {
    const fixture = await createFixture([]);
    const flags = speakWith(['--api-key-file', '-']);
    const running = await fixture.start(flags, { keepInputOpen: true, input: 'half-a-key' });
    await growing(fixture.sandbox, 0);
    running.signal('SIGINT');
    expect(await running.done).toMatchObject({ code: null, signal: 'SIGINT', stderr: '' });
    expect(fixture.server.connections).toBe(0);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([]);
  });

  test('while the output is a FIFO without a reader', async () => {
    const fixture = await createFixture([]);
    makeFifo(fixture.sandbox, 'nobody');
    const running = await fixture.start(speakWith(['-o', 'nobody']));
    await listening(running);
    running.signal('SIGINT');
    expect(await running.done).toMatchObject({ code: null, signal: 'SIGINT', stderr: '' });
    expect(fixture.server.connections).toBe(0);
  });

  test('while a list of texts is a FIFO without a writer', async () => {
    const fixture = await createFixture([]);
    makeFifo(fixture.sandbox, 'list');
    const running = await fixture.start(['batch', '--lines', 'list', '-v', VOICE]);
    await listening(running);
    running.signal('SIGTERM');
    expect(await running.done).toMatchObject({ code: null, signal: 'SIGTERM', stderr: '' });
    expect(fixture.server.connections).toBe(0);
  });
});

describe('Ctrl-C between request and response', () => {
  test('exits at once and prints how to continue without paying twice', async () => {
    const fixture = await createFixture([onSpeech(faults.silence(), { times: 1 })]);
    const running = await fixture.start(SPEAK);
    await fixture.server.paused();
    running.signal('SIGINT');
    const result = await running.done;
    expect(result.signal).toBe('SIGINT');
    const key = expectOneKey(fixture, 1);
    expect(result.stderr).toBe(
      'foley: stopped before the response; to resume without a second charge, run it again with ' +
        `--idempotency-key ${key}\n`,
    );
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([OPEN]);
    const recovered = await fixture.run(['recover']);
    expect(recovered.code, recovered.stderr).toBe(0);
    expectOneKey(fixture, 2);
  });

  test('during a backoff: the same', async () => {
    const fixture = await createFixture([onSpeech(faults.rateLimited('60'))]);
    const running = await fixture.start(['tts', 'hi', '-v', VOICE, '-o', 'hi.mp3', '--verbose']);
    await running.waitFor('stderr', /retrying in/);
    running.signal('SIGINT');
    expect((await running.done).signal).toBe('SIGINT');
    expectOneKey(fixture, 1);
  });

  test('twice: no later than once', async () => {
    const fixture = await createFixture([onSpeech(faults.silence())]);
    const running = await fixture.start(SPEAK);
    await fixture.server.paused();
    running.signal('SIGINT');
    running.signal('SIGINT');
    const { code, signal } = await running.done;
    expect([130, 'SIGINT']).toContain(code ?? signal);
  });
});

describe('Ctrl-C during the audio', () => {
  test('exits with 130: no temporary files, the older file intact, received audio spooled', async () => {
    const fixture = await createFixture([onSpeech(faults.stallMidBody(mp3))]);
    await writeFile(path.join(fixture.sandbox.out, 'hi.mp3'), 'the older file');
    const running = await fixture.start(SPEAK);
    await growing(fixture.sandbox, half.length);
    running.signal('SIGINT');
    const result = await running.done;
    expect(result).toMatchObject({ code: null, signal: 'SIGINT' });
    expect(result.stderr).toMatch(/^foley: stopped; the received audio is saved in \/.+\.mp3\n$/);
    expect((await outputOf(fixture.sandbox)).toString()).toBe('the older file');
    expect(await filesLeft(fixture.sandbox)).toStrictEqual(['out/hi.mp3', ...KEPT]);
    expect((await spooled(fixture.sandbox)).audio).toStrictEqual(half);
  });

  test('on stdout: written audio stays', async () => {
    const fixture = await createFixture([onSpeech(faults.stallMidBody(mp3))]);
    const running = await fixture.start(speakWith(['-o', '-']));
    await expect.poll(() => running.stdout.length, SOON).toBe(half.length);
    running.signal('SIGINT');
    const result = await running.done;
    expect(result.signal).toBe('SIGINT');
    expect(result.stdout).toStrictEqual(half);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual(KEPT);
  });

  test('into a pipe without a reader', async () => {
    const fixture = await createFixture([onSpeech(faults.endlessBody(mp3))]);
    const running = await fixture.start(speakWith(['-o', '-']), { holdStdout: true });
    const request = await fixture.server.received();
    await expect.poll(() => request.answer.bytesWritten, SOON).toBeGreaterThan(100_000);
    running.signal('SIGINT');
    await ended(running);
    running.resumeStdout();
    expect((await running.done).signal).toBe('SIGINT');
  });

  test('into a FIFO whose reader is gone', async () => {
    const fixture = await createFixture([onSpeech(faults.endlessBody(mp3))]);
    const fifo = makeFifo(fixture.sandbox, 'stuck');
    const running = await fixture.start(speakWith(['-o', 'stuck']));
    const reader = await open(fifo, 'r');
    const request = await fixture.server.received();
    await expect.poll(() => request.answer.bytesWritten, SOON).toBeGreaterThan(100_000);
    running.signal('SIGINT');
    await ended(running);
    expect((await running.done).signal).toBe('SIGINT');
    await reader.close();
  });

  test('a shell loop stops with 130', async () => {
    const bash = requireTool('bash');
    const fixture = await createFixture([onSpeech(faults.stallMidBody(mp3))]);
    const { sandbox, env } = fixture;
    await inShell('true', { sandbox });
    const loop = `for name in 1 2 3; do
      '${sandbox.harness}/foley' ${speakWith(['-o', '$name.mp3']).join(' ')}; echo "went on: $?"
    done`;
    const terminal = await startProgramInTerminal(bash, ['-c', loop], { sandbox, env });
    await growing(sandbox, half.length);
    terminal.write('\x03');
    const result = await terminal.done;
    expect(result.code).toBe(130);
    expect(result.stdout.toString()).not.toContain('went on');
    expectOneKey(fixture, 1);
    expect(await filesLeft(sandbox)).toStrictEqual(KEPT);
  });
});

describe('other signals', () => {
  test('SIGTERM during the audio: 143, no temporary files', async () => {
    const fixture = await createFixture([onSpeech(faults.stallMidBody(mp3))]);
    const running = await fixture.start(SPEAK);
    await growing(fixture.sandbox, half.length);
    running.signal('SIGTERM');
    expect(await running.done).toMatchObject({ code: null, signal: 'SIGTERM' });
    expect(await filesLeft(fixture.sandbox)).toStrictEqual(KEPT);
  });

  test('the shell sees 143', async () => {
    const fixture = await createFixture([onSpeech(faults.silence())]);
    const { sandbox, env } = fixture;
    const script = `foley ${SPEAK.join(' ')} & echo $! > pid; wait $!`;
    const running = inShell(script, { sandbox, env });
    await fixture.server.paused();
    process.kill(Number(await outputOf(sandbox, 'pid')), 'SIGTERM');
    expect((await running).code).toBe(143);
  });

  test('SIGHUP stops like SIGTERM', async () => {
    const fixture = await createFixture([onSpeech(faults.stallMidBody(mp3))]);
    await writeFile(path.join(fixture.sandbox.out, 'hi.mp3'), 'the older file');
    const running = await fixture.start(SPEAK);
    await growing(fixture.sandbox, half.length);
    running.signal('SIGHUP');
    expect((await running.done).signal).toBe('SIGHUP');
    expect(await filesLeft(fixture.sandbox)).toStrictEqual(['out/hi.mp3', ...KEPT]);
  });

  test.each(['SIGTERM', 'SIGHUP'] as const)(
    '%s stops recover, and the job continues',
    async (signal) => {
      const fixture = await jobFixture([onPoll(faults.silence())]);
      const running = await fixture.start(['jobs', 'create', 'hi', '-v', VOICE, '-o', 'hi.mp3']);
      await fixture.server.paused();
      running.signal('SIGKILL');
      await running.done;
      const recovering = await fixture.start(['recover']);
      await fixture.server.received({ path: JOB_PATH }, 2);
      recovering.signal(signal);
      expect((await recovering.done).signal).toBe(signal);
      expect((await fixture.run(['recover', '--list'])).stdout.toString()).toMatch(/job /);
    },
  );

  test.each(['SIGTERM', 'SIGHUP'] as const)(
    '%s stops live, which prints how to resume and leaves no incomplete file',
    async (signal) => {
      const steps = [{ kind: 'pause' } as const];
      const fault = { on: 'sent', event: 'audio', number: 2, when: 'before', steps } as const;
      const connection = { steps: [serve({ faults: [fault] })] };
      const server = await startScriptedServer({ connections: [connection] });
      const args = ['live', ...WHO, '--request-id', REQUEST_ID, '-o', 'a.pcm'];
      const running = await startFoley(args, { env: scripted(server), keepInputOpen: true });
      running.write('One is here. Two is ');
      await server.gate.paused();
      running.signal(signal);
      const result = await running.done;
      expect(result.signal).toBe(signal);
      expect(result.stderr).toMatch(
        /stopped; the received audio .*--request-id request-1 --retry-failed/,
      );
      expect(await readdir(result.sandbox.out)).toStrictEqual([]);
      const { gone } = await server.connected();
      await gone;
    },
  );

  test.each(['SIGTERM', 'SIGHUP'] as const)(
    '%s stops doctor, which prints nothing',
    async (signal) => {
      const fixture = await createFixture([{ path: PROFILE_PATH, answer: faults.silence() }]);
      const running = await fixture.start(['doctor']);
      await fixture.server.paused();
      await listening(running, signal);
      running.signal(signal);
      expect(await running.done).toMatchObject({ code: null, signal, stdout: Buffer.alloc(0) });
    },
  );
});

describe('kill -9 during the audio', () => {
  test('recover reports the spooled audio, and removes the temporary files', async () => {
    const fixture = await createFixture([onSpeech(faults.stallMidBody(mp3))]);
    await writeFile(path.join(fixture.sandbox.out, 'hi.mp3'), 'the older file');
    const running = await fixture.start(SPEAK);
    await growing(fixture.sandbox, half.length);
    running.signal('SIGKILL');
    expect((await running.done).signal).toBe('SIGKILL');
    expect(await filesLeft(fixture.sandbox)).toStrictEqual(['out/TEMPORARY', 'out/hi.mp3', OPEN]);
    await expectSettled(fixture);
  });

  test('recover skips running commands', async () => {
    const fixture = await createFixture([onSpeech(faults.stallMidBody(mp3))]);
    const running = await fixture.start(SPEAK);
    await growing(fixture.sandbox, half.length);
    const recovered = await fixture.run(['recover']);
    expect(recovered.code).toBe(0);
    expect(recovered.stdout.toString()).toContain('is still running');
    await fixture.server.advance();
    expect((await running.done).code).toBe(0);
    expect(await outputOf(fixture.sandbox)).toStrictEqual(mp3.bytes);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual(['out/hi.mp3', RATES]);
  });

  test('before the response: recover retries with its key', async () => {
    const fixture = await createFixture([onSpeech(faults.silence(), { times: 1 })]);
    const running = await fixture.start(SPEAK);
    await fixture.server.paused();
    running.signal('SIGKILL');
    await running.done;
    const recovered = await fixture.run(['recover', '--json']);
    expect(recovered.code, recovered.stderr).toBe(0);
    expect(JSON.parse(recovered.stdout.toString())).toMatchObject({
      items: [{ outcome: 'recovered', idempotencyKey: expectOneKey(fixture, 2) }],
    });
    expect(await filesLeft(fixture.sandbox)).toStrictEqual(['out/hi.mp3']);
  });
});

function makeFifo({ out }: Sandbox, name: string): string {
  const fifo = path.join(out, name);
  execFileSync('mkfifo', [fifo]);
  return fifo;
}

/** Waits until the process handles the signal. */
async function listening({ pid }: Running, signal: NodeJS.Signals = 'SIGINT'): Promise<void> {
  const bit = 1 << (constants.signals[signal] - 1);
  const caught = async () => {
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    const mask = /^SigCgt:\s*[0-9a-f]*([0-9a-f]{4})$/m.exec(status)?.[1] ?? '0';
    return Number.parseInt(mask, 16) & bit;
  };
  await expect.poll(caught, SOON).toBe(bit);
}

/** Waits until the process has exited, even with unread output. */
async function ended({ pid }: Running): Promise<void> {
  const state = async () => {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => 'State:\tX');
    return /^State:\s*(\w)/m.exec(status)?.[1];
  };
  await expect.poll(state, SOON).toMatch(/[XZ]/);
}

describe('temporary files of a killed command', () => {
  test('are removed by the next command in the folder, except billed audio', async () => {
    const answer = eventsAround([audioEvent(half)], []);
    const fixture = await createFixture([{ method: 'POST', path: ALIGNED_PATH, answer }]);
    const args = speakWith(['--subtitles', 'hi.srt', '--timings', 'hi.json']);
    const running = await fixture.start(args);
    await fixture.server.paused();
    await expect.poll(() => partsIn(fixture.sandbox), SOON).toHaveLength(3);
    await expect.poll(() => sizesIn(fixture.sandbox), SOON).toContain(half.length);
    running.signal('SIGKILL');
    await running.done;
    expect((await fixture.speak(['-o', 'other.mp3'])).code).toBe(0);
    const left = await partsIn(fixture.sandbox);
    expect(left).toHaveLength(1);
    expect(await readFile(path.join(fixture.sandbox.out, left[0] ?? ''))).toStrictEqual(half);
    expect((await fixture.run(['recover'])).code).toBe(27);
    expect(await partsIn(fixture.sandbox)).toStrictEqual([]);
    expect((await spooled(fixture.sandbox)).audio).toStrictEqual(half);
  });

  test('are removed by recover in any folder', async () => {
    const answer = eventsAround([audioEvent(half)], []);
    const fixture = await createFixture([{ method: 'POST', path: ALIGNED_PATH, answer }]);
    const running = await fixture.start(speakWith(['--subtitles', 'hi.srt']));
    await fixture.server.paused();
    await expect.poll(() => sizesIn(fixture.sandbox), SOON).toContain(half.length);
    running.signal('SIGKILL');
    await running.done;
    expect((await fixture.run(['recover'], { cwd: fixture.sandbox.home })).code).toBe(27);
    expect(await partsIn(fixture.sandbox)).toStrictEqual([]);
  });

  test('stay while the command runs', async () => {
    const fixture = await createFixture([onSpeech(faults.slowBody(mp3))]);
    const running = await fixture.start(SPEAK);
    await fixture.server.paused();
    await expect.poll(() => partsIn(fixture.sandbox), SOON).toHaveLength(1);
    expect((await fixture.run(['recover'])).code).toBe(0);
    expect(await partsIn(fixture.sandbox)).toHaveLength(1);
    await fixture.server.advance();
    expect((await running.done).code).toBe(0);
    expect(await outputOf(fixture.sandbox)).toStrictEqual(mp3.bytes);
  });
});

async function sizesIn(sandbox: Pick<Sandbox, 'out'>): Promise<number[]> {
  const names = await partsIn(sandbox);
  return Promise.all(names.map(async (name) => (await stat(path.join(sandbox.out, name))).size));
}

async function partsIn({ out }: Pick<Sandbox, 'out'>): Promise<string[]> {
  return (await readdir(out)).filter((name) => name.endsWith('.part'));
}

/** Waits until the temporary file beside the output has the given size. */
async function growing({ out }: Sandbox, bytes: number): Promise<void> {
  await expect.poll(() => sizesIn({ out }), SOON).toStrictEqual([bytes]);
}

/** After a kill: expects the older file, and that recover leaves only the audio. */
async function expectSettled(fixture: Fixture): Promise<void> {
  const listed = await fixture.run(['recover', '--list']);
  expect(listed.code).toBe(0);
  const recovered = await fixture.run(['recover']);
  expect(recovered.code).toBe(27);
  expect(recovered.stdout.toString()).toMatch(/lost \(.+\); the part that arrived is in \//);
  expect((await outputOf(fixture.sandbox)).toString()).toBe('the older file');
  const left = await filesLeft(fixture.sandbox);
  expect(left.filter((name) => name.startsWith('out/'))).toStrictEqual(['out/hi.mp3']);
  expect((await spooled(fixture.sandbox)).audio).toStrictEqual(half);
  expect(fixture.server.requests).toHaveLength(1);
}
