import { describe, expect, it } from 'vitest';
import { hear } from '../../../src/service/voices/listen/listen-to-file.ts';
import type { VoiceProfile } from '../../../src/service/voices/listen/voice-analyser.ts';
import { likeness } from '../../../src/service/voices/listen/voice-analyser.ts';
import type { ReferenceVoice } from '../../harness/reference-voice.ts';
import { referenceVoice } from '../../harness/reference-voice.ts';

async function profileOf(voice: ReferenceVoice): Promise<VoiceProfile> {
  const { samples, sampleRate } = referenceVoice(voice);
  const heard = await hear({ kind: 'samples', samples, sampleRate });
  if (heard.kind !== 'heard' || heard.profile === undefined) throw new Error('no voice is heard');
  return heard.profile;
}

describe('a voice that is measured', () => {
  it.each([
    [70, 16_000],
    [110, 8_000],
    [110, 44_100],
    [200, 16_000],
    [200, 48_000],
    [320, 22_050],
  ])('has its median pitch, %d Hz, at %d samples a second', async (medianHz, sampleRate) => {
    const voice = { medianHz, sampleRate, seconds: 3, rangeSemitones: 3 };
    const { medianHz: heard } = await profileOf(voice);
    expect(Math.abs(heard / medianHz - 1)).toBeLessThan(0.03);
  });

  it.each([0, 3, 6])('has a melody of about %d semitones', async (rangeSemitones) => {
    const heard = await profileOf({ medianHz: 150, rangeSemitones });
    expect(Math.abs(heard.rangeSemitones - rangeSemitones)).toBeLessThan(1);
  });

  it.each([0.9, 1, 1.1])('has resonances of %d times the frequency', async (formants) => {
    const [plain, other] = await Promise.all([
      profileOf({ medianHz: 130 }),
      profileOf({ medianHz: 150, formants }),
    ]);
    const found = likeness(other.envelope, plain.envelope);
    expect(Math.abs(found.formants / formants - 1)).toBeLessThan(0.04);
  });

  it.each([
    ['silence', () => 0],
    ['a click', (index: number) => (index === 5_000 ? 1 : 0)],
    ['noise', (index: number) => Math.sin(index * index * 0.37 + (index % 17)) * 0.3],
  ])('is none in %s', async (_what, sample) => {
    const samples = Float32Array.from({ length: 32_000 }, (_, index) => sample(index));
    expect(await hear({ kind: 'samples', samples, sampleRate: 16_000 })).toEqual({
      kind: 'heard',
      profile: undefined,
    });
  });
});
