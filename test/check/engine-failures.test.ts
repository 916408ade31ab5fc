import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { errorLine } from '../harness/error-line.ts';
import { runFoley } from '../harness/run-foley.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { startServe } from '../binary/support/serve.ts';

const ENGINE = fileURLToPath(
  new URL('../service/engine/process/engines/misbehaving.mjs', import.meta.url),
);

/** What the engine does when it speaks, and what it says of it. */
const FAILURES = [
  ['dies before the first sound', 'dies at once', /exit code 3 .*CUDA is out of memory/],
  [
    'dies in the middle of the sound',
    'dies after a sentence',
    /exit code 3 .*CUDA is out of memory/,
  ],
  ['reports an error', 'gives up', /the model has no weights for this/],
] as const;

async function sandboxWith(behaviour: string): Promise<Sandbox> {
  const sandbox = await createSandbox();
  const args = ['node', ENGINE, behaviour, path.join(sandbox.temporary, 'started')];
  const added = await runFoley(['engine', 'add', 'bad', '--', ...args], { sandbox });
  expect(added.code, added.stderr).toBe(0);
  return sandbox;
}

async function voiceIn(sandbox: Sandbox): Promise<string> {
  const { stdout } = await runFoley(['voices', 'list', '--json'], { sandbox });
  const { items } = Object(JSON.parse(stdout.toString()));
  return items.find(({ name }: { name: string }) => name === 'v').voiceId;
}

const SPEAK = ['tts', 'This fails. It always fails.', '--voice-name', 'v', '-o', 'out.wav'];

async function expectNamed(
  behaviour: string,
  args: readonly string[],
  line: Readonly<Record<string, unknown>>,
): Promise<void> {
  const failed = await runFoley([...SPEAK, ...args, '--json'], {
    sandbox: await sandboxWith(behaviour),
  });
  expect(errorLine(failed)).toMatchObject({ code: 'ERR_GENERATION_FAILED', ...line });
  expect(failed.stderr).not.toMatch(/proxy/i);
}

test.each(FAILURES)(
  'an engine that %s is named with its own message',
  async (_, behaviour, message) => {
    const line = { exitCode: 23, billed: 'no', message: expect.stringMatching(message) };
    await expectNamed(behaviour, [], line);
  },
);

test.each([
  ['job', 20],
  ['aligned', 23],
])('and so with --via %s', async (via, exitCode) => {
  const message = expect.stringMatching(/exit code 3 .*CUDA is out of memory/);
  await expectNamed('dies after a sentence', ['--via', via], { exitCode, message });
});

test.each(['v2', 'v1', 'compat-tts'])('and so with --api %s', async (api) => {
  const message = expect.stringMatching(/exit code 3 .*CUDA is out of memory/);
  const line = { exitCode: 23, billed: 'no', message };
  await expectNamed('dies after a sentence', ['--api', api], line);
});

test('and by foley api, whose response was under way', async () => {
  const sandbox = await sandboxWith('dies after a sentence');
  const call = ['api', 'POST', '/v1/tts', '-F', 'text=This fails. It always fails.'];
  const failed = await runFoley([...call, '-F', `reference_id=${await voiceIn(sandbox)}`], {
    sandbox,
  });
  expect(failed.code).toBe(23);
  expect(failed.stderr).toMatch(/exit code 3 .*CUDA is out of memory/);
});

test('and by live speech', async () => {
  const sandbox = await sandboxWith('dies after a sentence');
  const args = ['live', '--voice-name', 'v', '-o', 'out.wav'];
  const failed = await runFoley(args, { sandbox, input: 'This fails. It always fails.\n' });
  expect(failed.code).not.toBe(0);
  expect(failed.stderr).toMatch(/exit code 3 .*CUDA is out of memory/);
  expect(failed.stderr).not.toMatch(/proxy/i);
});

/** Failures after the first sound, and what is reported about them. */
const LATE = [
  [
    'dies after a sentence',
    'ended with exit code 3 while it spoke; it wrote to stderr: CUDA is out of memory.',
  ],
  ['gives up after a sentence', 'says: the model has no weights for this.'],
  [
    'writes a log after a sentence',
    'broke the protocol while it spoke: it wrote "Loading model..." to stdout, which is for messages only: write logs to stderr.',
  ],
  [
    'is silent after a sentence',
    'was silent for 60 s while it spoke; it wrote to stderr: waiting for the GPU.',
  ],
] as const;

const WAYS = [
  ['tts', [...SPEAK], 23],
  ['tts with word times', [...SPEAK, '--via', 'aligned'], 23],
  ['a job', [...SPEAK, '--via', 'job'], 20],
  ['live', ['live', ...SPEAK.slice(1)], 23],
] as const;

