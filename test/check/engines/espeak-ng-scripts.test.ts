import { describe, expect, it } from 'vitest';
import { ADAPTERS, espeakEngine } from './espeak-under-test.ts';

interface Voice {
  readonly espeak: string;
  readonly language: string;
}

interface Adapter {
  readonly VOICES: readonly Voice[];
  scriptsOf(voice: Voice): string[];
  variantOf(voice: Voice, semitones: number, lines: (name: string) => readonly string[]): string;
  loadEspeak(): Promise<{
    variantLines(name: string): readonly string[];
    speak(utterance: { text: string; voice: string; variant: string; speed: number }): {
      events: readonly { type: string; id?: string }[];
    };
  }>;
}

const { loadEspeak, scriptsOf, VOICES, variantOf }: Adapter = {
  ...(await import(`${ADAPTERS}parts/espeak.mjs`)),
  ...(await import(`${ADAPTERS}espeak-ng/voices.mjs`)),
};

/** A word in each script, by its ISO 15924 code. */
const WORDS: Readonly<Record<string, string>> = {
  Latn: 'hello',
  Cyrl: 'привет',
  Grek: 'καλημέρα',
  Armn: 'ջուր',
  Geor: 'გამარჯობა',
  Hebr: 'שלום',
  Arab: 'كتاب',
  Syrc: 'ܠܫܢܐ',
  Thaa: 'ދިވެހި',
  Deva: 'नमस्ते',
  Beng: 'নমস্কার',
  Guru: 'ਪੰਜਾਬੀ',
  Gujr: 'ગુજરાતી',
  Orya: 'ନମସ୍କାର',
  Taml: 'தமிழ்',
  Telu: 'నమస్కారం',
  Knda: 'ಕನ್ನಡ',
  Mlym: 'മലയാളം',
  Sinh: 'සිංහල',
  Thai: 'น้ำ',
  Laoo: 'ລາວ',
  Tibt: 'བོད',
  Mymr: 'မြန်မာ',
  Khmr: 'ខ្មែរ',
  Ethi: 'አማርኛ',
  Cher: 'ᏣᎳᎩ',
  Mong: 'ᠮᠣᠩᠭᠣᠯ',
  Hang: '한국어',
  Hani: '你好',
  Hira: 'ひらがな',
  Kana: 'カタカナ',
  Bopo: 'ㄋㄧ',
};

const espeak = await loadEspeak();
const LANGUAGES = [...new Map(VOICES.map((voice) => [voice.espeak, voice])).values()];

/** Whether a voice speaks a word. Where it says names of letters instead, it stresses each, or says many sounds. */
function isSpoken(voice: Voice, word: string): boolean {
  const variant = variantOf(voice, 0, (name) => espeak.variantLines(name));
  const { events } = espeak.speak({ text: word, voice: voice.espeak, variant, speed: 1 });
  const sounds = events.flatMap(({ id, type }) => (type === 'phoneme' && id ? [id] : []));
  const stresses = sounds.filter((sound) => /[ˈˌ]/u.test(sound)).length;
  const letters = (word.match(/\p{L}/gu) ?? []).length;
  return sounds.length > 0 && sounds.length < 4 * letters && stresses < letters;
}

describe('the scripts that espeak-ng declares', () => {
  it.each(LANGUAGES.map((voice) => [voice.language, voice] as const))(
    'are those whose words it speaks: %s',
    (language, voice) => {
      const spoken = Object.keys(WORDS).filter((code) => isSpoken(voice, WORDS[code] ?? ''));
      // Japanese text has Latin letters as abbreviations, which are spelled.
      if (language === 'ja') spoken.push('Latn');
      expect(scriptsOf(voice).toSorted()).toEqual(spoken.toSorted());
    },
  );

  it('let the service report other letters', async () => {
    const engine = await espeakEngine();
    const unspoken = (voice: string) =>
      engine.unspoken?.({ text: 'Привет, 你好 hello', voice, speed: 1, pitch: 0 });
    expect(unspoken('en-us-man')).toEqual([
      { start: 0, end: 6 },
      { start: 8, end: 10 },
    ]);
    expect(unspoken('ru-man')).toEqual([{ start: 8, end: 10 }]);
    expect(unspoken('cmn-man')).toEqual([{ start: 0, end: 6 }]);
    await engine.close();
  });
});
