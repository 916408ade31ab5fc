import { describe, expect, it } from 'vitest';
import { verifyLedger } from '../../src/service/ledger/ledger.ts';
import type { TestService } from './support/test-service.ts';
import { jsonPost, testService, voiceId } from './support/test-service.ts';

/** Every row of the spec's section 7.2, on each surface and header that carries a key. */

const GRANT = 1_000_000;
const COST = 13;

interface Surface {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

const BODY = {
  text: 'Hello. Again.',
  voiceId: voiceId('Clara'),
  modelId: 'vendor-s21pro',
  format: 'wav',
};
const V3: Surface = { path: '/api/open/v3/speech/tts', body: BODY };
const V2: Surface = { path: '/api/open/v2/speech/tts', body: BODY };
const V1: Surface = { path: '/api/open/v1/speech/tts', body: BODY };
const CACHED: Surface = { path: V1.path, body: { ...BODY, cache: true } };
const ALIGNED: Surface = { path: '/api/open/v3/speech/tts/aligned', body: BODY };

const SYNCHRONOUS: readonly (readonly [string, Surface, string])[] = [
  ['v3', V3, 'Idempotency-Key'],
  ['aligned', ALIGNED, 'Idempotency-Key'],
  ['v2', V2, 'Idempotency-Key'],
  ['v2', V2, 'X-Request-Id'],
  ['v1', V1, 'Idempotency-Key'],
  ['v1', V1, 'X-Request-Id'],
];
const WITH_CACHE: typeof SYNCHRONOUS = [
  ['v1 with cache', CACHED, 'Idempotency-Key'],
  ['v1 with cache', CACHED, 'X-Request-Id'],
];
const JOBS: typeof SYNCHRONOUS = [
  ['jobs of v3', { ...V3, path: `${V3.path}/jobs` }, 'Idempotency-Key'],
  ['jobs of v1', { ...V1, path: `${V1.path}/jobs` }, 'Idempotency-Key'],
  ['jobs of v1', { ...V1, path: `${V1.path}/jobs` }, 'X-Request-Id'],
];

function ask({ call }: TestService, { path, body }: Surface, headers: Record<string, string>) {
  return call(path, jsonPost(body, headers));
}

/** Status and code of what is no success; what is one is read to its end. */
async function outcome(answer: Promise<Response>): Promise<readonly [number, unknown]> {
  const response = await answer;
  if (response.status < 300)
    return [response.status, (await response.arrayBuffer()).byteLength > 0];
  return [response.status, Object(await response.json()).code];
}

async function taskOf(answer: Promise<Response>): Promise<unknown> {
  const response = await answer;
  expect(response.status).toBe(202);
  return Object(await response.json()).task.taskId;
}

/** Another service on the same data, as after a restart or beside the first. */
function another({ store, clock }: TestService, more: object = {}): Promise<TestService> {
  return testService({ store, clock, ...more });
}

/** A fingerprint that no request has today. */
function withoutModel(service: TestService): Promise<TestService> {
  return another(service, { unavailableModels: [BODY.modelId] });
}

async function expectSpent(service: TestService, spent: number): Promise<void> {
  expect(await service.balance()).toEqual({ credits: GRANT - spent, quota: GRANT - spent });
  verifyLedger(service.store, { full: true });
}

const CONFLICT = [409, 'ERR_REQUEST_ID_CONFLICT'];
const other = (surface: Surface): Surface => ({
  ...surface,
  body: { ...surface.body, text: 'Something else.' },
});

describe.each([...SYNCHRONOUS, ...WITH_CACHE])('%s, %#', (name, surface, header) => {
  const key = { [header]: 'order-1' };

  it(`in progress is reported as such, here and at another service: ${name}, ${header}`, async () => {
    const service = await testService();
    const release = service.engine.holdBefore(1);
    const first = ask(service, surface, key);
    await expect.poll(service.engine.speaking).toBe(1);
    const beside = await another(service);
    for (const one of [service, beside]) {
      expect(await outcome(ask(one, surface, key))).toEqual([409, 'ERR_REQUEST_IN_PROGRESS']);
      expect(await outcome(ask(one, other(surface), key))).toEqual(CONFLICT);
    }
    release();
    expect(await outcome(first)).toEqual([200, true]);
    await expectSpent(service, COST);
  });

  it(`refunded stays refunded, and a new key works: ${name}, ${header}`, async () => {
    const service = await testService();
    service.engine.failBefore(0);
    const [status] = await outcome(ask(service, surface, key));
    if (surface !== ALIGNED) expect(status).toBe(500);
    service.engine.failBefore(Infinity);
    const next = await another(service);
    for (const one of [service, next, await withoutModel(service)]) {
      const refused = [409, 'ERR_REQUEST_PREVIOUSLY_REFUNDED'];
      expect(await outcome(ask(one, surface, key))).toEqual(refused);
    }
    for (const one of [service, next]) {
      expect(await outcome(ask(one, other(surface), key))).toEqual(CONFLICT);
    }
    await expectSpent(service, 0);
    expect(await outcome(ask(next, surface, { [header]: 'order-2' }))).toEqual([200, true]);
    await expectSpent(service, COST);
  });

  it(`many times at once is one charge: ${name}, ${header}`, async () => {
    const service = await testService();
    const beside = await another(service);
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        outcome(ask(at % 2 === 0 ? service : beside, surface, key)),
      ),
    );
    expect(outcomes.filter(([status]) => status === 200).length).toBeGreaterThan(0);
    expect(new Set(outcomes.map(([status]) => status))).toEqual(new Set([200, 409]));
    if (surface !== CACHED) expect(outcomes.filter(([status]) => status === 200)).toHaveLength(1);
    await expectSpent(service, COST);
  });
});

