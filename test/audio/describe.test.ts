import { describe, expect, it } from 'vitest';
import { describeDuration, describeSound } from '../../src/audio/verify.ts';
import { opusOf, wavOf } from './samples.ts';
import { verifyBytes } from './verify-bytes.ts';

describe('the summary of a sound', () => {
  it.each([
    [0, '0.0 s'],
    [340, '0.3 s'],
    [59_940, '59.9 s'],
    [59_960, '1:00.0'],
    [62_500, '1:02.5'],
    [3_602_000, '1:00:02'],
  ])('%d ms is %s', (durationMs, words) => {
    expect(describeDuration(durationMs)).toBe(words);
  });

  it('has the format and the known length, rate and channels', () => {
    expect(describeSound(verifyBytes('wav', wavOf(1.5, 22_050)))).toBe(
      'wav, 1.5 s, 22.05 kHz, mono',
    );
    expect(describeSound(verifyBytes('ogg', opusOf(10)))).toBe('ogg (opus), 0.2 s, 48 kHz, mono');
    expect(describeSound(verifyBytes('pcm', Buffer.alloc(8)))).toBe('pcm');
  });
});
