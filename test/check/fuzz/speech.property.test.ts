import fc from 'fast-check';
import { Check } from 'typebox/schema';
import { describe, expect, it } from 'vitest';
import { ErrorBody } from '../../../src/contract/error-body.ts';
import { SERVICE_ERRORS } from '../../../src/contract/service-errors.ts';
import { verifyLedger } from '../../../src/service/ledger/ledger.ts';
import { FUZZ_RUNS } from '../../service/support/fuzz-size.ts';
import { fuzzedBody } from '../../binary/support/fuzzed-requests.ts';
import { testService } from '../../service/support/test-service.ts';

const RUNS = FUZZ_RUNS;
/** A hang is a longer one: a busy machine takes its time. */
const TIMEOUT_MS = 30_000 + RUNS * 150;

describe.each([
  ['/api/open/v3/speech/tts', /^audio\//],
  ['/api/open/v3/speech/tts/aligned', /^text\/event-stream/],
])('whatever a client sends to %s', (path, mediaType) => {
  it(
    'is answered with audio or with the error body, and never with a 500',
    async () => {
      const { call, store, events } = await testService();
      const headers = { 'Content-Type': 'application/json' };
      let spoken = 0;
      let refused = 0;
      await fc.assert(
        fc.asyncProperty(fuzzedBody, async (body) => {
          const init = { method: 'POST', headers, body };
          const response = await call(path, init);
          if (response.status === 200) {
            expect(response.headers.get('Content-Type')).toMatch(mediaType);
            expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(0);
            spoken += 1;
            return;
          }
          expect([400, 404]).toContain(response.status);
          refused += 1;
          const error: unknown = await response.json();
          expect(Check(ErrorBody, error)).toBe(true);
          expect(Object.keys(SERVICE_ERRORS)).toContain(Object(error).code);
        }),
        { numRuns: RUNS },
      );
      expect(Math.min(spoken, refused)).toBeGreaterThan(RUNS / 20);
      verifyLedger(store, { full: true });
      expect(
        store.read((db) => db.all("SELECT 1 FROM reservation WHERE state = 'reserved'")),
      ).toEqual([]);
      expect(events.filter(({ type }) => type === 'failure')).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

describe('whatever is asked of any path', () => {
  it('is answered in the envelope of the service', async () => {
    const { call } = await testService();
    const segment = fc.constantFrom(
      'api',
      'open',
      'v3',
      'v1',
      'voices',
      'profile',
      '..',
      '%2e',
      '%',
      '',
    );
    const path = fc.array(fc.oneof(segment, fc.webSegment()), { maxLength: 6 });
    const method = fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND');
    await fc.assert(
      fc.asyncProperty(path, method, async (segments, verb) => {
        const response = await call(`/${segments.join('/')}`, { method: verb });
        expect(response.headers.get('X-Request-Id')).toMatch(/^[\x21-\x7e]+$/);
        expect(response.status).toBeLessThan(500);
        if (response.status >= 400) expect(Check(ErrorBody, await response.json())).toBe(true);
      }),
      { numRuns: 200 },
    );
  });
});