describe.each(SYNCHRONOUS)('%s, completed, %#', (name, surface, header) => {
  it(`is neither spoken nor charged again, also after a restart: ${name}, ${header}`, async () => {
    const service = await testService();
    const key = { [header]: 'order-1' };
    expect(await outcome(ask(service, surface, key))).toEqual([200, true]);
    const next = await another(service);
    for (const one of [service, next, await withoutModel(service)]) {
      const completed = [409, 'ERR_REQUEST_ALREADY_COMPLETED'];
      expect(await outcome(ask(one, surface, key))).toEqual(completed);
    }
    for (const one of [service, next]) {
      expect(await outcome(ask(one, other(surface), key))).toEqual(CONFLICT);
    }
    expect([service, next].flatMap(({ engine }) => engine.requests)).toHaveLength(1);
    await expectSpent(service, COST);
  });
});

describe.each(WITH_CACHE)('%s, completed, %#', (name, surface, header) => {
  it(`is answered the same and not charged again: ${name}, ${header}`, async () => {
    const service = await testService();
    const key = { [header]: 'order-1' };
    const first = await (await ask(service, surface, key)).text();
    const next = await another(service);
    for (const one of [service, next, await withoutModel(service)]) {
      expect(await (await ask(one, surface, key)).text()).toBe(first);
    }
    for (const one of [service, next]) {
      expect(await outcome(ask(one, other(surface), key))).toEqual(CONFLICT);
      expect(await outcome(ask(one, V1, key))).toEqual(CONFLICT);
    }
    await expectSpent(service, COST);
  });
});

describe.each(JOBS)('%s, %#', (name, surface, header) => {
  const key = { [header]: 'order-1' };

  it(`gives the task again, here and after a restart, charged once: ${name}, ${header}`, async () => {
    const service = await testService();
    const task = await taskOf(ask(service, surface, key));
    const next = await another(service);
    for (const one of [service, next, await withoutModel(service)]) {
      expect(await taskOf(ask(one, surface, key))).toBe(task);
      expect(await outcome(ask(one, other(surface), key))).toEqual(CONFLICT);
    }
    await Promise.all([service.service.close(), next.service.close()]);
    await expectSpent(await another(service), COST);
  });

  it(`many times at once is one task: ${name}, ${header}`, async () => {
    const service = await testService();
    const beside = await another(service);
    const tasks = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        taskOf(ask(at % 2 === 0 ? service : beside, surface, key)),
      ),
    );
    expect(new Set(tasks).size).toBe(1);
    await Promise.all([service.service.close(), beside.service.close()]);
    await expectSpent(await another(service), COST);
  });
});

describe.each([
  ['v2', V2],
  ['v1', V1],
  ['v1 with cache', CACHED],
  ['jobs of v1', { ...V1, path: `${V1.path}/jobs` }],
])('two headers: %s', (name, surface) => {
  const both = { 'Idempotency-Key': 'order-1', 'X-Request-Id': 'trace-1' };
  const alone = { 'X-Request-Id': 'trace-1' };
  /** What is equal for the same request: the task or the address, or the refusal. */
  const result = async (answer: Promise<Response>): Promise<unknown> => {
    if (surface === CACHED) return (await answer).text();
    return surface.path.endsWith('/jobs') ? taskOf(answer) : (await outcome(answer))[1];
  };
  const isReplayed = surface === CACHED || surface.path.endsWith('/jobs');

  it(`are found by either, here and after a restart: ${name}`, async () => {
    const service = await testService();
    const first = await result(ask(service, surface, both));
    const again = isReplayed ? first : 'ERR_REQUEST_ALREADY_COMPLETED';
    const next = await another(service);
    for (const one of [service, next]) {
      for (const headers of [both, alone, { 'Idempotency-Key': 'order-1' }]) {
        expect(await result(ask(one, surface, headers))).toEqual(again);
        expect(await outcome(ask(one, other(surface), headers))).toEqual(CONFLICT);
      }
    }
    await Promise.all([service.service.close(), next.service.close()]);
    await expectSpent(await another(service), COST);
  });

  it(`at once with the request id alone are one charge: ${name}`, async () => {
    const service = await testService();
    const beside = await another(service);
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        outcome(ask(at < 10 ? service : beside, surface, at % 2 === 0 ? both : alone)),
      ),
    );
    expect(outcomes.filter(([status]) => status < 300).length).toBeGreaterThan(0);
    await Promise.all([service.service.close(), beside.service.close()]);
    await expectSpent(await another(service), COST);
  });

  it(`of which the Idempotency-Key counts: ${name}`, async () => {
    const service = await testService();
    expect((await outcome(ask(service, surface, both)))[0]).toBeLessThan(300);
    const traced = { ...both, 'X-Request-Id': 'trace-2' };
    expect(await outcome(ask(service, other(surface), traced))).toEqual(CONFLICT);
    const next = { ...both, 'Idempotency-Key': 'order-2' };
    expect((await outcome(ask(service, surface, next)))[0]).toBeLessThan(300);
    await service.service.close();
    await expectSpent(await another(service), 2 * COST);
  });
});
