import { describe, expect, test } from 'vitest';
import { createJoiner } from '../../src/audio/join/join.ts';
import type { DecodedAudio } from '../harness/decode-audio.ts';
import { decodeAudio } from '../harness/decode-audio.ts';
import { onsets } from '../harness/onsets.ts';
import { joinAs, joinWith, partOf } from '../audio/join/parts.ts';

const RATE = 16_000;
/** Silence, sound and silence, of three lengths, in samples. */
const PARTS = [
  { silence: 4_000, sound: 90_003 },
  { silence: 6_001, sound: 3_500 },
  { silence: 5_000, sound: 92_345 },
];
const CLOSING = 4_000;
const SILENCE_MS = 150;

/** The delay of encoder and decoder in an mp3 without a tag. */
const MP3_DELAY_MS = (1105 / 24_000) * 1000;

async function decoded(format: 'mp3' | 'wav' | 'ogg', bytes: Buffer): Promise<DecodedAudio> {
  return decodeAudio(format === 'wav' ? withLengths(bytes) : bytes);
}

/** Sets the unknown length of a wav stream. */
function withLengths(wav: Buffer): Buffer {
  const known = Buffer.from(wav);
  known.writeUInt32LE(known.length - 8, 4);
  known.writeUInt32LE(known.length - 44, 40);
  return known;
}

function wave({ silence, sound }: { readonly silence: number; readonly sound: number }) {
  return Float32Array.from({ length: silence + sound + CLOSING }, (_, at) =>
    at < silence || at >= silence + sound ? 0 : 0.5 * Math.sin(at / 4),
  );
}

describe.each(['mp3', 'wav', 'ogg'] as const)('where the parts of a joined %s begin', (format) => {
  test.each([
    ['streams', 'a file', 'stream', true],
    ['streams', 'a stream', 'stream', false],
    ['files', 'a file', 'file', true],
    ['files', 'a stream', 'file', false],
  ] as const)('%s in %s: their sound is where it is in each', async (_, __, kind, isSeekable) => {
    const parts = await Promise.all(
      PARTS.map((part) => partOf(format, part.silence + part.sound + CLOSING, kind, wave(part))),
    );
    const { starts, whole } = await joinAs(format, parts, { isSeekable });
    const heard = onsets(await decoded(format, whole), SILENCE_MS);
    const delay = format === 'mp3' && kind === 'stream' ? MP3_DELAY_MS : 0;
    const expected = PARTS.map(
      ({ silence }, index) => (starts[index] ?? NaN) + (silence / RATE) * 1000 + delay,
    );
    expect(heard).toHaveLength(PARTS.length);
    // A codec may smear a beginning over some milliseconds.
    const off = heard.map((onset, index) => Math.abs(onset - (expected[index] ?? NaN)));
    expect(Math.max(...off), `${heard.join(' ')}, not ${expected.join(' ')}`).toBeLessThan(8);
  });
});

test('a wav counts its samples', async () => {
  const parts = await Promise.all([8_000, 16_000, 4].map((one) => partOf('wav', one, 'stream')));
  const joiner = createJoiner('wav', { isSeekable: true });
  joinWith(joiner, parts);
  expect(joiner.starts()).toEqual([0, (8_000 / RATE) * 1000, (24_000 / RATE) * 1000]);
});
