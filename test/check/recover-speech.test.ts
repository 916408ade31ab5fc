import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import * as faults from '../fault-server/catalogue.ts';
import { PROFILE_PATH, SPEECH_PATH } from '../fault-server/healthy-service.ts';
import { answer } from '../fault-server/http-text.ts';
import type { Answer, Rule } from '../fault-server/script.ts';
import { runFoley, startFoley } from '../harness/run-foley.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import { createSandbox } from '../harness/sandbox.ts';
import type { Fixture } from '../binary/support/fixture.ts';
import {
  expectOneKey,
  filesLeft,
  KEPT,
  onSpeech,
  OPEN,
  outputOf,
  paidAudio,
  createFixture,
  SOON,
  SPEAK,
  speakWith,
  speechRequests,
} from '../binary/support/fixture.ts';
import type { ServingFoley } from '../binary/support/serve.ts';
import { firstVoiceId, startServe } from '../binary/support/serve.ts';
import { expectSoundIn } from '../binary/support/sound.ts';

const { mp3 } = await paidAudio();
const TEXT = 'a private text';

/** A command that was killed while it waited for its answer; `then` is what the next requests get. */
async function killed(
  then: Answer = faults.audio(mp3),
  more: readonly string[] = [],
): Promise<Fixture> {
  const fixture = await createFixture([
    onSpeech(faults.silence(), { times: 1 }),
    onSpeech(then, { optional: true }),
  ]);
  const running = await fixture.start(speakWith(more));
  await fixture.server.paused();
  running.signal('SIGKILL');
  await running.done;
  return fixture;
}

async function recover(fixture: Fixture, args: readonly string[] = []) {
  const result = await fixture.run(['recover', ...args, '--json', '--max-retries', '0']);
  const { items } = Object(JSON.parse(result.stdout.toString()));
  return { code: result.code, items, stderr: result.stderr };
}

async function journalOf({ sandbox }: Pick<Fixture, 'sandbox'>): Promise<string> {
  const folder = path.join(sandbox.state, 'foley', 'journal');
  const names = await readdir(folder).catch(() => []);
  const files = names.map((name) => path.join(folder, name));
  for (const file of files) expect((await stat(file)).mode & 0o777).toBe(0o600);
  return (await Promise.all(files.map((file) => readFile(file, 'utf8')))).join('');
}

async function creditsOf({ ask }: ServingFoley): Promise<number> {
  const { bytes } = await ask(PROFILE_PATH);
  return Number(Object(JSON.parse(bytes.toString())).credits);
}

