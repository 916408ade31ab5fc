import { encode } from '@msgpack/msgpack';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FRAME_LIMITS } from '../../src/contract/realtime/limits.ts';
import { UnreadableFrame, decodeFrame, encodeFrame } from '../../src/realtime/frames.ts';

const PROTOCOLS = ['v2', 'v3'] as const;
const bytes = (...values: readonly number[]) => Uint8Array.from(values);
/** Returns `{event: <value>}` with the encoded value. */
const around = (...value: readonly number[]) =>
  bytes(0x81, 0xa5, ...Buffer.from('event'), ...value);

test('v2 has the field names of v3 in snake_case, and model for modelId, at every depth', () => {
  const message = {
    event: 'start',
    requestId: 'r',
    request: { modelId: 'm', voiceId: 'v', parameterProfile: 'product_v1' },
    segments: [{ segmentId: 's', audioBytes: 1 }],
    audio: bytes(1, 2),
  };
  expect(encodeFrame(message, 'v2')).toEqual(
    encode({
      event: 'start',
      request_id: 'r',
      request: { model: 'm', voice_id: 'v', parameter_profile: 'product_v1' },
      segments: [{ segment_id: 's', audio_bytes: 1 }],
      audio: bytes(1, 2),
    }),
  );
  expect(encodeFrame(message, 'v3')).toEqual(encode(message));
});

test('a frame decodes to the message that was encoded', () => {
  const name = fc
    .stringMatching(/^[a-z]{1,6}([A-Z][a-z]{1,6}){0,2}$/)
    .filter((it) => it !== 'model');
  const value = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.boolean(),
    fc.integer(),
    fc.maxSafeNat(),
    fc.constant(null),
    fc.uint8Array({ maxLength: 300 }),
    fc.array(fc.dictionary(name, fc.string({ unit: 'grapheme' }), { noNullPrototype: true })),
  );
  const message = fc
    .dictionary(name, value, { noNullPrototype: true })
    .map((fields) => ({ ...fields, event: 'audio' }));
  fc.assert(
    fc.property(message, fc.constantFrom(...PROTOCOLS), (given, protocol) => {
      const frame = encodeFrame(given, protocol);
      expect(decodeFrame(frame, protocol)).toEqual(given);
    }),
  );
});

test('binary fields are not copied', () => {
  const frame = encodeFrame({ event: 'audio', audio: bytes(1, 2, 3) } as { event: string }, 'v3');
  const { audio } = decodeFrame(frame, 'v3');
  expect(audio instanceof Uint8Array && audio.buffer).toBe(frame.buffer);
});

describe('the decoder rejects', () => {
  test.each<readonly [string, Uint8Array, string]>([
    ['an empty frame', bytes(), 'is not a map'],
    ['a number', bytes(1), 'is not a map'],
    ['a list', bytes(0x90), 'is not a map'],
    ['a map without an event', encode({ other: 1 }), 'has no event'],
    ['an event that is not text', encode({ event: 1 }), 'has no event'],
    [
      'a second message',
      Buffer.concat([encode({ event: 'a' }), encode({ event: 'b' })]),
      'bytes after its map',
    ],
    ['keys that are numbers', bytes(0x81, 1, 0xa1, 0x61), 'a key that is not text'],
    ['keys that are maps', bytes(0x81, 0x80, 0xa1, 0x61), 'a key that is not text'],
    ['the key __proto__', encode(JSON.parse('{"event":"a","__proto__":1}')), 'not MessagePack'],
    ['an extension type', around(0xd4, 1, 0), 'an unsupported type'],
    ['a timestamp', around(0xd6, 0xff, 0, 0, 0, 0), 'an unsupported type'],
    ['an extension with an 8-bit length', around(0xc7, 0, 1), 'an unsupported type'],
    ['the unused type byte', around(0xc1), 'an unsupported type'],
    ['a list above the limit', around(0xdd, 0xff, 0xff, 0xff, 0xff), 'a list that is too long'],
    ['a map above the limit', around(0xdf, 0xff, 0xff, 0xff, 0xff), 'a map that is too long'],
    ['a text above the limit', around(0xdb, 0xff, 0xff, 0xff, 0xff), 'a text that is too long'],
    [
      'binary data above the limit',
      around(0xc6, 0xff, 0xff, 0xff, 0xff),
      'a binary that is too long',
    ],
    ['a list with a missing item', around(0x92, 1), 'is cut off'],
    ['a text with missing bytes', around(0xa5, 0x61), 'is cut off'],
    ['a depth above the limit', around(...Array<number>(40).fill(0x91), 1), 'nested too deeply'],
    ['2000 nested lists of 65535 items', nested(2_000), 'too'],
    ['a frame above the limit', Buffer.alloc(FRAME_LIMITS.frameBytes + 1, 0x80), 'too large'],
  ])('%s', (_what, frame, message) => {
    for (const protocol of PROTOCOLS) {
      expect(() => decodeFrame(frame, protocol)).toThrow(UnreadableFrame);
      expect(() => decodeFrame(frame, protocol)).toThrow(message);
    }
  });

  test('a frame that is cut anywhere', () => {
    const frame = encodeFrame(
      { event: 'ready', sampleRate: 24_000, warnings: [{ code: 'x' }], half: 0.5 } as {
        event: string;
      },
      'v3',
    );
    for (let length = 0; length < frame.length; length += 1) {
      expect(() => decodeFrame(frame.subarray(0, length), 'v3')).toThrow(UnreadableFrame);
    }
  });
});

test('any bytes give a message or an UnreadableFrame', () => {
  const start = fc.constantFrom(around(), bytes(0x82), bytes(0xde, 0, 2), bytes());
  fc.assert(
    fc.property(start, fc.uint8Array({ maxLength: 64 }), (head, rest) => {
      try {
        expect(decodeFrame(Buffer.concat([head, rest]), 'v2').event).toBeTypeOf('string');
      } catch (error) {
        expect(error).toBeInstanceOf(UnreadableFrame);
      }
    }),
    { numRuns: 2_000 },
  );
});

function nested(count: number): Uint8Array {
  return around(...Array.from({ length: count }, () => [0xdc, 0xff, 0xff]).flat());
}
