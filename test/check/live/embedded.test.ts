import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseJsonDocument, parseJsonLines } from '../../harness/json-lines.ts';
import { errorLine } from '../../harness/error-line.ts';
import { runFoley } from '../../harness/run-foley.ts';
import { startServe } from '../../binary/support/serve.ts';
import type { ServingFoley } from '../../binary/support/serve.ts';
import { made } from '../../binary/live/spoken.ts';
import { verifyBytes } from '../../audio/verify-bytes.ts';

const IS_FULL = process.env['FOLEY_TEST_SIZE'] === 'full';
const TEXT = 'The first sentence is here. The second one follows it! Does a third one come?';
const MARTIN = ['--voice-name', 'Martin'];
const CHARACTERS = 27 + 26 + 22;

/** Starts a service without an idle timeout, for slow machines. */
async function serving(flags: readonly string[] = []): Promise<ServingFoley> {
  return startServe(flags, { timeoutMs: 280_000 });
}

async function summaryOf(service: ServingFoley, args: readonly string[], input = TEXT) {
  const result = await runFoley(['live', '--json', ...MARTIN, ...args], {
    env: service.env,
    input,
  });
  expect([result.code, result.stderr]).toEqual([0, expect.anything()]);
  const lines = parseJsonLines(result.stdout.toString());
  return { result, summary: lines.at(-1) as Record<string, unknown> };
}

async function accountOf(service: ServingFoley): Promise<{ quota: number; credits: number }> {
  const result = await runFoley(['profile', '--json'], { env: service.env });
  const profile = Object(parseJsonDocument(result.stdout));
  return { quota: Number(profile.api_quota_remaining), credits: Number(profile.credits) };
}

test('speaks at once without configuration', async () => {
  const result = await runFoley(['live', 'Hello from foley.', '-o', 'a.wav']);
  expect(result.code).toBe(0);
  const verdict = verifyBytes('wav', await made(result, 'a.wav'));
  expect(verdict).toMatchObject({ complete: true, endIsProven: true, problem: undefined });
  expect(verdict.durationMs).toBeGreaterThan(500);
  expect(result.stderr).toMatch(/using the embedded service.*\n.*9 credits used/);
});

const FORMATS = [
  ['v3', 'opus'],
  ['v2', 'wav'],
  ['v3', 'mp3'],
  ['v2', 'pcm'],
] as const;

test.each(FORMATS.slice(0, IS_FULL ? 4 : 2))(
  '%s as %s, sentence by sentence',
  async (protocol, format) => {
    const service = await serving();
    const before = await accountOf(service);
    // Half a credit per character.
    const args = ['-m', 'vendor-s21pro-flash', '--protocol', protocol, '-o', `a.${format}`];
    const { result, summary } = await summaryOf(service, args);
    const after = await accountOf(service);
    expect(summary).toMatchObject({ segments: 3, units: CHARACTERS, format });
    expect(after.quota).toBe(before.quota - CHARACTERS);
    expect(before.credits - after.credits).toBe(14 + 13 + 11);
    expect(summary['creditsUsed']).toBe(protocol === 'v3' ? 14 + 13 + 11 : null);
    const bytes = await made(result, `a.${format}`);
    expect(verifyBytes(format, bytes)).toMatchObject({ complete: true, problem: undefined });
  },
  120_000,
);

describe('a dropped connection', () => {
  test.each(['v3', 'v2'] as const)(
    'loses no audio in %s, or names the lost segments, and is billed once',
    async (protocol) => {
      const calm = await serving();
      const args = ['--protocol', protocol, '-o', 'a.pcm'];
      const undisturbed = await made((await summaryOf(calm, args)).result, 'a.pcm');
      for (const afterBytes of IS_FULL ? [100, 30_000, 90_000, 150_000, 200_000] : [90_000]) {
        const rule = `GET /${protocol}/tts/live; reset-after=${afterBytes}; times=1`;
        const service = await serving(['--fault', rule]);
        const before = (await accountOf(service)).quota;
        const words = ['live', '--json', ...MARTIN, ...args];
        const result = await runFoley(words, { env: service.env, input: TEXT });
        expect(result.stdout.toString()).toContain('"event":"reconnecting"');
        if (protocol === 'v2' && result.code === 27) {
          // A reset drops received bytes that were not read yet.
          expect(errorLine(result).details).toEqual({ segments: expect.any(Array) });
          expect(before - (await accountOf(service)).quota).toBeLessThanOrEqual(CHARACTERS);
          continue;
        }
        expect([result.code, result.stderr]).toEqual([0, expect.anything()]);
        expect((await made(result, 'a.pcm')).equals(undisturbed), `after ${afterBytes}`).toBe(true);
        expect((await accountOf(service)).quota).toBe(before - CHARACTERS);
      }
    },
    300_000,
  );

  test('in simple mode loses billed audio', async () => {
    const rule = 'GET /v3/tts/live; reset-after=60000; times=1';
    const service = await serving(['--fault', rule]);
    const args = ['live', '--json', ...MARTIN, TEXT, '-o', 'a.pcm'];
    const result = await runFoley(args, { env: service.env });
    expect(errorLine(result)).toMatchObject({ exitCode: 27, code: 'lost', billed: 'yes' });
  }, 120_000);
});

