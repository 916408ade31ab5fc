import { encode } from '@msgpack/msgpack';
import fc from 'fast-check';
import type { Endpoint } from '../../../src/contract/endpoint.ts';
import { FAMILIES } from '../../../src/contract/families.ts';
import { SpeechRequest } from '../../../src/contract/speech.ts';
import { VOICES } from '../../../src/service/voices/catalogue-voice.ts';
import { DEFINITIONS } from '../../../src/contract/endpoints.ts';
import type { Hints } from '../../harness/schema-arbitrary.ts';
import { allowedBy, junk, nearlyAllowedBy } from '../../harness/schema-arbitrary.ts';

export interface FuzzedRequest {
  readonly path: string;
  readonly content: Content;
  readonly headers: Readonly<Record<string, string>>;
}

/** A voice of the service and the models that it lists. */
export interface NameableVoice {
  readonly voiceId: string;
  readonly modelIds: readonly string[];
}

const ALL: readonly Endpoint[] = DEFINITIONS;
const POSTS = ALL.filter(({ method }) => method === 'POST');

/** Requests to every endpoint that takes a body: right ones, nearly right ones, and broken bytes. */
export function fuzzedRequests(voices: readonly NameableVoice[]): fc.Arbitrary<FuzzedRequest> {
  return fc.oneof(
    ...POSTS.map(({ path, body: schema }) => {
      const arbitrary = fc.constantFrom(...voices).chain((voice) =>
        fc.record({
          path: fc.constant(path),
          content: bodies(schema, hintsOf(voice)),
          headers: headersOf(voice),
        }),
      );
      // Only there is a body that is right often enough to come under a key that was used.
      const isSpeech = /\/speech|\/v1\/tts/.test(path);
      return { weight: isSpeech ? 4 : 1, arbitrary };
    }),
  );
}

/** The JSON of speech requests for the voices of the catalogue: right ones, nearly right ones, and junk. */
export const fuzzedBody: fc.Arbitrary<string> = fc
  .constantFrom(...VOICES)
  .chain(({ family, id: voiceId }) => {
    const modelIds = FAMILIES.find(({ id }) => id === family)?.models ?? [];
    return valuesOf(SpeechRequest, hintsOf({ voiceId, modelIds }));
  })
  .map((value) => JSON.stringify(value) ?? '');

interface Content {
  readonly bytes: Uint8Array;
  readonly type: string;
}

const JSON_TYPE = 'application/json';
const PACKED_TYPE = 'application/msgpack';

function valuesOf(schema: unknown, hints: Hints): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 4, arbitrary: allowedBy(schema, hints) },
    { weight: 6, arbitrary: nearlyAllowedBy(schema, hints) },
    { weight: 1, arbitrary: junk },
  );
}

function bodies(schema: unknown, hints: Hints): fc.Arbitrary<Content> {
  const values = valuesOf(schema, hints);
  const json = values.map((value) => Buffer.from(JSON.stringify(value) ?? ''));
  return fc.oneof(
    { weight: 8, arbitrary: fc.record({ bytes: json, type: fc.constant(JSON_TYPE) }) },
    { weight: 3, arbitrary: fc.record({ bytes: broken(json), type: fc.constant(JSON_TYPE) }) },
    { weight: 1, arbitrary: fc.record({ bytes: deep, type: fc.constant(JSON_TYPE) }) },
    { weight: 1, arbitrary: fc.record({ bytes: json, type: types }) },
    {
      weight: 1,
      arbitrary: fc.record({
        bytes: fc.oneof(packed(values), broken(packed(values))),
        type: fc.constant(PACKED_TYPE),
      }),
    },
  );
}

function packed(values: fc.Arbitrary<unknown>): fc.Arbitrary<Uint8Array> {
  return values.map((value) => encode(JSON.parse(JSON.stringify(value) ?? 'null')).slice());
}

/** Bytes that were right: cut, flipped, doubled, with something before or after them. */
function broken(right: fc.Arbitrary<Uint8Array>): fc.Arbitrary<Uint8Array> {
  return fc
    .tuple(right, fc.nat(1_000), fc.uint8Array({ maxLength: 6 }), fc.nat(3))
    .map(([bytes, place, others, way]) => {
      const at = place % (bytes.length + 1);
      const [head, tail] = [bytes.subarray(0, at), bytes.subarray(at)];
      if (way === 0) return Buffer.from(head);
      if (way === 1) return Buffer.concat([head, others, tail]);
      if (way === 2) return Buffer.concat([head, others, tail.subarray(others.length)]);
      return Buffer.concat([bytes, bytes]);
    });
}

/** Nested so deeply that a recursive reader overflows its stack. */
const deep: fc.Arbitrary<Uint8Array> = fc
  .tuple(
    fc.constantFrom('[', '{"text":', '{"prosody":', '{"voice":{"id":'),
    fc.integer({ min: 1, max: 15_000 }),
    fc.boolean(),
  )
  .map(([step, times, isClosed]) => {
    const closing = step
      .split('')
      .filter((sign) => '[{'.includes(sign))
      .map((sign) => (sign === '[' ? ']' : '}'));
    const end = isClosed ? `0${closing.join('').repeat(times)}` : '';
    return Buffer.from(step.repeat(times) + end);
  });

const types = fc.constantFrom(
  'text/plain',
  'application/json; charset=utf-8',
  'application/json; charset=latin1',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/msgpack; x=y',
  ';',
  'application/json;',
);

function headersOf({ modelIds }: NameableVoice): fc.Arbitrary<Record<string, string>> {
  const visible = fc.stringMatching(/^[!-~]{1,140}$/);
  const few = fc.integer({ min: 0, max: 40 }).map((number) => `key-${number}`);
  return fc.record(
    {
      'Idempotency-Key': fc.oneof(visible, few),
      'X-Request-Id': fc.oneof(visible, few),
      model: fc.oneof(visible, fc.constantFrom('s1', 's2-pro', '1.6', ...modelIds)),
    },
    { requiredKeys: [] },
  );
}

function hintsOf({ voiceId, modelIds }: NameableVoice): Hints {
  const text = fc.oneof(
    { weight: 8, arbitrary: fc.lorem({ maxCount: 3 }) },
    { weight: 2, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }) },
    { weight: 1, arbitrary: fc.constantFrom('(◕‿◕)', ' ', '🙂', '你好。', 'a'.repeat(10_001)) },
  );
  // Tests fetch nothing: these addresses are refused, or no server listens there.
  const address = fc.constantFrom(
    'http://127.0.0.1:1/a.mp4',
    'http://10.0.0.1/a',
    'http://[fe80::1]/',
    'file:///etc/passwd',
    'no address',
  );
  const voice = fc.constant(voiceId);
  const model = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...modelIds) },
    fc.string({ minLength: 1 }),
  );
  return {
    text,
    input: text,
    // Phonemes at random are nearly always signs that no voice speaks.
    pronunciations: fc.constantFrom(
      [],
      [{ word: 'lorem', phonemes: 'ˈloʊɹəm' }],
      [{ word: 'lorem', phonemes: '7' }],
    ),
    // It is spoken three times.
    previewText: fc.lorem({ maxCount: 3 }),
    voiceId: voice,
    reference_id: voice,
    voice: fc.oneof(voice, fc.record({ id: voice })),
    modelId: model,
    model,
    engineModelId: model,
    video_url: address,
    audio_url: address,
    image_url: address,
  };
}
