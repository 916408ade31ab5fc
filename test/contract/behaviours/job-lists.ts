import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { Behaviour } from '../behaviour.ts';
import { at, claimRefused, claimStatus } from '../claims.ts';
import { finishedJob } from '../facts.ts';
import { create, created, idOf, list, sectionOf, STATUSES, V1, V3 } from './job-calls.ts';

/** The lists of jobs (docs/api/jobs.md#v1, docs/api/jobs.md#v3 and docs/api/limits.md). */
export const jobLists: readonly Behaviour[] = [V3, V1].flatMap((path) => lists(path));

function lists(path: string): readonly Behaviour[] {
  const id = idOf(path);
  const of = path === V3 ? 'JobListQuery' : 'JobListQueryV1';
  const base = { section: sectionOf(path), on: `GET ${path}`, spends: true };
  const newestFirst: Behaviour = {
    ...base,
    id: `${id}.list.newest-first`,
    what: 'The newest job is the first',
    async check(service) {
      const { taskId } = Object(await created(service, path)).task;
      assert.equal(at(await list(service, path), 'items.0.taskId'), taskId);
    },
  };
  const defaults: Behaviour = {
    ...base,
    id: `${id}.list.defaults`,
    section: 'limits',
    what: '`page` is 1 and `limit` 20 where they are not given; `limit` is 100 at most',
    covers: [`${of}.page`, `${of}.limit`, 'PAGE_SIZE_DEFAULT', 'PAGE_SIZE_MAX'],
    async check(service) {
      const pagination = at(await list(service, path), 'pagination');
      assert.deepEqual([at(pagination, 'page'), at(pagination, 'limit')], [1, 20]);
      assert.equal(at(await list(service, path, { limit: 100 }), 'pagination.limit'), 100);
      if (service.isOurs)
        claimStatus(await service.ask(`GET ${path}`, { query: { limit: 101 } }), 400);
    },
  };
  const pages: Behaviour = {
    ...base,
    id: `${id}.list.pages`,
    what: '`page` and `limit` cut the list; `hasMore` and `nextPage` show whether another page follows',
    covers: [`${of}.page`, `${of}.limit`],
    async check(service) {
      for (let number = 0; number < 3; number += 1) await create(service, path);
      const { items } = Object(await list(service, path, { limit: 3 }));
      const second = Object(await list(service, path, { limit: 1, page: 2 }));
      assert.deepEqual(second.items[0].taskId, items[1].taskId);
      assert.deepEqual([second.pagination.hasMore, second.pagination.nextPage], [true, 3]);
      const past = Object(await list(service, path, { page: 1_000_000 }));
      assert.deepEqual([past.items, past.pagination.nextPage], [[], null]);
    },
  };
  const byStatus: Behaviour = {
    ...base,
    id: `${id}.list.status`,
    what: '`status` keeps jobs of one status; an unknown one is 400',
    covers: [`${of}.status`],
    async check(service) {
      for (const status of STATUSES) {
        const { items } = Object(await list(service, path, { status }));
        assert.ok(items.every((item: unknown) => at(item, 'status') === status));
      }
      claimRefused(
        await service.ask(`GET ${path}`, { query: { status: 'done' } }),
        400,
        'ERR_INVALID_REQUEST',
        service,
      );
    },
  };
  const preview: Behaviour = {
    ...base,
    id: `${id}.list.text`,
    section: 'jobs#v1',
    what: '`textPreview` is the first 80 characters, `textFingerprint` the SHA-256 of the UTF-8 text as it was sent, `characters` its length',
    async check(service) {
      const text = 'Grüße aus dem Hafen, wo die Fähre wartet. '.repeat(3);
      const { taskId } = Object((await create(service, path, { text })).json()).task;
      const { items } = Object(await list(service, path));
      const item = items.find((one: unknown) => at(one, 'taskId') === taskId);
      assert.equal(item.textPreview, Array.from(text).slice(0, 80).join(''));
      assert.equal(
        item.textFingerprint,
        `sha256:${createHash('sha256').update(text).digest('hex')}`,
      );
      assert.equal(item.characters, Array.from(text).length);
    },
  };
  const free: Behaviour = {
    ...base,
    id: `${id}.list.free`,
    section: 'limits',
    what: 'Listing, polling and downloading are not charged, and use no quota',
    async check(service) {
      const job = await finishedJob(service);
      const before = (await service.ask('GET /api/open/v1/profile')).json();
      await list(service, path);
      await service.ask(`GET ${path}/${job}`);
      await service.ask(`GET ${V3}/${job}/audio`);
      assert.deepEqual((await service.ask('GET /api/open/v1/profile')).json(), before);
    },
  };
  return [
    newestFirst,
    defaults,
    pages,
    byStatus,
    preview,
    free,
    ...(path === V1 ? [createdAfter()] : []),
  ];
}

function createdAfter(): Behaviour {
  return {
    id: 'jobs-v1.list.createdAfter',
    section: 'jobs#v1',
    on: `GET ${V1}`,
    what: '`createdAfter` keeps what was accepted after a moment; what is no moment is 400',
    covers: ['JobListQueryV1.createdAfter'],
    spends: true,
    async check(service) {
      const { items } = Object(await list(service, V1));
      const past = Object(await list(service, V1, { createdAfter: '2000-01-01T00:00:00Z' }));
      assert.equal(past.items.length, items.length);
      const future = Object(await list(service, V1, { createdAfter: '2999-01-01T00:00:00Z' }));
      assert.deepEqual(future.items, []);
      const answer = await service.ask(`GET ${V1}`, { query: { createdAfter: 'yesterday' } });
      claimRefused(answer, 400, 'ERR_INVALID_REQUEST', service);
    },
  };
}