describe.each(LATE)('an engine that %s', (behaviour, words) => {
  test.each(['the embedded service', 'foley serve'])(
    'of %s is reported by every kind of speech, with the refund and what to do',
    async (target) => {
      const report = `The engine bad ${words} Test the engine with \`foley engine test bad\`. The charge was refunded`;
      const results = WAYS.map(async ([name, args]) => {
        const sandbox = await sandboxWith(behaviour);
        const options = { sandbox, timeoutMs: 110_000 };
        const env = target === 'foley serve' ? (await startServe([], options)).env : {};
        const { code, stderr } = await runFoley(args, { ...options, env });
        return { name, code, isReported: stderr.includes(report), stderr };
      });
      for (const [index, { stderr, ...result }] of (await Promise.all(results)).entries()) {
        const [name, , code] = WAYS[index] ?? [];
        expect(result, stderr).toEqual({ name, code, isReported: true });
        expect(stderr).not.toMatch(/proxy|internal error|cut off/i);
      }
    },
  );
});

test.each(['v3', 'v2', 'v1', 'compat-tts'])(
  'an engine of foley serve that dies in the middle of --api %s is named, also in its output',
  async (api) => {
    const sandbox = await sandboxWith('dies after a sentence');
    const service = await startServe([], { sandbox });
    const args = [...SPEAK, '--api', api, '--json'];
    const failed = await runFoley(args, { sandbox, env: service.env });
    const { hint, message, requestId, ...line } = errorLine(failed);
    expect(line).toMatchObject({ exitCode: 23, code: 'ERR_GENERATION_FAILED', billed: 'no' });
    expect(message).toMatch(/CUDA is out of memory.*The charge was refunded/);
    expect(hint).toContain('choose another voice: `foley voices list`');
    await service.running.waitFor('stderr', new RegExp(`${requestId}.*CUDA is out of memory`));
  },
);

test('foley serve reports why the request under a key failed, and its refund', async () => {
  const sandbox = await sandboxWith('dies after a sentence');
  const service = await startServe([], { sandbox });
  const voices = await service.ask('/api/open/v3/voices?pageSize=100');
  const { items } = Object(JSON.parse(voices.bytes.toString()));
  const { voiceId } = items.find(({ name }: { name: string }) => name === 'v');
  const order = {
    method: 'POST',
    headers: { 'Idempotency-Key': 'fails' },
    body: { text: 'This fails. It always fails.', voiceId, format: 'wav' },
  } as const;
  // A whole response would be shown with its headers and its length.
  const answer = await service.ask('/api/open/v3/speech/tts', order).then(
    ({ bytes, ...rest }) => ({ ...rest, length: bytes.length }),
    () => 'cut off',
  );
  expect(answer).toBe('cut off');
  const again = await service.ask('/api/open/v3/speech/tts', order);
  expect(Object(JSON.parse(again.bytes.toString()))).toMatchObject({
    code: 'ERR_REQUEST_PREVIOUSLY_REFUNDED',
    message: expect.stringMatching(/exit code 3/),
    details: { failure: expect.stringMatching(/CUDA is out of memory/) },
  });
  await expect(readFile(path.join(sandbox.out, 'out.wav'))).rejects.toThrow(/ENOENT/);
});

/** Failures before the first sound, and what is reported about them. */
const REPORTED = [
  [
    'dies at once',
    'ended with exit code 3 while it spoke; it wrote to stderr: CUDA is out of memory.',
  ],
  ['gives up', 'says: the model has no weights for this.'],
  ['cannot load later', 'says: the model has gone.'],
  [
    'writes a log later',
    String.raw`broke the protocol while it spoke: it wrote "Loading model\u0007..." to stdout, which is for messages only: write logs to stderr.`,
  ],
] as const;

describe.each([
  ['the embedded service', []],
  ['foley serve', []],
  ['foley serve', ['--max-retries', '0']],
] as const)('with %s and %j', (target, retries) => {
  test.each(REPORTED)(
    'an engine that %s is reported in its own words, with the charge and what to do',
    async (behaviour, words) => {
      const sandbox = await sandboxWith(behaviour);
      const env = target === 'foley serve' ? (await startServe([], { sandbox })).env : {};
      const failed = await runFoley([...SPEAK, ...retries, '--json'], { sandbox, env });
      const { details, hint, message, ...line } = errorLine(failed);
      expect(line).toMatchObject({ code: 'ERR_GENERATION_FAILED', exitCode: 23, billed: 'no' });
      expect(message).toContain(
        `The engine bad ${words} Test the engine with \`foley engine test bad\`. The charge was refunded`,
      );
      expect(details).toEqual({ engine: 'bad' });
      expect(hint).toContain('choose another voice: `foley voices list`');
      expect(failed.stderr).not.toMatch(/proxy|internal error/i);
    },
  );
});

test('an item of a batch whose engine fails during its captioned audio was refunded, and is not lost', async () => {
  const sandbox = await sandboxWith('dies after a sentence');
  await writeFile(path.join(sandbox.out, 'a.txt'), 'This fails. It always fails.');
  const args = ['batch', 'a.txt', '--output-dir', 'audio', '--timings', '--voice-name', 'v'];
  for (const _ of ['first', 'next']) {
    const result = await runFoley(args, { sandbox });
    expect([result.code, result.stderr]).toEqual([23, expect.stringContaining('CUDA')]);
    expect(result.stderr).not.toMatch(/lost|may have/);
  }
});
