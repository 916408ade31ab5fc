import { describe, expect, test } from 'vitest';
import { speakableText } from '../../../../src/service/engine/flite/speakable-text.ts';
import { requireTool } from '../../../harness/require-tool.ts';
import { LISTENER, slotSentence, slotWords, spokenWords } from '../../../harness/spoken-words.ts';
import { medianPitch } from '../../../harness/median-pitch.ts';
import { level, speak } from '../speak.ts';

const SAMPLE_RATE = 16_000;
const SENTENCE = 'The quick brown fox jumps over the lazy dog.';
const VOICES = ['slt', 'rms', 'awb', 'kal16'] as const;

const seconds = (samples: Float32Array) => samples.length / SAMPLE_RATE;
const pitchOf = (options: Parameters<typeof speak>[1]) =>
  medianPitch({ samples: speak(SENTENCE, options), sampleRate: SAMPLE_RATE });

describe('speech', () => {
  test.each(VOICES)('of %s has the words of the text', async (voice) => {
    requireTool(LISTENER);
    const choices = [2, 3, 1, 0, 3, 2, 1, 0];
    const samples = speak(slotSentence(choices), { voice });
    const { words } = await spokenWords({ samples, sampleRate: SAMPLE_RATE });
    expect(words).toEqual(slotWords(choices));
  });

  test.each(VOICES)('of %s is as loud as that of the others', (voice) => {
    const samples = speak(SENTENCE, { voice });
    expect(level(samples)).toBeGreaterThan(-22);
    expect(level(samples)).toBeLessThan(-18);
  });

  test.each([
    ['Note: yes.', 'Note.'],
    ['Hello there. Yes', 'Hello there.'],
  ])('of %j has its last word, also when that is a sentence of its own', (whole, beginning) => {
    expect(seconds(speak(whole)) - seconds(speak(beginning))).toBeGreaterThan(0.4);
  });

  test('is the same each time for the same text, and another for another voice', () => {
    expect(speak(SENTENCE)).toEqual(speak(SENTENCE));
    expect(speak(SENTENCE).length).not.toBe(speak(SENTENCE, { voice: 'awb' }).length);
  });

  test('of a voice that does not exist is refused', () => {
    expect(() => speak(SENTENCE, { voice: '../slt' })).toThrow(RangeError);
  });
});

describe('controls', () => {
  test.each(VOICES)('speed divides the duration of %s', (voice) => {
    const own = seconds(speak(SENTENCE, { voice }));
    for (const speed of [0.5, 2]) {
      const ratio = (seconds(speak(SENTENCE, { voice, speed })) * speed) / own;
      expect(ratio).toBeGreaterThan(0.97);
      expect(ratio).toBeLessThan(1.03);
    }
  });

  test('speed has limits', () => {
    expect(speak(SENTENCE, { speed: 100 })).toEqual(speak(SENTENCE, { speed: 4 }));
    expect(speak('Hi.', { speed: 0 })).toEqual(speak('Hi.', { speed: 0.25 }));
  });

  test.each([
    ['slt', 172],
    ['awb', 132],
  ] as const)('pitch moves the tone of %s by semitones', (voice, own) => {
    for (const pitch of [-6, 0, 6, 12]) {
      const tone = pitchOf({ voice, pitch });
      expect(Math.abs(12 * Math.log2(tone / own) - pitch)).toBeLessThan(0.6);
    }
  });

  test('pitch moves the tone of kal16, and has limits', () => {
    const tones = [-3, 4, 12].map((pitch) => pitchOf({ voice: 'kal16', pitch }));
    expect(tones).toEqual([...tones].sort((a, b) => a - b));
    expect(12 * Math.log2((tones[2] ?? 0) / (tones[1] ?? 1))).toBeGreaterThan(6);
    expect(speak('Hi.', { pitch: 60 })).toEqual(speak('Hi.', { pitch: 24 }));
    expect(speak('Hi.', { pitch: -60 })).toEqual(speak('Hi.', { pitch: -24 }));
  });

  test('pitch leaves the duration alone, and rms as it is', () => {
    expect(speak(SENTENCE, { pitch: 5 }).length).toBe(speak(SENTENCE).length);
    expect(speak(SENTENCE, { voice: 'rms', pitch: 5 })).toEqual(speak(SENTENCE, { voice: 'rms' }));
  });
});

describe('text is data', () => {
  /** No one speaks faster than ten characters a second is slow: more than this is not the words. */
  const SECONDS_PER_CHARACTER = 0.6;

  test.each([
    ['SSML', '<speak>Hello<break time="100000s"/>world</speak>'],
    ['rates of SSML', '<prosody rate="0.01">Hello</prosody>'],
    ['commands of other engines', 'Hello [[slnc 100000]] \\pau=100000\\ {pause} world'],
    ['flags', '-voice kal16 --setf duration_stretch=50 -o out.wav hello'],
    ['escapes', 'Hello %s %n %1000000d \\x00 \\e[31m world'],
    ['many digits', '9'.repeat(100)],
    ['signs', '%$#@&*'.repeat(12)],
    ['one letter', 'W'.repeat(80)],
    ['words of one letter', 'w '.repeat(40)],
  ])('%s', (_name, text) => {
    const duration = seconds(speak(speakableText(text)));
    expect(duration).toBeGreaterThan(0.5);
    expect(duration).toBeLessThan(text.length * SECONDS_PER_CHARACTER);
  });

  test('the words between markup are said', async () => {
    requireTool(LISTENER);
    const choices = [0, 1, 2, 3, 3, 2, 1, 0];
    const marked = slotSentence(choices).replaceAll(' ', '\t');
    const samples = speak(speakableText(`<<${marked}>>\0`));
    const { words } = await spokenWords({ samples, sampleRate: SAMPLE_RATE });
    expect(words).toEqual(slotWords(choices));
  });
});