test('in simple mode, a used request id gets no audio and no charge, and the error says what to do', async () => {
  const service = await serving();
  const speak = (text: string) =>
    runFoley(
      ['live', '--json', ...MARTIN, text, '--mode', 'simple', '--request-id', 'hi', '-o', 'a.mp3'],
      { env: service.env },
    );
  expect((await speak('Hello.')).code).toBe(0);
  const { quota } = await accountOf(service);
  const error = errorLine(await speak('Another text.'));
  expect(error).toMatchObject({ exitCode: 27, code: 'lost', billed: 'yes' });
  expect(error.message).toMatch(/^the request hi was billed before, .*use another --request-id$/);
  expect((await accountOf(service)).quota).toBe(quota);
});

test('a retried request is fetched, and not billed again', async () => {
  const service = await serving();
  const args = ['--request-id', 'chapter-1', '-o', 'a.mp3'];
  const first = await summaryOf(service, args);
  const quota = (await accountOf(service)).quota;
  const again = await summaryOf(service, args);
  expect((await accountOf(service)).quota).toBe(quota);
  const [one, other] = await Promise.all([
    made(first.result, 'a.mp3'),
    made(again.result, 'a.mp3'),
  ]);
  expect(other.equals(one)).toBe(true);
  const status = await runFoley(['live', 'status', 'chapter-1'], { env: service.env });
  expect(status.stdout.toString()).toMatch(/state +completed\n.*\n.*units +75\nstored +s1, s2, s3/);
  const segment = await runFoley(['live', 'segment', 'chapter-1', 's1'], { env: service.env });
  expect([segment.code, segment.stdout.toString()]).toEqual([0, 'chapter-1-s1.mp3\n']);
  expect(
    one.subarray(0, 4_000).equals((await made(segment, 'chapter-1-s1.mp3')).subarray(0, 4_000)),
  ).toBe(true);
  const another = await runFoley(['live', '--json', ...MARTIN, ...args], {
    env: service.env,
    input: 'No.',
  });
  expect(errorLine(another)).toMatchObject({ exitCode: 20, code: 'idempotency_conflict' });
}, 120_000);

describe('the other live commands', () => {
  test.each(['v3', 'v2'] as const)('%s', async (protocol) => {
    const { env } = await serving();
    const run = (...words: string[]) =>
      runFoley(['live', ...words, '--protocol', protocol], { env });
    const capabilities = await run('capabilities');
    expect(capabilities.stdout.toString()).toMatch(
      /^modes +simple, reliable\nformats +mp3, wav, opus, pcm\nmodels +/,
    );
    const ticket = await run('ticket', '--origin', 'https://app.example.com');
    expect(ticket.stdout.toString()).toMatch(/^\S{16,}\n$/);
    const document = parseJsonDocument(
      (await run('ticket', '--origin', 'https://app.example.com', '--json')).stdout,
    );
    expect(document).toMatchObject({ ticket: expect.stringMatching(/^\S+$/) });
    const unknown = await run('status', 'nobody', '--json');
    expect(errorLine(unknown)).toMatchObject({ exitCode: 20, status: 404 });
  });
});

test('names of subcommands are spoken after --', async () => {
  const result = await runFoley(['live', '-o', 'a.mp3', '--', 'status', 'report']);
  expect(result.code).toBe(0);
  expect(path.basename(result.sandbox.out)).toBe('out');
});
