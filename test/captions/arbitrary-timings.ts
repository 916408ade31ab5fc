import fc from 'fast-check';
import type { Timings } from '../../src/captions/timings.ts';
import { timingsOf } from '../../src/captions/timings.ts';

/** Words of many scripts with punctuation, and strings that are not words. */
export const WORDS = [
  'Hello,',
  'world.',
  'the',
  'a',
  'of',
  '“Wait!”',
  '(never',
  'again)',
  "don't",
  'well-known',
  'Dr.',
  'e.g.',
  '2026',
  '$42.50',
  '50%',
  'St.',
  'U.S.A.',
  '—',
  'word—word',
  '…',
  '...',
  '-->',
  '<b>bold</b>',
  'R&D',
  '&amp;',
  'https://example.org/a/very/long/path?that=goes&on=and#on',

  'schön',
  'scho\u0308n',
  'Straße',
  'naïve',
  'e\u0301te\u0301',
  '3.',
  'Mai',
  'Übung.',
  'z.',
  'B.',

  '👋',
  '👩‍👩‍👧‍👦',
  '🇩🇪',
  '❤️',
  '🎉🎉🎉',
  'שלום',
  'עולם.',
  'مرحبا،',
  'بالعالم؟',
  '\u200fא\u200e',
  'नमस्ते',
  'दुनिया।',
  '안녕하세요',
  '세계.',
  'สวัสดีครับ',
  'ผมชื่อสมชาย',
  'ຂ້ອຍ',
  '«',
  'Bonjour',
  '»',

  '今日はとても良い天気ですね。',
  '「明かりを消さないでください。」',
  'コンピューター',
  'Node.jsの機能',

  '没有人回答。',
  '“这是谁写的？”她问道。',
  '二百一十七级台阶，',
  '我们在学习中文',
  '42.5元',
  '々ー',

  '\ufeff',
  '\u200b',
  'soft\u00adhyphen',
  'zero\u200bwidth',
  '\u00a0',
  '10\u00a0000',
  'x'.repeat(60),
];

const SPACES = [
  ' ',
  ' ',
  ' ',
  ' ',
  '',
  '  ',
  '\n',
  '\n\n',
  '\r\n',
  '\t',
  '\u3000',
  '\u00a0',
  '\u2028',
  '\u0007',
];

const spaced = (words: fc.Arbitrary<string>, maxLength: number): fc.Arbitrary<string> =>
  fc
    .array(fc.tuple(words, fc.constantFrom(...SPACES)), { minLength: 0, maxLength })
    .map((pairs) => pairs.map(([word, space]) => word + space).join(''));

/** Usual and unusual texts. */
export const arbitraryText: fc.Arbitrary<string> = fc.oneof(
  { weight: 5, arbitrary: spaced(fc.constantFrom(...WORDS), 40) },
  {
    weight: 2,
    arbitrary: spaced(
      fc.oneof(fc.constantFrom(...WORDS), fc.string({ unit: 'grapheme', maxLength: 12 })),
      25,
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .string({ unit: 'binary', maxLength: 80 })
      .filter((text) => !/\p{Surrogate}/u.test(text)),
  },
);

/** Spellings of the words of a text by a service. */
const SPELLINGS: readonly ((text: string) => string[])[] = [
  (text) => text.split(/\s+/u),
  (text) => text.toLowerCase().match(/[\p{L}\p{M}\p{N}'’]+/gu) ?? [],
  (text) => Array.from(text),
  (text) => [text],
  (text) => text.match(/\S+\s+\S+|\S+/gu) ?? [],
  (text) => text.normalize('NFD').replaceAll(/\d+/g, 'some number').split(' '),
  () => ['nothing', 'of', 'the', 'kind'],
  () => [],
];

/** A text with word times of a service, from exact to nonsense. */
export function arbitraryTimings(
  text: fc.Arbitrary<string> = arbitraryText,
): fc.Arbitrary<Timings> {
  return fc
    .record({
      text,
      spelling: fc.constantFrom(...SPELLINGS),
      steps: fc.array(fc.tuple(fc.integer({ min: 0, max: 900 }), pause), {
        minLength: 1,
        maxLength: 60,
      }),
      lost: fc.array(fc.boolean(), { maxLength: 20 }),
      tailMs: fc.integer({ min: 0, max: 2_000 }),
    })
    .map(({ text: whole, spelling, steps, lost, tailMs }) => {
      let at = 0;
      const words = spelling(whole)
        .filter((word, index) => word.trim() !== '' && lost[index] !== true)
        .map((word, index) => {
          const [length = 0, silence = 0] = steps[index % steps.length] ?? [];
          const startMs = at;
          at += length + silence;
          return { text: word, startMs, endMs: startMs + length };
        });
      return timingsOf({ text: whole, durationMs: at + tailMs, complete: true, words });
    });
}

const pause = fc.oneof(
  { weight: 6, arbitrary: fc.constant(0) },
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 700 }) },
  { weight: 1, arbitrary: fc.integer({ min: 700, max: 9_000 }) },
);

export const arbitraryShape = fc.record({
  maxChars: fc.constantFrom(1, 7, 16, 32, 42, 80),
  maxLines: fc.integer({ min: 1, max: 4 }),
  maxDurationMs: fc.constantFrom(500, 2_000, 7_000, 60_000),
  minDurationMs: fc.constantFrom(0, 300, 500),
  maxCps: fc.constantFrom(5, 17, 20, 60),
  gapMs: fc.constantFrom(0, 84),
  minPauseMs: fc.constantFrom(0, 500, 1_000),
  by: fc.constantFrom('phrase', 'sentence', 'word'),
});
