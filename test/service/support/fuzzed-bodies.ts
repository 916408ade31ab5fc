import fc from 'fast-check';
import { FAMILIES } from '../../../src/contract/families.ts';
import { VOICES } from '../../../src/service/voices/catalogue-voice.ts';

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
  // Whole hundredths: most doubles are close to zero.
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

/** The body of a speech request: mostly one that could be right, now and then anything at all. */
export const fuzzedBody: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: likely.map(jsonOf) },
  junk.map(jsonOf),
  fc.string(),
);
