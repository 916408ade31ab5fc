import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { request as ask } from 'undici';
import { expect, test } from 'vitest';
import fc from 'fast-check';
import { drawn, underSeed } from '../harness/seed.ts';
import { createSandbox } from '../harness/sandbox.ts';
import type { MortalServe } from '../binary/support/mortal-serve.ts';
import { startMortalServe } from '../binary/support/mortal-serve.ts';
import type { KeyedRequest, Outcome } from '../binary/support/keyed-endpoints.ts';
import {
  expectOneAnswer,
  expectOneCharge,
  keyedRequests,
  race,
  RACE_FLAGS,
} from '../binary/support/keyed-endpoints.ts';
import type { ServingFoley } from '../binary/support/serve.ts';
import { startServe } from '../binary/support/serve.ts';

const TIME = { timeout: 600_000 };

/** Sends every request to the next of several processes. */
function alternating(services: readonly ServingFoley[]): Pick<ServingFoley, 'ask'> {
  let turn = 0;
  return {
    ask(...args) {
      turn += 1;
      const service = services[turn % services.length];
      if (service === undefined) throw new TypeError('no service');
      return service.ask(...args);
    },
  };
}

test.each([1, 2])(
  '20 overlapping identical requests to each keyed endpoint of %i processes on the same data: one charge, one answer',
  TIME,
  async (processes) => {
    const sandbox = await createSandbox();
    const dataDir = path.join(sandbox.out, 'data');
    const flags = [...RACE_FLAGS, '--data-dir', dataDir];
    const services: ServingFoley[] = [];
    for (let count = 0; count < processes; count += 1) {
      services.push(await startServe(flags, { sandbox, ...TIME }));
    }
    const service = alternating(services);
    const keys: string[] = [];
    for (const request of await keyedRequests(service)) {
      const key = `race-${request.name}`;
      keys.push(key);
      expectOneAnswer(request, await race(service, request, { count: 20, key }));
    }
    for (const { running } of services) {
      running.signal('SIGTERM');
      await running.done;
    }
    await expectOneCharge(dataDir, keys);
  },
);

/** How many moments each process lives for. */
const LIVES = fc.integer({ min: 5, max: 150 });
const KILLS = 24;
const ROUNDS = 3;
const KEY = 'key-of-the-races';

/** Repeats a request until a process lives long enough to answer it. Counts the answers that a kill cut. */
function insisting(serve: MortalServe): Pick<ServingFoley, 'ask'> & { readonly cut: () => number } {
  let cut = 0;
  return {
    cut: () => cut,
    async ask(target, { body, headers, method = 'GET' } = {}) {
      for (;;) {
        const { baseUrl, isDead } = await serve.living();
        try {
          const answer = await ask(baseUrl + target, {
            method,
            headers: {
              Authorization: `Bearer ${KEY}`,
              'Content-Type': 'application/json',
              ...headers,
            },
            ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          });
          serve.tick();
          const bytes = Buffer.from(await answer.body.arrayBuffer());
          return { status: answer.statusCode, headers: answer.headers, bytes };
        } catch (error) {
          if (!isDead()) throw error;
          cut += 1;
        }
      }
    },
  };
}

const REFUNDED = '409 ERR_REQUEST_PREVIOUSLY_REFUNDED';
const RUNNING = '409 ERR_REQUEST_IN_PROGRESS';
const COMPLETED = '409 ERR_REQUEST_ALREADY_COMPLETED';

/**
 * Expects one answer, or a refund that stays if the process was killed before the answer was complete. If the process
 * was killed after that, a client may lose an answer that cannot be requested again: then all others are refused.
 */
function expectOneAnswerOrRefund(
  request: KeyedRequest,
  outcomes: readonly Outcome[],
  wasCut: boolean,
): void {
  const seen = new Set(outcomes.map(({ result, status }) => `${status} ${result}`));
  const wasRefunded = seen.delete(REFUNDED);
  if (!wasRefunded) {
    const hasAnswer = [...seen].some((one) => one.startsWith('2'));
    if (hasAnswer || !wasCut || request.repeat !== 'refuse')
      return expectOneAnswer(request, outcomes);
    return expect([...seen].filter((one) => one !== RUNNING)).toEqual([COMPLETED]);
  }
  const made = [...seen].filter((outcome) => !outcome.startsWith('409'));
  // Audio that was sent whole just before its process was killed may be refunded after all.
  const most = request.repeat === 'refuse' ? 1 : 0;
  if (made.length > most) expect([request.name, ...made]).toEqual([REFUNDED]);
}

test(`the service is killed ${KILLS} times in the races: still one charge, one answer`, TIME, () =>
  underSeed(async (seed) => {
    const sandbox = await createSandbox();
    const dataDir = path.join(sandbox.out, 'data');
    const keysFile = path.join(sandbox.harness, 'keys');
    await writeFile(keysFile, `${KEY} local\n`, { mode: 0o600 });
    const first = await startServe(['--data-dir', dataDir], { sandbox });
    const requests = await keyedRequests(first);
    first.running.signal('SIGTERM');
    await first.running.done;
    const flags = [...RACE_FLAGS, '--accept-keys-file', keysFile];
    const lives = drawn(LIVES, KILLS, seed);
    const serve = await startMortalServe({ sandbox, dataDir, flags, lives });
    const service = insisting(serve);
    const keys: string[] = [];
    // The fewer moments a round has, the more rounds it takes.
    for (let round = 0; round < ROUNDS || serve.killed() < KILLS; round += 1) {
      for (const request of requests) {
        const key = `race-${request.name}-${round}`;
        keys.push(key);
        const before = service.cut();
        const outcomes = await race(service, request, { count: 8, key });
        expectOneAnswerOrRefund(request, outcomes, service.cut() > before);
      }
    }
    await serve.end();
    await expectOneCharge(dataDir, keys);
  }),
);
