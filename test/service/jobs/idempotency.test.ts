import { describe, expect, it } from 'vitest';
import { verifyLedger } from '../../../src/service/ledger/ledger.ts';
import { jsonPost, KEY, OTHER_KEY, voiceId } from '../support/test-service.ts';
import { BODY, GRANT, JOBS, JOBS_V1, jobService } from './job-service.ts';

const KEYED = { 'Idempotency-Key': 'k' };
const COST = BODY.text.length;

const both = (id: string) => jsonPost(BODY, { ...KEYED, 'X-Request-Id': id });

async function taskOf(response: Response): Promise<string> {
  return String(Object(await response.json()).task.taskId);
}

async function codeOf(response: Response): Promise<unknown> {
  return [response.status, Object(await response.json()).code];
}

describe('a create that comes again', () => {
  it('200 times at once makes one task and one charge', async () => {
    const { call, balance, store, ended, directed } = await jobService();
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => call(JOBS, jsonPost(BODY, KEYED))),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
    const tasks = new Set(await Promise.all(answers.map((answer) => taskOf(answer))));
    expect(tasks.size).toBe(1);
    for (const id of tasks) expect(await ended(id)).toMatchObject({ status: 'success' });
    expect(await balance()).toEqual({ credits: GRANT - COST, quota: GRANT - COST });
    expect(directed.texts).toEqual([BODY.text]);
    expect(Object(await (await call(JOBS)).json()).items).toHaveLength(1);
    verifyLedger(store, { full: true });
  });

  it('at two services on the same data makes one task, spoken once', async () => {
    const one = await jobService();
    const other = await jobService({ store: one.store });
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        (index % 2 === 0 ? one : other).call(JOBS, jsonPost(BODY, KEYED)),
      ),
    );
    const tasks = new Set(await Promise.all(answers.map((answer) => taskOf(answer))));
    expect(tasks.size).toBe(1);
    for (const id of tasks) await other.ended(id);
    expect([...one.directed.texts, ...other.directed.texts]).toEqual([BODY.text]);
    expect((await one.balance()).credits).toBe(GRANT - COST);
  });

  it('gives the task as it is by then', async () => {
    const { call, ended, create, balance } = await jobService();
    await ended(await create({}, KEYED));
    const again = await call(JOBS, jsonPost(BODY, KEYED));
    expect(again.status).toBe(202);
    expect(await again.json()).toMatchObject({
      task: { status: 'success' },
      creditsUsed: COST,
      quotaRemaining: GRANT - COST,
    });
    expect(again.headers.has('Retry-After')).toBe(false);
    expect((await balance()).credits).toBe(GRANT - COST);
  });

  it('gives the task that failed, and charges nothing', async () => {
    const { call, ended, create, directed, balance } = await jobService();
    directed.failAt('Hello');
    const id = await create({}, KEYED);
    expect(await ended(id)).toMatchObject({ status: 'fail' });
    const again = await call(JOBS, jsonPost(BODY, KEYED));
    expect(await again.json()).toMatchObject({
      task: { taskId: id, status: 'fail' },
      creditsUsed: 0,
    });
    expect((await balance()).credits).toBe(GRANT);
  });

  it('gives the task although its model is gone and the credits are used up', async () => {
    const allowance = { credits: COST, quota: COST };
    const first = await jobService({ allowance });
    const id = await first.create({}, KEYED);
    await first.ended(id);
    const unavailableModels = ['vendor-s21pro'];
    const later = await jobService({
      store: first.store,
      unavailableModels,
      allowance: { credits: 0, quota: 0 },
    });
    expect(await taskOf(await later.call(JOBS, jsonPost(BODY, KEYED)))).toBe(id);
  });

  it.each([{ text: 'Hello.' }, { speed: 1.5 }, { format: 'mp3' }, { voiceId: voiceId('Ewan') }])(
    'with %j is a conflict',
    async (change) => {
      const { call, create, balance } = await jobService();
      await create({}, KEYED);
      const other = await call(JOBS, jsonPost({ ...BODY, ...change }, KEYED));
      expect(await codeOf(other)).toEqual([409, 'ERR_REQUEST_ID_CONFLICT']);
      expect((await balance()).credits).toBe(GRANT - COST);
    },
  );

  it('with its fields in another order is the same', async () => {
    const { call, create } = await jobService();
    const id = await create({}, KEYED);
    const { text, ...rest } = BODY;
    expect(await taskOf(await call(JOBS, jsonPost({ ...rest, text }, KEYED)))).toBe(id);
  });

  it('without a key is another one', async () => {
    const { create, balance } = await jobService();
    expect(await create()).not.toBe(await create());
    expect((await balance()).credits).toBe(GRANT - 2 * COST);
  });

  it('from another account is its own', async () => {
    const { call, create, balance } = await jobService();
    const id = await create({}, KEYED);
    const headers = { ...KEYED, Authorization: `Bearer ${OTHER_KEY}` };
    expect(await taskOf(await call(JOBS, jsonPost(BODY, headers)))).not.toBe(id);
    expect((await balance(KEY)).credits).toBe(GRANT - COST);
    expect((await balance(OTHER_KEY)).credits).toBe(GRANT - COST);
  });
});

describe('one key at several endpoints', () => {
  it('is a conflict, whichever came first', async () => {
    const { call, create, speak } = await jobService();
    await create({}, KEYED);
    expect(await codeOf(await speak(BODY, KEYED))).toEqual([409, 'ERR_REQUEST_ID_CONFLICT']);
    const v1 = await call(JOBS_V1, jsonPost(BODY, KEYED));
    expect(await codeOf(v1)).toEqual([409, 'ERR_REQUEST_ID_CONFLICT']);
    await (await speak(BODY, { 'Idempotency-Key': 'sync' })).arrayBuffer();
    const job = await call(JOBS, jsonPost(BODY, { 'Idempotency-Key': 'sync' }));
    expect(await codeOf(job)).toEqual([409, 'ERR_REQUEST_ID_CONFLICT']);
  });

  it('is what v1 calls the request id; v3 does not', async () => {
    const { call } = await jobService();
    const post = jsonPost(BODY, { 'X-Request-Id': 'same' });
    expect(await taskOf(await call(JOBS_V1, post))).toBe(await taskOf(await call(JOBS_V1, post)));
    expect(await taskOf(await call(JOBS, post))).not.toBe(await taskOf(await call(JOBS, post)));
  });

  it('is the one of v3 where v1 is sent both', async () => {
    const { call } = await jobService();
    expect(await taskOf(await call(JOBS_V1, both('a')))).toBe(
      await taskOf(await call(JOBS_V1, both('b'))),
    );
  });
});
