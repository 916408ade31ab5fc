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
const TIMEOUT_MS = 30_000 + RUNS * 30;

const junk = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.array(fc.anything(), { maxLength: 3 }),
  fc.dictionary(fc.string(), fc.anything(), { maxKeys: 3 }),
);
/** Mostly what the field takes, now and then anything at all. */
function mostly<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 25, arbitrary }, { weight: 1, arbitrary: junk });
}
function between(min: number, max: number): fc.Arbitrary<unknown> {
  // Whole hundredths: among all doubles nearly everything lies next to zero.
  const hundredths = fc.integer({ min: Math.round(min * 100), max: Math.round(max * 100) });
  return mostly(hundredths.map((value) => value / 100));
}
const text = fc.oneof(
  { weight: 3, arbitrary: fc.lorem({ maxCount: 5 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }) },
);
const controls = fc.record(
  {
    format: mostly(fc.constantFrom('mp3', 'wav', 'ogg')),
    speed: between(0.49, 2.01),
    volume: between(-20.5, 20.5),
    pitch: between(-12.5, 12.5),
    stability: between(0.4, 1.55),
    similarity: between(0.4, 1.55),
    language: mostly(fc.string({ minLength: 1, maxLength: 65 })),
    emotion: mostly(fc.string({ minLength: 1, maxLength: 65 })),
    instruction: mostly(fc.string({ maxLength: 40 })),
    textNormalization: mostly(fc.boolean()),
    filterEmoji: mostly(fc.boolean()),
  },
  { requiredKeys: [] },
);
const voiceAndModel = fc.constantFrom(...VOICES).chain(({ id, family }) => {
  const models = FAMILIES.find((one) => one.id === family)?.models ?? [];
  return fc.record({
    voiceId: mostly(fc.constant(id)),
    modelId: mostly(fc.constantFrom(...models, undefined, 'altF-flash-v2.5')),
  });
});
const likely = fc
  .tuple(mostly(text), voiceAndModel, controls, mostly(fc.constant(null)))
  .map(([words, chosen, given, extra]) =>
    Object.assign({ text: words }, chosen, given, extra === null ? {} : { extra }),
  );

function jsonOf(value: unknown): string {
  return (
    JSON.stringify(value, (_key, part: unknown) =>
      typeof part === 'bigint' || typeof part === 'symbol' ? String(part) : part,
    ) ?? 'undefined'
  );
}

describe('whatever a client sends to /speech/tts', () => {
  it(
    'is answered with audio or with the error body, and never with a 500',
    async () => {
      const { call, store, events } = await testService();
      const headers = { 'Content-Type': 'application/json' };
      let spoken = 0;
      let refused = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.oneof({ weight: 6, arbitrary: likely.map(jsonOf) }, junk.map(jsonOf), fc.string()),
          async (body) => {
            const init = { method: 'POST', headers, body };
            const response = await call('/api/open/v3/speech/tts', init);
            if (response.status === 200) {
              expect(response.headers.get('Content-Type')).toMatch(/^audio\//);
              expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(0);
              spoken += 1;
              return;
            }
            expect([400, 404]).toContain(response.status);
            refused += 1;
            const error: unknown = await response.json();
            expect(Check(ErrorBody, error)).toBe(true);
            expect(Object.keys(SERVICE_ERRORS)).toContain(Object(error).code);
          },
        ),
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