describe('speech whose command was killed before the answer', () => {
  test('is there after recover, asked for under one key with one body', async () => {
    const fixture = await killed();
    const { code, items, stderr } = await recover(fixture);
    expect(code, stderr).toBe(0);
    expect(items).toEqual([
      expect.objectContaining({
        outcome: 'recovered',
        creditsUsed: 2,
        requestId: expect.any(String),
      }),
    ]);
    expect(await outputOf(fixture.sandbox)).toEqual(mp3.bytes);
    expectOneKey(fixture, 2);
    expect(await filesLeft(fixture.sandbox)).toEqual(['out/hi.mp3']);
    expect((await fixture.run(['recover'])).stdout.toString()).toMatch(/Nothing was left behind/);
    expect(speechRequests(fixture)).toHaveLength(2);
  });

  test('is saved beside a file that has the name meanwhile', async () => {
    const fixture = await killed();
    await writeFile(path.join(fixture.sandbox.out, 'hi.mp3'), 'mine');
    expect((await recover(fixture)).code).toBe(0);
    expect((await outputOf(fixture.sandbox)).toString()).toBe('mine');
    expect(await outputOf(fixture.sandbox, 'hi-2.mp3')).toEqual(mp3.bytes);
  });

  test('keeps its text in the journal, for its owner only, until it is recovered', async () => {
    const fixture = await createFixture([
      onSpeech(faults.silence(), { times: 1 }),
      onSpeech(faults.audio(mp3), { times: 1 }),
    ]);
    const running = await fixture.start(['tts', TEXT, ...SPEAK.slice(2)]);
    await fixture.server.paused();
    expect(await journalOf(fixture)).toContain(TEXT);
    running.signal('SIGKILL');
    await running.done;
    expect((await recover(fixture)).code).toBe(0);
    expect(await journalOf(fixture)).not.toContain(TEXT);
  });

  test('that was completed is lost, once, and costs nothing more', async () => {
    const fixture = await killed(faults.requestAlreadyCompleted());
    const { code, items } = await recover(fixture);
    expect(code).toBe(27);
    expect(items).toEqual([expect.objectContaining({ outcome: 'lost', output: null })]);
    expectOneKey(fixture, 2);
    expect(await recover(fixture)).toMatchObject({ code: 0, items: [] });
    expect(await filesLeft(fixture.sandbox)).toEqual([]);
  });

  test.each([
    ['whose key another request has', faults.requestIdConflict()],
    ['that the service refuses as it is', faults.errorAnswer(400, { code: 'ERR_INVALID_REQUEST' })],
  ])('%s was not taken: 20, and not billed', async (_which, refusal) => {
    const fixture = await killed(refusal);
    const { code, items } = await recover(fixture);
    expect(code).toBe(20);
    expect(items).toEqual([expect.objectContaining({ outcome: 'rejected' })]);
    expect(await recover(fixture)).toMatchObject({ code: 0, items: [] });
  });

  test('that was refunded is spoken once more, under a new key', async () => {
    const fixture = await createFixture([
      onSpeech(faults.silence(), { times: 1 }),
      onSpeech(faults.requestPreviouslyRefunded(), { times: 1 }),
      onSpeech(faults.audio(mp3), { times: 1 }),
    ]);
    const running = await fixture.start(SPEAK);
    await fixture.server.paused();
    running.signal('SIGKILL');
    await running.done;
    const result = await fixture.run(['recover']);
    expect(result.code, result.stderr).toBe(0);
    expect(await outputOf(fixture.sandbox)).toEqual(mp3.bytes);
    const keys = speechRequests(fixture).map((request) => request.header('idempotency-key'));
    expect(keys[0]).toBe(keys[1]);
    expect(keys[2]).not.toBe(keys[0]);
    expect(await filesLeft(fixture.sandbox)).toEqual(['out/hi.mp3']);
  });

  test("that was refunded under the person's own key is 20, and not bought again", async () => {
    const fixture = await killed(faults.requestPreviouslyRefunded(), ['--idempotency-key', 'mine']);
    const { code, items } = await recover(fixture);
    expect(code).toBe(20);
    expect(items).toEqual([expect.objectContaining({ outcome: 'refunded' })]);
    expect(speechRequests(fixture)).toHaveLength(2);
  });

  test.each([
    ['is in progress', faults.requestInProgress(), 26],
    ['is refused for want of credits', faults.errorAnswer(402, { code: 'ERR_CREDITS' }), 21],
    ['meets a key that is not accepted', faults.errorAnswer(401), 4],
    ['meets a service that is not there', faults.resetBeforeHeaders(), 26],
  ] as const)('that %s stays, and is there the next time', async (_what, reply, exit) => {
    let turn = 0;
    const fixture = await killed(() => ((turn += 1) === 1 ? reply : faults.audio(mp3)));
    const first = await recover(fixture);
    expect(first.code, first.stderr).toBe(exit);
    expect(first.items).toEqual([expect.objectContaining({ outcome: 'failed' })]);
    expect(JSON.stringify(first.items)).toContain('foley recover');
    expect(await filesLeft(fixture.sandbox)).toEqual([OPEN]);
    expect((await recover(fixture)).code).toBe(0);
    expect(await outputOf(fixture.sandbox)).toEqual(mp3.bytes);
    expectOneKey(fixture, 3);
  });

  test('whose audio is cut while it is recovered is kept as far as it came', async () => {
    const fixture = await killed(faults.shortBody(mp3));
    expect((await recover(fixture)).code).toBe(25);
    expect(await filesLeft(fixture.sandbox)).toEqual(KEPT);
    expect((await recover(fixture)).code).toBe(27);
    expect(speechRequests(fixture)).toHaveLength(2);
  });

  test('is not asked for on another account, which would pay', async () => {
    const fixture = await killed();
    const result = await fixture.run(['recover'], {
      env: { FOLEY_API_KEY: 'another-account-key-1234' },
    });
    expect(result.code).toBe(2);
    expect(speechRequests(fixture)).toHaveLength(1);
  });
});

