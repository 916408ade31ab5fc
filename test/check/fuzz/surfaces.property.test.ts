import fc from 'fast-check';
import { Check } from 'typebox/schema';
import { describe, expect, it } from 'vitest';
import { ErrorBody } from '../../../src/contract/error-body.ts';
import { verifyLedger } from '../../../src/service/ledger/ledger.ts';
import { MODELS } from '../../../src/service/voices/model-catalogue.ts';
import { VOICES } from '../../../src/service/voices/catalogue-voice.ts';
import { FUZZ_RUNS } from '../../service/support/fuzz-size.ts';
import { testService } from '../../service/support/test-service.ts';

const RUNS = Math.ceil(FUZZ_RUNS / 2);
/** A hang is a longer one: a busy machine takes its time. */
const TIMEOUT_MS = 30_000 + RUNS * 150;

const junk = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.array(fc.jsonValue(), { maxLength: 3 }),
  fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 }),
);
function mostly<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 25, arbitrary }, { weight: 1, arbitrary: junk });
}
function between(min: number, max: number): fc.Arbitrary<unknown> {
  return mostly(
    fc.integer({ min: Math.round(min * 100), max: Math.round(max * 100) }).map((n) => n / 100),
  );
}
const text = mostly(
  fc.oneof(fc.lorem({ maxCount: 5 }), fc.string({ unit: 'binary', maxLength: 60 })),
);
const ids = (voices: readonly (typeof VOICES)[number][]): string[] => voices.map(({ id }) => id);
/** Mostly of one family, so that a model chosen by chance fits often enough. */
const voice = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(...ids(VOICES.filter(({ family }) => family === 'vendor'))),
  },
  { weight: 1, arbitrary: fc.constantFrom(...ids(VOICES)) },
);
const model = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom('vendor-s21pro', 'vendor-s21pro-flash', undefined) },
  { weight: 1, arbitrary: fc.constantFrom(...MODELS.map(({ id }) => id), 'unheard-of') },
);
const own = {
  text,
  voiceId: mostly(voice),
  modelId: fc.option(mostly(fc.constantFrom('vendor-s21pro', 'altA-2.8-hd')), { nil: undefined }),
  format: mostly(fc.constantFrom('mp3', 'wav', 'ogg')),
  speed: between(0.6, 2.01),
  volume: between(-20.2, 20.2),
  pitch: between(-12.2, 12.2),
  emotion: mostly(fc.constantFrom('happy', 'odd')),
  textNormalization: mostly(fc.boolean()),
  filterEmoji: mostly(fc.boolean()),
  extra: junk,
};

const ENDPOINTS: readonly (readonly [string, fc.Arbitrary<unknown>, readonly number[]])[] = [
  [
    '/api/open/v3/speech/tts/aligned',
    fc.record(
      { ...own, extra: fc.constant(undefined), modelId: mostly(model) },
      { requiredKeys: ['text', 'voiceId'] },
    ),
    [400, 404],
  ],
  [
    '/api/open/v2/speech/tts',
    fc.record(
      { ...own, engineModelId: mostly(model), minimaxEmotion: junk, version: junk, token: junk },
      { requiredKeys: ['text', 'voiceId'] },
    ),
    [400, 404],
  ],
  [
    '/api/open/v1/speech/tts',
    fc.record(
      { ...own, reference_id: mostly(voice), cache: mostly(fc.boolean()) },
      { requiredKeys: ['text'] },
    ),
    [400, 404],
  ],
  [
    '/v1/tts',
    fc.record(
      {
        text,
        reference_id: mostly(voice),
        format: mostly(fc.constantFrom('mp3', 'wav', 'pcm', 'opus')),
        prosody: mostly(fc.record({ speed: between(0.6, 2.01) })),
        temperature: between(0.5, 1.52),
        top_p: between(0.5, 1.52),
        normalize: mostly(fc.boolean()),
        latency: junk,
        extra: junk,
      },
      { requiredKeys: ['text', 'reference_id'] },
    ),
    [400],
  ],
  [
    '/v1/audio/speech',
    fc.record(
      {
        input: text,
        model: mostly(fc.constantFrom('vendor-s21pro', 'vendor-s1', 'altA-2.8-hd')),
        voice: mostly(fc.oneof(voice, fc.record({ id: voice }))),
        response_format: mostly(fc.constantFrom('mp3', 'wav', 'pcm')),
        speed: between(0.6, 2.01),
        instructions: junk,
      },
      { requiredKeys: ['input', 'model', 'voice'] },
    ),
    [400],
  ],
];

describe('whatever a client sends', () => {
  it.each(ENDPOINTS)(
    'to %s is answered with audio, an address or the error body, and never with a 500',
    async (path, bodies, refusals) => {
      const { call, store, events } = await testService();
      let spoken = 0;
      let refused = 0;
      const headers = { 'Content-Type': 'application/json' };
      await fc.assert(
        fc.asyncProperty(fc.oneof({ weight: 20, arbitrary: bodies }, junk), async (body) => {
          const init = { method: 'POST', headers, body: JSON.stringify(body) };
          const response = await call(path, init);
          if (response.status === 200) {
            expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(0);
            spoken += 1;
            return;
          }
          expect(refusals).toContain(response.status);
          expect(Check(ErrorBody, await response.json())).toBe(true);
          refused += 1;
        }),
        { numRuns: RUNS },
      );
      expect(Math.min(spoken, refused)).toBeGreaterThan(RUNS / 20);
      verifyLedger(store, { full: true });
      expect(events.filter(({ type }) => type === 'failure')).toEqual([]);
    },
    TIMEOUT_MS,
  );
});
