import { describe, expect, test } from 'vitest';
import { VOICES } from '../../src/service/voices/catalogue-voice.ts';
import { type Delivered, measured } from '../service/engine/measured-level.ts';

/** Loudness of every voice with every control, and how far a voice may be from it. */
const LUFS = -20;
const TOLERANCE_LU = 1;
const MAX_TRUE_PEAK_DB = -1;

async function expectCommonLevel(delivered: Delivered): Promise<void> {
  const { lufs, truePeakDb } = await measured(delivered);
  expect(Math.abs(lufs - LUFS), `${lufs} LUFS`).toBeLessThan(TOLERANCE_LU);
  expect(truePeakDb).toBeLessThanOrEqual(MAX_TRUE_PEAK_DB);
}

describe('the loudness is the same', () => {
  test.each(VOICES.map(({ engine, name }) => [name, engine] as const))(
    'for %s',
    async (_, { pitch, speed, voice }) => expectCommonLevel({ voice, pitch, speed }),
  );

  test.each(
    ['clara', 'martin', 'maya'].flatMap((voice) =>
      [-12, -5, 3, 7, 12].map((pitch) => ({ voice, pitch })),
    ),
  )('for $voice at a pitch of $pitch semitones', async ({ pitch, voice }) =>
    expectCommonLevel({ voice, pitch, speed: 1 }),
  );

  test.each(
    ['clara', 'martin', 'maya'].flatMap((voice) => [0.5, 2].map((speed) => ({ voice, speed }))),
  )('for $voice at speed $speed', async ({ speed, voice }) =>
    expectCommonLevel({ voice, pitch: 0, speed }),
  );

  test.each(['mp3', 'ogg', 'opus', 'pcm'] as const)('in the format %s', async (format) =>
    expectCommonLevel({ voice: 'martin', pitch: 0, speed: 1, format }),
  );
});

describe('no true peak is above -1 dB', () => {
  test.each(['wav', 'mp3', 'ogg', 'opus', 'pcm'] as const)(
    'in %s, however loud',
    async (format) => {
      for (const voice of ['hugo', 'martin', 'clara']) {
        for (const gainDb of [6, 20]) {
          const { truePeakDb } = await measured({ voice, pitch: 2, speed: 1, format, gainDb });
          expect(truePeakDb, `${voice}, ${gainDb} dB`).toBeLessThanOrEqual(MAX_TRUE_PEAK_DB);
        }
      }
    },
  );
});

test('the volume changes the loudness by its decibels, as far as the peaks allow', async () => {
  const plain = { voice: 'iris', pitch: 0, speed: 1 } as const;
  const own = await measured(plain);
  for (const gainDb of [-20, -6, 3, 6]) {
    const { lufs } = await measured({ ...plain, gainDb });
    // Natural voices have higher peaks, which the limiter lowers at 6 dB.
    expect(Math.abs(lufs - own.lufs - gainDb), `${gainDb} dB`).toBeLessThan(gainDb > 3 ? 1.5 : 0.5);
  }
});