test('speech without an answer (26) is asked for again by recover', async () => {
  const fixture = await createFixture([
    onSpeech(faults.resetBeforeHeaders(), { times: 1 }),
    onSpeech(faults.audio(mp3), { times: 1 }),
  ]);
  expect((await fixture.speak()).code).toBe(26);
  expect((await recover(fixture)).code).toBe(0);
  expect(await outputOf(fixture.sandbox)).toEqual(mp3.bytes);
  expectOneKey(fixture, 2);
});

test('speech that was refused leaves no text behind', async () => {
  const fixture = await createFixture([onSpeech(faults.errorAnswer(402, { code: 'ERR_CREDITS' }))]);
  expect((await fixture.speak()).code).toBe(21);
  expect(await filesLeft(fixture.sandbox)).toEqual([]);
});

test('speech of a surface without keys stays unknown, and is not asked for again', async () => {
  const fixture = await createFixture([
    { method: 'POST', path: '/v1/tts', answer: faults.resetBeforeHeaders() },
  ]);
  expect((await fixture.speak(['--api', 'compat-tts'])).code).toBe(26);
  expect(await journalOf(fixture)).not.toContain('"body"');
  expect((await fixture.run(['recover'])).code).toBe(26);
  expect(fixture.server.requests).toHaveLength(1);
});

describe('stored audio of v1 (--cache)', () => {
  const CACHED = ['--api', 'v1', '--cache'];
  const V1_PATH = '/api/open/v1/speech/tts';
  const stored: Rule = {
    method: 'POST',
    path: V1_PATH,
    answer: answer(
      200,
      { 'Content-Type': 'application/json' },
      JSON.stringify({ audio_url: '/stored.mp3', credits_used: 2, quota_remaining: 98 }),
    ),
  };

  test('whose command was killed while it came is fetched whole: it is sent a second time', async () => {
    const fixture = await createFixture([
      stored,
      { path: '/stored.mp3', answer: faults.stallMidBody(mp3), times: 1 },
      { path: '/stored.mp3', answer: faults.audio(mp3), times: 1 },
    ]);
    const running = await fixture.start(speakWith(CACHED));
    await fixture.server.paused();
    await vi.waitFor(async () => expect(await journalOf(fixture)).toContain('"accepted"'), SOON);
    running.signal('SIGKILL');
    await running.done;
    const { code, items, stderr } = await recover(fixture);
    expect(code, stderr).toBe(0);
    expect(items).toEqual([expect.objectContaining({ outcome: 'recovered', creditsUsed: 2 })]);
    expect(await outputOf(fixture.sandbox)).toEqual(mp3.bytes);
    expect(await filesLeft(fixture.sandbox)).toEqual(['out/hi.mp3']);
    const ids = fixture.server.requests
      .filter((request) => request.path === V1_PATH)
      .map((request) => request.header('x-request-id'));
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(1);
  });
});

