import fc from 'fast-check';
import { Check } from 'typebox/schema';
import { describe, expect, it } from 'vitest';
import { ErrorBody } from '../../../src/contract/error-body.ts';
import { verifyLedger } from '../../../src/service/ledger/ledger.ts';
import { FUZZ_RUNS } from '../../service/support/fuzz-size.ts';
import { fuzzedBody } from '../../binary/support/fuzzed-requests.ts';
import { JOBS, JOBS_V1, jobService } from '../../service/jobs/job-service.ts';

const RUNS = Math.ceil(FUZZ_RUNS / 4);
const TIMEOUT_MS = 30_000 + RUNS * 100;

describe.each([JOBS, JOBS_V1])('whatever a client sends to %s', (path) => {
  it(
    'is refused with the error body, or accepted, ended and settled',
    async () => {
      const { call, ended, store, events } = await jobService();
      const headers = { 'Content-Type': 'application/json' };
      const accepted: string[] = [];
      await fc.assert(
        fc.asyncProperty(fuzzedBody, async (body) => {
          const response = await call(path, { method: 'POST', headers, body });
          const answer: unknown = await response.json();
          if (response.status === 202) {
            accepted.push(Object(answer).task.taskId);
            return;
          }
          expect([400, 404]).toContain(response.status);
          expect(Check(ErrorBody, answer)).toBe(true);
        }),
        { numRuns: RUNS },
      );
      expect(accepted.length).toBeGreaterThan(RUNS / 20);
      for (const id of accepted) expect((await ended(id)).status).not.toBe('partial_fail');
      verifyLedger(store, { full: true });
      const open = "SELECT 1 FROM reservation WHERE state = 'reserved'";
      expect(store.read((db) => db.all(open))).toEqual([]);
      expect(events.filter(({ type }) => type === 'failure')).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

describe('whatever is asked of the lists and of one job', () => {
  it('is answered without a failure', async () => {
    const { call, create, events } = await jobService();
    const id = await create();
    const paths = fc.constantFrom(
      JOBS,
      JOBS_V1,
      `${JOBS}/${id}`,
      `${JOBS}/${id}/audio`,
      `${JOBS}/${id}/segments/0`,
      `/api/open/tts/jobs/${id}/audio`,
      `/api/open/tts/audio/${id}`,
    );
    const names = fc.constantFrom(
      'page',
      'limit',
      'status',
      'createdAfter',
      'download',
      'expires',
      'signature',
      '__proto__',
    );
    const values = fc.oneof(
      fc.integer().map(String),
      fc.bigInt().map(String),
      fc.constantFrom('1', 'success', '2026-01-01T00:00:00Z', '+275760-09-13T00:00:00Z', ''),
      fc.string({ unit: 'binary' }),
    );
    const query = fc.array(fc.tuple(names, values), { maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(paths, query, async (path, parameters) => {
        const search = new URLSearchParams(parameters).toString();
        const response = await call(`${path}?${search}`);
        expect([200, 302, 400, 403, 404]).toContain(response.status);
        if (response.status >= 400) expect(Check(ErrorBody, await response.json())).toBe(true);
      }),
      { numRuns: RUNS * 2 },
    );
    expect(events.filter(({ type }) => type === 'failure')).toEqual([]);
  });
});
