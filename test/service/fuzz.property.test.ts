import fc from 'fast-check';
import { Check } from 'typebox/schema';
import { describe, expect, it } from 'vitest';
import { FAMILIES } from '../../src/contract/families.ts';
import { ErrorBody } from '../../src/contract/schemas/error.ts';
import { SERVICE_ERRORS } from '../../src/contract/service-errors.ts';
import { verifyLedger } from '../../src/service/billing/verify-ledger.ts';
import { VOICES } from '../../src/service/catalogue/voices.ts';
import { testService } from './support/test-service.ts';

/** How many bodies are tried; `npm run soak` raises it. */
const RUNS = Number(process.env['FOLEY_FUZZ_RUNS'] ?? 400);

const junk = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.array(fc.anything(), { maxLength: 3 }),
  fc.dictionary(fc.string(), fc.anything(), { maxKeys: 3 }),
);
const control = (minimum: number, maximum: number) =>
  fc.oneof(
    { weight: 4, arbitrary: fc.double({ min: minimum, max: maximum, noNaN: true }) },
    { weight: 1, arbitrary: junk },
  );
const text = fc.oneof(
  { weight: 3, arbitrary: fc.lorem({ maxCount: 5 }) },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }) },
  { weight: 1, arbitrary: junk },
);
const likely = fc.record(
  {
    text,
    voiceId: fc.oneof(
      { weight: 9, arbitrary: fc.constantFrom(...VOICES.map(({ id }) => id)) },
      { weight: 1, arbitrary: junk },
    ),
    modelId: fc.oneof(fc.constantFrom(...FAMILIES.flatMap(({ models }) => models)), {
      weight: 1,
      arbitrary: junk,
    }),
    format: fc.oneof(fc.constantFrom('mp3', 'wav', 'ogg', 'flac'), junk),
    speed: control(0.4, 2.1),
    volume: control(-21, 21),
    pitch: control(-13, 13),
    stability: control(-0.1, 1.6),
    similarity: control(-0.1, 1.6),
    language: fc.oneof(fc.string({ maxLength: 70 }), junk),
    emotion: fc.oneof(fc.string({ maxLength: 70 }), junk),
    instruction: fc.oneof(fc.string({ maxLength: 40 }), junk),
    textNormalization: fc.oneof(fc.boolean(), junk),
    filterEmoji: fc.oneof(fc.boolean(), junk),
    extra: junk,
  },
  { requiredKeys: ['text', 'voiceId'] },
);

function jsonOf(value: unknown): string {
  return (
    JSON.stringify(value, (_key, part: unknown) =>
      typeof part === 'bigint' || typeof part === 'symbol' ? String(part) : part,
    ) ?? 'undefined'
  );
}

describe('whatever a client sends to /speech/tts', () => {
  it('is answered with audio or with the error body, and never with a 500', async () => {
    const { call, store, events } = await testService();
    const headers = { 'Content-Type': 'application/json' };
    await fc.assert(
      fc.asyncProperty(
        fc.oneof({ weight: 6, arbitrary: likely.map(jsonOf) }, junk.map(jsonOf), fc.string()),
        async (body) => {
          const init = { method: 'POST', headers, body };
          const response = await call('/api/open/v3/speech/tts', init);
          if (response.status === 200) {
            expect(response.headers.get('Content-Type')).toMatch(/^audio\//);
            expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(0);
            return;
          }
          expect([400, 404]).toContain(response.status);
          const error: unknown = await response.json();
          expect(Check(ErrorBody, error)).toBe(true);
          expect(Object.keys(SERVICE_ERRORS)).toContain(Object(error).code);
        },
      ),
      { numRuns: RUNS },
    );
    verifyLedger(store, { full: true });
    expect(
      store.read((db) => db.all("SELECT 1 FROM reservation WHERE state = 'reserved'")),
    ).toEqual([]);
    expect(events.filter(({ type }) => type === 'failure')).toEqual([]);
  });
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
