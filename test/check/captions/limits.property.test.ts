import { parse } from '@plussub/srt-vtt-parser';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test, vi } from 'vitest';
import type { CueShape } from '../../../src/captions/cue-shape.ts';
import { CUE_PRESETS, DEFAULT_GAPS } from '../../../src/captions/cue-shape.ts';
import { shapeCues } from '../../../src/captions/shape-cues.ts';
import { subtitlesOf } from '../../../src/captions/subtitles.ts';
import { timingsOf } from '../../../src/captions/timings.ts';
import type { Timings } from '../../../src/captions/timings.ts';
import { tokenize } from '../../../src/captions/tokens.ts';
import { arbitraryTimings } from '../../captions/arbitrary-timings.ts';
import { unescaped } from '../../captions/parsed.ts';

const numRuns = process.env['FOLEY_TEST_SIZE'] === 'full' ? 50_000 : 5_000;

vi.setConfig({ testTimeout: 900_000 });

/** The published limits, once more: columns, lines, shortest and longest duration, columns per second, gaps. */
const PUBLISHED = {
  netflix: [42, 2, 833, 7_000, 20, 84, 500],
  bbc: [37, 2, 1_000, 7_000, 17, 0, 1_000],
} as const;

const DEFAULT: CueShape = { ...CUE_PRESETS.netflix, minDurationMs: 1_000, by: 'phrase' };
const SHAPES: readonly CueShape[] = [
  DEFAULT,
  { ...CUE_PRESETS.netflix, by: 'phrase' },
  { ...CUE_PRESETS.bbc, by: 'phrase' },
  { ...CUE_PRESETS.netflix, by: 'sentence' },
  { ...CUE_PRESETS.bbc, by: 'sentence' },
];

const LANGUAGES: readonly (readonly string[])[] = [
  `The old keeper wrote a letter to the town and nobody knew why “never again” he said (so they
   tell) "yes" and 'no' at 5 p.m. https://example.org/a/very/long/path?that=goes&on=and#on 🎉 — I a`,
  `Die alte Wärterin schrieb „nie wieder“ und »vielleicht« an die Stadt, obwohl am 3. Mai niemand
   Donaudampfschifffahrtskapitänsmützenfabrik (so sagt man) z. B. da war 👋`,
  `Elle a dit : « Où est-il ? » puis « jamais » et l'homme (très vieux) n'a rien répondu à 50 % …`,
  `¿Dónde está? ¡Nunca! dijo la mujer «del norte» y se fue a las 10:30 con 42,50 €`,
  `Она сказала: «Никогда больше», и ушла — в 5 часов (так говорят) . !`,
  `قالت المرأة: «لن أعود»، ثم ذهبت (هكذا يقولون) 🎉`,
  `彼女は「もう帰りません。」と言いました。 没有人回答。“这是谁写的？”她问道。 (笑) 二百一十七级台阶，`,
  `สวัสดีครับ ผมชื่อสมชาย “ไม่ไปแล้ว” เขาพูด ๆ และเดินออกไป`,
  `안녕하세요 “다시는 안 와요” 라고 말했다. 세계. (네)`,
].map((text) => text.split(/\s+/));

/** Text of one language as a person or an engine speaks it, at 4 to 30 letters per second, with pauses. */
const arbitrarySpeech: fc.Arbitrary<Timings> = fc
  .record({
    language: fc.constantFrom(...LANGUAGES),
    picks: fc.array(fc.nat(), { minLength: 1, maxLength: 60 }),
    msPerLetter: fc.integer({ min: 33, max: 250 }),
    pauses: fc.array(fc.constantFrom(0, 0, 0, 0, 20, 100, 450, 900, 2_500), {
      minLength: 5,
      maxLength: 20,
    }),
    ends: fc.array(fc.constantFrom('', '', '', '', '', ',', '.', '?', ';'), {
      minLength: 5,
      maxLength: 20,
    }),
    breaks: fc.array(fc.constantFrom(' ', ' ', ' ', ' ', ' ', '\n'), {
      minLength: 3,
      maxLength: 20,
    }),
    tailMs: fc.constantFrom(0, 0, 300, 2_000),
  })
  .map(({ breaks, ends, language, msPerLetter, pauses, picks, tailMs }) => {
    let at = 0;
    let text = '';
    const words = picks.map((pick, index) => {
      const word = `${language[pick % language.length] ?? ''}${ends[index % ends.length] ?? ''}`;
      text += `${word}${breaks[index % breaks.length] ?? ' '}`;
      const startMs = at;
      const endMs = startMs + msPerLetter * stringWidth(word);
      at = endMs + (pauses[index % pauses.length] ?? 0);
      return { text: word, startMs, endMs };
    });
    return timingsOf({ text, durationMs: at + tailMs, complete: true, words });
  });

