import { Check } from 'typebox/schema';
import { expect, test } from 'vitest';
import { ErrorBody } from '../../src/contract/error-body.ts';
import { SERVICE_ERRORS } from '../../src/contract/service-errors.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { drawn, underSeed } from '../harness/seed.ts';
import type { FuzzedRequest, NameableVoice } from '../binary/support/fuzzed-requests.ts';
import { fuzzedRequests } from '../binary/support/fuzzed-requests.ts';
import type { ServingFoley } from '../binary/support/serve.ts';
import { startServe } from '../binary/support/serve.ts';

const IS_FULL = process.env['FOLEY_TEST_SIZE'] === 'full';
const COUNT = IS_FULL ? 10_000 : 400;
const AT_ONCE = 8;
/** An answer may be an hour of audio, and the machine busy; silence that lasts so long is a hang. */
const PATIENCE_MS = 120_000;
const TIMEOUT_MS = 60_000 + COUNT * 100;

const REFUSALS = [400, 404, 409, 413, 415, 422];

test(
  'whatever is posted to it, foley serve answers, never with a 500, and every error in the envelope',
  { timeout: TIMEOUT_MS },
  async () => {
    await underSeed(async (seed) => {
      const options = { sandbox: await createSandbox(), timeoutMs: TIMEOUT_MS };
      const service = await startServe([], options);
      const requests = drawn(fuzzedRequests(await voicesOf(service)), COUNT, seed);
      const statuses = new Map<number, number>();
      await mapConcurrent(requests, async (request) => {
        const status = await claimAnswered(service, request);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      });
      expectVariety(statuses);
      expect((await service.ask('/healthz')).status).toBe(200);
      service.running.signal('SIGTERM');
      expect((await service.running.done).stderr).not.toMatch(/ERR_|[Ee]rror|failed/);
      // It balances its books when it starts, or does not start.
      await startServe([], options);
    });
  },
);

async function claimAnswered(
  { baseUrl, apiKey }: ServingFoley,
  { path, headers, content: { bytes: body, type } }: FuzzedRequest,
): Promise<number> {
  const about = () =>
    `${path} ${type} ${JSON.stringify(headers)} ${Buffer.from(body).toString('latin1')}`;
  const { answer, bytes } = await untilSilent(baseUrl + path, {
    method: 'POST',
    headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': type, ...headers },
    body: body.slice(),
  }).catch((error: unknown) => expect.fail(`${String(error)} at ${about()}`));
  if (answer.ok) {
    expect(bytes.length, about()).toBeGreaterThan(0);
    return answer.status;
  }
  expect(REFUSALS, `${answer.status} ${bytes.toString()} at ${about()}`).toContain(answer.status);
  const error: unknown = JSON.parse(bytes.toString());
  expect(Check(ErrorBody, error), about()).toBe(true);
  const { code, message, requestId } = Object(error);
  expect(new Map<string, number>(Object.entries(SERVICE_ERRORS)).get(code)).toBe(answer.status);
  expect(message).not.toBe('');
  expect(requestId).toBe(answer.headers.get('X-Request-Id'));
  return answer.status;
}

interface WholeAnswer {
  readonly answer: Response;
  readonly bytes: Buffer;
}

/** The whole of an answer; throws when nothing of it comes for too long. */
async function untilSilent(url: string, init: RequestInit): Promise<WholeAnswer> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(new Error('nothing came')), PATIENCE_MS);
  try {
    const answer = await fetch(url, { ...init, signal: silence.signal });
    const parts: Uint8Array[] = [];
    for await (const part of answer.body ?? []) {
      timer.refresh();
      parts.push(part);
    }
    return { answer, bytes: Buffer.concat(parts) };
  } finally {
    clearTimeout(timer);
  }
}

/** Enough of each kind, so that the test is about all of them. */
function expectVariety(statuses: ReadonlyMap<number, number>): void {
  const of = (...wanted: readonly number[]) =>
    wanted.reduce((sum, status) => sum + (statuses.get(status) ?? 0), 0);
  const shown = JSON.stringify([...statuses]);
  if (IS_FULL) process.stdout.write(`answers by status: ${shown}\n`);
  expect(of(200, 202), shown).toBeGreaterThan(COUNT / 40);
  expect(of(400), shown).toBeGreaterThan(COUNT / 5);
  expect(of(409), shown).toBeGreaterThan(0);
  expect(of(415), shown).toBeGreaterThan(0);
}

async function voicesOf({ ask }: ServingFoley): Promise<readonly NameableVoice[]> {
  return JSON.parse((await ask('/api/open/v3/voices')).bytes.toString()).items;
}

/** So many at a time, one after the other. */
async function mapConcurrent<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const left = items.values();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const item of left) await work(item);
    }),
  );
}