describe('on foley serve', () => {
  test('a command killed before the answer is recovered and billed once', async () => {
    const service = await startServe(['--fault', `POST ${SPEECH_PATH}; delay=2s; times=1`]);
    const { env } = service;
    const sandbox = await createSandbox();
    const voice = await firstVoiceId(service);
    const running = await startFoley(['tts', TEXT, '-v', voice, '-o', 'a.mp3'], { sandbox, env });
    await vi.waitFor(async () => expect(await journalOf({ sandbox })).toContain('"sent"'), SOON);
    running.signal('SIGKILL');
    await running.done;
    const result = await runFoley(['recover', '--json'], { sandbox, env });
    expect(result.code, result.stderr).toBe(0);
    const [item] = Object(JSON.parse(result.stdout.toString())).items;
    expect(item).toMatchObject({ outcome: 'recovered' });
    await expectSoundIn(sandbox, 'a.mp3');
    expect(await creditsOf(service)).toBe(1_000_000 - item.creditsUsed);
  });

  test('speech that was billed and never arrived is lost, and not billed again', async () => {
    const service = await startServe(['--fault', `POST ${SPEECH_PATH}; reset-after=0; times=1`]);
    const { env } = service;
    const sandbox = await createSandbox();
    const args = ['tts', TEXT, '-v', await firstVoiceId(service), '-o', 'a.mp3'];
    expect((await runFoley([...args, '--max-retries', '0'], { sandbox, env })).code).toBe(26);
    const credits = await creditsOf(service);
    const result = await runFoley(['recover'], { sandbox, env });
    expect(result.code, result.stderr).toBe(27);
    expect(result.stdout.toString()).toMatch(/lost .* speaking it again costs again/);
    expect(await creditsOf(service)).toBe(credits);
  });
});

async function killAtAudio(args: readonly string[]): Promise<Sandbox> {
  const sandbox = await createSandbox();
  const running = await startFoley(args, { sandbox });
  await vi.waitFor(async () => expect(await journalOf({ sandbox })).toContain('"accepted"'), SOON);
  running.signal('SIGKILL');
  await running.done;
  return sandbox;
}

async function spentIn(sandbox: Sandbox): Promise<number> {
  const { stdout } = await runFoley(['profile', '--json'], { sandbox });
  return 1_000_000 - Number(Object(JSON.parse(stdout.toString())).credits);
}

describe('on the embedded service, which refunds what a killed command was sent', () => {
  const LONG = 'It is a long sentence about the sea and the wind. '.repeat(40).trim();

  test.each([
    ['speech', ['tts', LONG, '--via', 'sync', '-o', 'a.wav']],
    ['captioned speech', ['tts', LONG, '-o', 'a.wav', '--timings', 'a.json']],
  ])('%s whose audio had begun is refunded, not lost', async (_what, args) => {
    const sandbox = await killAtAudio(args);
    const { code, stderr, stdout } = await runFoley(['recover', '--json'], { sandbox });
    expect(code, stderr).toBe(20);
    expect(Object(JSON.parse(stdout.toString())).items).toEqual([
      expect.objectContaining({ outcome: 'refunded', creditsUsed: 0 }),
    ]);
    expect(await spentIn(sandbox)).toBe(0);
    expect((await filesLeft(sandbox)).filter((name) => /spool|out\//.test(name))).toEqual([]);
    expect(await runFoley(['recover', '--json'], { sandbox })).toMatchObject({ code: 0 });
  });

  test(
    'a captioned long text is recovered, and its refunded parts are not reported as lost',
    { timeout: 300_000 },
    async () => {
      const text = 'It is a long sentence about the sea and the wind. '.repeat(210).trim();
      const sandbox = await killAtAudio([
        'tts',
        text,
        '-o',
        'a.wav',
        '--timings',
        'a.json',
        '--speed',
        '2',
      ]);
      const { code, stderr, stdout } = await runFoley(['recover', '--json'], {
        sandbox,
        timeoutMs: 180_000,
      });
      expect(code, stderr).toBe(0);
      const { items } = Object(JSON.parse(stdout.toString()));
      expect(items).toEqual([expect.objectContaining({ outcome: 'recovered' })]);
      expect(await spentIn(sandbox)).toBe(items[0].creditsUsed);
    },
  );
});

test('on the embedded service a killed command is recovered', async () => {
  const sandbox = await createSandbox();
  const running = await startFoley(['tts', TEXT, '-o', 'a.mp3'], { sandbox });
  await vi.waitFor(async () => expect(await journalOf({ sandbox })).toContain('"sent"'), SOON);
  running.signal('SIGKILL');
  await running.done;
  const result = await runFoley(['recover'], { sandbox });
  expect([0, 27], result.stderr).toContain(result.code);
  if (result.code === 0) await expectSoundIn(sandbox, 'a.mp3');
});