const arbitraryCase = fc.record({
  timings: fc.oneof(
    { weight: 3, arbitrary: arbitrarySpeech },
    { weight: 1, arbitrary: arbitraryTimings() },
  ),
  shape: fc.constantFrom(...SHAPES),
});

test('the presets have the published limits', () => {
  for (const [name, limits] of Object.entries(PUBLISHED)) {
    const { maxChars, maxLines, minDurationMs, maxDurationMs, maxCps, gapMs, minPauseMs } =
      name === 'bbc' ? CUE_PRESETS.bbc : CUE_PRESETS.netflix;
    const used = [maxChars, maxLines, minDurationMs, maxDurationMs, maxCps, gapMs, minPauseMs];
    expect(used).toStrictEqual(limits);
  }
  expect([DEFAULT_GAPS.gapMs, DEFAULT_GAPS.minPauseMs]).toStrictEqual([84, 500]);
});

describe('the subtitles of any text', () => {
  test('are within the limits, or reported', () => {
    fc.assert(
      fc.property(arbitraryCase, fc.constantFrom('srt', 'vtt'), ({ timings, shape }, format) => {
        const { content, cues, violations } = subtitlesOf(timings, shape, format);
        const read = content === '' ? [] : parse(content).entries;
        expect(read).toHaveLength(cues);
        const reported = new Set(violations.map(({ cue, rule }) => `${cue} ${rule}`));
        let earlier: number | undefined;
        for (const [index, { from, to, text: markup }] of read.entries()) {
          const lines = (format === 'vtt' ? unescaped(markup) : markup).split('\n');
          const outside = outsideLimits({ from, to, lines }, earlier, shape);
          for (const rule of outside) expect(reported).toContain(`${index + 1} ${rule}`);
          // These limits hold for every text.
          expect(outside).not.toContain('lines');
          expect(outside).not.toContain('max-duration');
          expect(to).toBeGreaterThan(from);
          expect(from).toBeGreaterThanOrEqual(earlier ?? 0);
          earlier = to;
        }
      }),
      { numRuns },
    );
  });

  test('have the words of the text in order, and no lines wider than the limit but single words', () => {
    fc.assert(
      fc.property(arbitraryCase, ({ timings, shape }) => {
        const lines = shapeCues(timings, shape).flatMap((cue) => cue.lines);
        const tokens = tokenize(timings.text).map(({ text }) => text);
        expect(lines.flat().map(({ text }) => text)).toStrictEqual(tokens);
        for (const line of lines) {
          const width = line.reduce((sum, { gap, text }, at) => {
            return sum + stringWidth(text) + (at === 0 ? 0 : gap.length);
          }, 0);
          if (line.length > 1) expect(width).toBeLessThanOrEqual(shape.maxChars);
        }
      }),
      { numRuns },
    );
  });
});

/** Separate marks that begin or end a quotation in every language. */
const OPENS = /^[“«([]+$/u;
const CLOSES = /^[”»)\]]+$/u;

test('lines do not end with an opening mark or begin with a closing one, if the word fits beside it', () => {
  const marked = fc.tuple(arbitrarySpeech, fc.constantFrom(...SHAPES));
  fc.assert(
    fc.property(marked, ([timings, shape]) => {
      const tokens = tokenize(timings.text);
      let next = 0;
      for (const { lines } of shapeCues(timings, shape)) {
        for (const { length } of lines) {
          next += length;
          const [last, first] = [tokens[next - 1], tokens[next]];
          if (last === undefined || first === undefined || first.lineBreaks > 0) continue;
          // Several signs may belong to one word.
          if (last.width + first.width + 12 > shape.maxChars) continue;
          expect(last.text).not.toMatch(OPENS);
          expect(first.text).not.toMatch(CLOSES);
        }
      }
    }),
    { numRuns: numRuns / 5 },
  );
});

interface ReadCue {
  readonly from: number;
  readonly to: number;
  readonly lines: readonly string[];
}

/** Returns the rules that a cue breaks, measured without the code of foley; widths may be off by ambiguous signs. */
function outsideLimits({ from, lines, to }: ReadCue, earlier: number | undefined, shape: CueShape) {
  const rules: string[] = [];
  const widths = lines.map((line) => stringWidth(line));
  const duration = to - from + 1;
  if (widths.some((width) => width > shape.maxChars)) rules.push('line-length');
  if (lines.length > shape.maxLines) rules.push('lines');
  if (duration < shape.minDurationMs) rules.push('min-duration');
  if (duration - 2 > shape.maxDurationMs) rules.push('max-duration');
  const width = widths.reduce((sum, each) => sum + each, 0);
  if (width / (duration / 1_000) > shape.maxCps) rules.push('reading-speed');
  const gap = earlier === undefined ? undefined : from - earlier;
  if (gap === undefined) return rules;
  const isFlicker = gap > shape.gapMs + 42 && gap < shape.minPauseMs - 1;
  if (gap < shape.gapMs - 1 || isFlicker) rules.push('gap');
  return rules;
}
