import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { PROFILE_PATH } from '../fault-server/healthy-service.ts';
import { canaryKey } from '../harness/canary.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { connectRealtime } from '../realtime/raw-client.ts';
import { manualClock } from '../api/manual-clock.ts';
import { systemRandom } from '../../src/system/random.ts';
import { createTickets } from '../../src/service/realtime/tickets.ts';
import type { ServingFoley } from '../binary/support/serve.ts';
import { firstVoiceId, startServe } from '../binary/support/serve.ts';

const ACCOUNTS = 1_000;
const TICKETS_PATH = '/v3/tts/browser-tickets';

vi.setConfig({ testTimeout: 300_000 });

/** `foley serve` with an API key for each of 1,000 accounts. */
async function startWithAccounts(...flags: readonly string[]) {
  const keys = Array.from({ length: ACCOUNTS }, () => canaryKey());
  const sandbox = await createSandbox();
  const lines = keys.map((key, index) => `${key} account-${index}\n`);
  await writeFile(path.join(sandbox.out, 'keys.txt'), lines.join(''));
  const options = { sandbox, timeoutMs: 300_000 };
  const service = await startServe(['--accept-keys-file', 'keys.txt', ...flags], options);
  return { keys, service };
}

type Asked = Awaited<ReturnType<ServingFoley['ask']>>;

/** Asks with each of the keys, some at once, and returns the answers in their order. */
async function askEach(
  { ask }: ServingFoley,
  keys: readonly string[],
  url: string,
  bodyOf?: (index: number) => unknown,
): Promise<readonly Asked[]> {
  const answers: Asked[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < keys.length; index = next++) {
      const headers = { Authorization: `Bearer ${keys[index]}` };
      const body = bodyOf?.(index);
      const post = body === undefined ? {} : ({ method: 'POST', body } as const);
      answers[index] = await ask(url, { headers, ...post });
    }
  };
  await Promise.all(Array.from({ length: 16 }, work));
  return answers;
}

function statusesOf(answers: readonly Asked[]): Readonly<Record<number, number>> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

async function creditsOf(service: ServingFoley, keys: readonly string[]) {
  const profiles = await askEach(service, keys, PROFILE_PATH);
  return profiles.map(({ bytes }) => Object(JSON.parse(bytes.toString())).credits);
}

const originOf = (index: number): string => `https://studio-${index}.example`;

describe('1,000 accounts of one service', () => {
  test('have a rate limit each', async () => {
    const { keys, service } = await startWithAccounts('--rate-limit', '0.001/s');
    const [first = '', ...others] = keys;
    const eager = await askEach(
      service,
      Array.from({ length: 50 }, () => first),
      PROFILE_PATH,
    );
    expect(statusesOf(eager)).toEqual({ 200: 1, 429: 49 });
    expect(statusesOf(await askEach(service, others, PROFILE_PATH))).toEqual({ 200: 999 });
    expect(statusesOf(await askEach(service, keys, PROFILE_PATH))).toEqual({ 429: 1_000 });
  });

  test('have tickets each, which speak for their own account only', async () => {
    const { keys, service } = await startWithAccounts('--credits', '100');
    const issue = (from: readonly string[], origin = originOf) =>
      askEach(service, from, TICKETS_PATH, (index) => ({ origin: origin(index) }));
    const issued = await issue(keys);
    expect(statusesOf(issued)).toEqual({ 200: 1_000 });
    // One account makes more tickets than it may hold.
    const eager = Array.from({ length: 1_000 }, () => keys[0] ?? '');
    await issue(eager, () => originOf(0));
    const tickets = issued.map(({ bytes }) => Object(JSON.parse(bytes.toString())).ticket);
    const open = async (ticket: number, from: number) => {
      const { baseUrl } = service;
      const origin = originOf(from);
      const page = await connectRealtime({ version: 'v3', baseUrl, origin, timeoutMs: 60_000 });
      page.send({ event: 'auth', token: String(tickets[ticket]) });
      return page;
    };
    for (const [ticket, from] of [
      [0, 0],
      [5, 6],
    ] as const) {
      const refused = await open(ticket, from);
      expect(await refused.expect('error')).toMatchObject({ code: 'authentication_failed' });
    }
    const voiceId = await firstVoiceId({
      ...service,
      ask: (url) => service.ask(url, { headers: { Authorization: `Bearer ${keys[0]}` } }),
    });
    const page = await open(999, 999);
    await page.expect('authenticated');
    const request = { voiceId, modelId: 'vendor-s21pro', format: 'wav' };
    page.send({ event: 'start', mode: 'reliable', requestId: 'r', request });
    await page.expect('ready');
    page.send({ event: 'text', sequence: 1, text: 'Hello.' });
    page.send({ event: 'flush', segmentId: 's1' });
    await page.until('segment_completed');
    const credits = await creditsOf(service, keys);
    expect(credits).toEqual(keys.map((_key, index) => (index === 999 ? 94 : 100)));
  });

  test('may hold hundreds of tickets each, and one at its limit loses only its own', () => {
    const clock = manualClock();
    const tickets = createTickets({ clock, random: systemRandom });
    const place = { origin: 'https://studio.example', host: '127.0.0.1:4747' };
    const issue = (account: string): string => tickets.issue({ account, ...place }).ticket;
    const eager = issue('eager');
    const firsts = new Map<string, string>();
    for (let round = 0; round < 200; round += 1) {
      for (let index = 0; index < ACCOUNTS; index += 1) {
        const account = `account-${index}`;
        const ticket = issue(account);
        if (round === 0) firsts.set(account, ticket);
      }
    }
    for (let count = 0; count < 1_000; count += 1) issue('eager');
    expect(tickets.redeem(eager, place)).toBeUndefined();
    for (const [account, ticket] of firsts) expect(tickets.redeem(ticket, place)).toBe(account);
    clock.advance(60_000);
    expect(tickets.isExpected(place)).toBe(false);
  });
});
