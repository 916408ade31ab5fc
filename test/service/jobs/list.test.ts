import { Check } from 'typebox/schema';
import { describe, expect, it } from 'vitest';
import { JobList, JobListV1 } from '../../../src/contract/jobs.ts';
import { OTHER_KEY } from '../support/test-service.ts';
import type { JobService } from './job-service.ts';
import { JOBS, JOBS_V1, jobService, paragraphs } from './job-service.ts';

interface Page {
  readonly items: readonly { readonly taskId: string }[];
  readonly pagination: { readonly nextPage: number | null };
}

async function pageAt(path: string, { call }: JobService): Promise<Page> {
  return Object(await (await call(path)).json());
}

async function listed({ call }: JobService, path: string): Promise<readonly string[]> {
  const response = await call(path);
  expect([path, response.status]).toEqual([path, 200]);
  const { items } = Object(await response.json());
  return items.map(({ taskId }: { taskId: string }) => taskId);
}

describe.each([
  [JOBS, JobList, 'modelId'],
  [JOBS_V1, JobListV1, 'engineModelId'],
] as const)('GET %s', (path, schema, modelField) => {
  it('gives jobs with the newest first, in the fields of its version', async () => {
    const service = await jobService();
    const ids = [await service.create(), await service.create(), await service.create()];
    for (const id of ids) await service.ended(id);
    const body: unknown = await (await service.call(path)).json();
    expect(Check(schema, body)).toBe(true);
    const { items, pagination } = Object(body);
    expect(items.map(({ taskId }: { taskId: string }) => taskId)).toEqual(ids.toReversed());
    expect(pagination).toEqual({ page: 1, limit: 20, hasMore: false, nextPage: null });
    const { audioUrl, createdAt, textFingerprint, ...rest } = items[0];
    expect(rest).toEqual({
      taskId: ids[2],
      status: 'success',
      characters: 13,
      textPreview: 'Hello. Again.',
      voiceId: expect.any(String),
      [modelField]: 'vendor-s21pro',
      creditsUsed: 13,
    });
    expect(textFingerprint).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(createdAt).toBe(new Date(service.clock.now()).toISOString());
    expect((await service.call(audioUrl)).ok || (await service.call(audioUrl)).status === 302).toBe(
      true,
    );
  });

  it('pages without gaps, overlaps or an end that fails', async () => {
    const service = await jobService();
    const ids = [];
    for (let number = 0; number < 5; number += 1) ids.unshift(await service.create());
    const pages = [];
    let next: number | null = 1;
    while (next !== null) {
      const { items, pagination }: Page = await pageAt(`${path}?page=${next}&limit=2`, service);
      const hasMore = pagination.nextPage !== null;
      expect(pagination).toMatchObject({ page: next, limit: 2, hasMore });
      pages.push(items.map(({ taskId }) => taskId));
      next = pagination.nextPage;
    }
    expect(pages).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
    expect(await listed(service, `${path}?page=4&limit=2`)).toEqual([]);
    expect(await listed(service, `${path}?page=999999999999999&limit=100`)).toEqual([]);
  });

  it('has no further page after one that is just full', async () => {
    const service = await jobService();
    await service.create();
    await service.create();
    const { pagination } = Object(await (await service.call(`${path}?limit=2`)).json());
    expect(pagination).toEqual({ page: 1, limit: 2, hasMore: false, nextPage: null });
  });

  it('gives jobs of one status', async () => {
    const service = await jobService();
    service.directed.failAt('bad');
    service.directed.holdAt('slow');
    const good = await service.create();
    const part = await service.create({ text: paragraphs('good', 'bad') });
    const bad = await service.create({ text: 'bad.' });
    for (const id of [good, part, bad]) await service.ended(id);
    const running = [
      await service.create({ text: 'slow.' }),
      await service.create({ text: 'slow.' }),
    ];
    const waiting = await service.create();
    await expect.poll(service.directed.held).toBe(2);
    expect(await listed(service, `${path}?status=success`)).toEqual([good]);
    expect(await listed(service, `${path}?status=partial_fail`)).toEqual([part]);
    expect(await listed(service, `${path}?status=fail`)).toEqual([bad]);
    expect(await listed(service, `${path}?status=processing`)).toEqual(running.toReversed());
    expect(await listed(service, `${path}?status=pending`)).toEqual([waiting]);
  });

  it('gives jobs of the account only, and charges nothing', async () => {
    const service = await jobService();
    const others = await service.create({}, { Authorization: `Bearer ${OTHER_KEY}` });
    const own = await service.create();
    const before = await service.balance();
    expect(await listed(service, path)).toEqual([own]);
    expect(await service.balance()).toEqual(before);
    expect(others).not.toBe(own);
  });

  it.each([
    ['page=0', 'page is 0; allowed: an integer, 1 or more'],
    ['limit=101', 'limit is 101; allowed: an integer from 1 to 100'],
    ['limit=x', 'limit is "x"; allowed: an integer from 1 to 100'],
    [
      'status=done',
      'status is "done"; allowed: pending, processing, success, partial_fail or fail',
    ],
    ['status=fail&status=success', 'status is given more than once'],
  ])('refuses ?%s', async (query, message) => {
    const { call } = await jobService();
    const response = await call(`${path}?${query}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'ERR_INVALID_REQUEST', message });
  });
});

describe('what only one of the lists takes', () => {
  it('is createdAfter in v1, and nothing that is unknown in v3', async () => {
    const { call } = await jobService();
    expect((await call(`${JOBS}?createdAfter=2026-01-01T00:00:00Z`)).status).toBe(400);
    expect((await call(`${JOBS}?sort=asc`)).status).toBe(400);
    expect((await call(`${JOBS_V1}?sort=asc`)).status).toBe(200);
  });

  it('leaves out what was accepted before or at that moment', async () => {
    const service = await jobService();
    const old = await service.create();
    const moment = new Date(service.clock.now());
    service.clock.advance(1);
    const recent = await service.create();
    const after = (time: string) =>
      listed(service, `${JOBS_V1}?createdAfter=${encodeURIComponent(time)}`);
    expect(await after(moment.toISOString())).toEqual([recent]);
    expect(await after(new Date(moment.getTime() - 1).toISOString())).toEqual([recent, old]);
    expect(await after('2026-01-02T05:04:05.000+02:00')).toEqual([recent]);
    expect(await after('2126-01-01T00:00:00Z')).toEqual([]);
  });

  it.each([
    'yesterday',
    '2026-01-01',
    '2026-01-01T00:00Z',
    '1767323045',
    '',
    '2026-13-01T00:00:00Z',
  ])('refuses createdAfter=%s, and says how it is written', async (time) => {
    const { call } = await jobService();
    const response = await call(`${JOBS_V1}?createdAfter=${time}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      message: expect.stringContaining('an ISO 8601 timestamp such as 2026-05-01T08:30:00Z'),
    });
  });

  it('refuses a moment that there is not', async () => {
    const { call } = await jobService();
    const response = await call(`${JOBS_V1}?createdAfter=2016-12-31T23:59:60Z`);
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { message: 'createdAfter is "2016-12-31T23:59:60Z", which is not a valid time' },
    ]);
  });
});
