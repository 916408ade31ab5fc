import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MEDIA_RESULT_MAX_BYTES, MEDIA_RESULT_MAX_PICTURES } from '../../../src/contract/limits.ts';
import { tempoToFit } from '../../../src/service/media/dubbing.ts';
import { billingOf, limitRepeatedSize } from '../../../src/service/media/lipsync/sync-lips.ts';

const sound = (seconds: number, paddingSeconds = 0) => ({
  codec: 'mp3',
  start: 0,
  seconds,
  paddingSeconds,
});

describe('what a lip sync costs', () => {
  test.each([
    ['the shorter one, rounded up', 9.2, sound(10), false, 10, 9.2],
    ['exactly ten seconds', 10, sound(10), false, 10, 10],
    ['ten seconds by a clock that rounds', 10.000_04, sound(10.000_04), false, 10, 10.000_04],
    ['a millisecond more', 10.001, sound(11), false, 11, 10.001],
    ['sound that may have 0.08 s of padding', 12, sound(10.08, 0.08), false, 10, 10.08],
    ['sound without padding', 12, sound(10.08), false, 11, 10.08],
    ['less than a second', 0.04, sound(10), false, 1, 0.04],
    ['less than its padding', 10, sound(0.05, 0.08), false, 1, 0.05],
    ['an extended video: the audio', 3, sound(10.5), true, 11, 10.5],
    ['an extended video that is longer: the audio', 30, sound(10.5), true, 11, 10.5],
  ])('%s', (_what, video, audio, extendsVideo, billedSeconds, seconds) => {
    expect(billingOf(video, audio, extendsVideo)).toEqual({
      seconds,
      billedSeconds,
      credits: billedSeconds * 10,
      rule: extendsVideo ? 'audio_rounded_up' : 'shorter_input_rounded_up',
    });
  });
});

describe('a video that is shown again and again', () => {
  const size = { codec: 'avc', width: 640, height: 360 };
  const second = { ...size, seconds: 1, pictures: 25, bytes: 1_000_000 };

  test.each([
    ['as often as there is room for', second, 1_800],
    ['with as many bytes as there is room for', { ...second, bytes: MEDIA_RESULT_MAX_BYTES }, 1],
    ['with as many pictures', { ...second, pictures: MEDIA_RESULT_MAX_PICTURES / 2 }, 2],
  ])('is made: %s', (_what, video, seconds) => {
    expect(() => limitRepeatedSize(video, seconds)).not.toThrow();
  });

  test.each([
    ['bytes', { ...second, bytes: MEDIA_RESULT_MAX_BYTES }, 1.001],
    ['pictures', { ...second, pictures: MEDIA_RESULT_MAX_PICTURES / 2 }, 2.001],
  ])('is refused above the limit of %s', (unit, video, seconds) => {
    expect(() => limitRepeatedSize(video, seconds)).toThrow(
      expect.objectContaining({
        code: 'ERR_MEDIA_TOO_LARGE',
        message: expect.stringMatching(new RegExp(`^video_url would be repeated .* ${unit}$`)),
      }),
    );
  });
});

describe('how much faster speech is made to fit', () => {
  test.each([
    [5, 10, 0.5],
    [20, 10, 2],
    [10, 10, 1],
    [4.999, 10, undefined],
    [20.001, 10, undefined],
  ])('%d s of speech for %d s of video: %s', (speech, video, tempo) => {
    expect(tempoToFit(speech, video)).toBe(tempo);
  });

  test('what is fitted is as long as the video', () => {
    const seconds = fc.double({ min: 0.1, max: 1_800, noNaN: true });
    fc.assert(
      fc.property(seconds, seconds, (speech, video) => {
        const tempo = tempoToFit(speech, video);
        if (tempo !== undefined) expect(speech / tempo).toBeCloseTo(video, 6);
      }),
    );
  });
});
