import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countCodePoints } from '../../src/text/code-points.ts';
import {
  display,
  displayText,
  toJson,
  withoutCommands,
  withoutControlBytes,
  withoutControls,
} from '../../src/text/display.ts';

const ESC = '\u001b';

describe('an untrusted string is displayed with escapes', () => {
  it.each([
    ['a coloured name', `${ESC}[31mred${ESC}[0m`, '\\x1b[31mred\\x1b[0m'],
    ['a link (OSC 8)', `${ESC}]8;;http://x${ESC}\\y`, '\\x1b]8;;http://x\\x1b\\y'],
    ['a clipboard write (OSC 52)', `${ESC}]52;c;eA==\u0007`, '\\x1b]52;c;eA==\\x07'],
    ['an eight-bit control sequence', '\u009b2J', '\\x9b2J'],
    ['line ends and tabs', 'a\r\nb\tc', 'a\\r\\nb\\tc'],
    ['a carriage return that overwrites', 'evil\rgood', 'evil\\rgood'],
    ['backspaces and DEL', 'ab\b\u007f', 'ab\\x08\\x7f'],
    ['NUL', 'a\0b', 'a\\x00b'],
    ['a bidirectional override', 'gpj\u202egnp', 'gpj\\u202egnp'],
    ['a bidirectional isolate', '\u2066x\u2069', '\\u2066x\\u2069'],
    ['direction marks', '\u200ex\u061c', '\\u200ex\\u061c'],
    ['zero-width characters', 'a\u200bb\u200cc\ufeffd', 'a\\u200bb\\u200cc\\ufeffd'],
    ['a soft hyphen', 'co\u00adop', 'co\\xadop'],
    ['tag characters', 'a\u{e0041}', 'a\\u{e0041}'],
    ['line separators', 'a\u2028b\u2029', 'a\\u2028b\\u2029'],
    ['lone surrogates', 'a\ud83d!\ude00', 'a\\ud83d!\\ude00'],
    ['a non-character', 'a\ufffe', 'a\\ufffe'],
    ['a joiner between letters', 'a\u200db', 'a\\u200db'],
    ['a variation selector after a letter', 'a\ufe0f', 'a\\ufe0f'],
  ])('%s', (_, given, shown) => {
    expect(display(given)).toBe(shown);
  });

  it.each([
    'plain',
    'naïve café',
    'e\u0301',
    '日本語',
    'ไทย',
    'שלום',
    '😀👍🏽',
    '👩‍👧',
    '❤️‍🔥',
    '1️⃣',
    '®️',
    'C:\\x',
  ])('keeps %s as it is', (text) => {
    expect(display(text)).toBe(text);
    expect(display(`${text}\0`)).toBe(`${text}\\x00`);
  });

  it('has no control character, override or lone surrogate', () => {
    const nasty = fc.constantFrom(
      ESC,
      '\r',
      '\u202e',
      '\u200d',
      '\ud83d',
      '\ude00',
      '👩',
      ':',
      '#',
      '[',
    );
    const text = fc.array(fc.oneof(nasty, fc.string({ unit: 'binary', maxLength: 3 })));
    fc.assert(
      fc.property(text, fc.boolean(), (parts, neutralizeCi) => {
        const shown = display(parts.join(''), { neutralizeCi });
        expect(shown).not.toMatch(
          /[\p{Cc}\p{Cs}\u061c\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f]/u,
        );
        if (neutralizeCi) expect(shown).not.toMatch(/^\s*::|##[a-z]{0,16}\[/i);
      }),
    );
  });
});

it('displayText keeps tabs and line breaks, and escapes the rest', () => {
  expect(displayText('a\tb\n\nc\u001b[31m\r\n')).toBe('a\tb\n\nc\\x1b[31m\\r\n');
  expect(displayText('a\n::error::b')).toBe(`a\n${display('::error::b')}`);
  expect(displayText('')).toBe('');
});

describe('the log commands of CI services are escaped', () => {
  it.each([
    ['::error::x', '\\x3a:error::x'],
    ['a\n \t::error::x\r::b', 'a\n \t\\x3a:error::x\r\\x3a:b'],
    ['a ##vso[task.x]y ###[b]', 'a \\x23#vso[task.x]y #\\x23#[b]'],
    ['a::b ## c\u0000é', 'a::b ## c\u0000é'],
  ])('%j becomes %j', (given, escaped) => {
    expect(withoutCommands(given)).toBe(escaped);
    expect(JSON.parse(toJson({ [given]: given }))).toEqual({ [given]: given });
    expect(toJson({ [given]: given })).not.toMatch(/^\s*::|##[a-z]{0,16}\[/im);
  });
});

describe('control characters are escaped', () => {
  it.each([
    ['a\tb\r\nc\nd é \u200d', 'a\tb\r\nc\nd é \u200d'],
    [`${ESC}[31ma\u0007\r${ESC}[2J\u009b1m\u007f`, '\\x1b[31ma\\x07\\x0d\\x1b[2J\\x9b1m\\x7f'],
  ])('%j becomes %j', (given, escaped) => {
    expect(withoutControls(given, false)).toBe(escaped);
    const bytes = Buffer.from(given).toString('latin1');
    expect(Buffer.from(withoutControlBytes(bytes), 'latin1').toString()).toBe(escaped);
  });

  it('but colors may stay', () => {
    expect(withoutControls(`${ESC}[1;31ma${ESC}[2J${ESC}[0m`, true)).toBe(
      `${ESC}[1;31ma\\x1b[2J${ESC}[0m`,
    );
  });
});

describe('a truncated string', () => {
  it('ends with an ellipsis, which counts', () => {
    expect(display('abcdef', { max: 4 })).toBe('abc…');
    expect(display('abcd', { max: 4 })).toBe('abcd');
    expect(display('😀😀😀', { max: 2 })).toBe('😀…');
  });

  it('never ends inside an escape', () => {
    expect(display(`ab${ESC}cd`, { max: 5 })).toBe('ab…');
    expect(display(`ab${ESC}`, { max: 6 })).toBe('ab\\x1b');
  });

  it('keeps the limit, and is a prefix of the whole', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 30 }), (text, max) => {
        const whole = display(text);
        const shown = display(text, { max });
        expect(countCodePoints(shown)).toBeLessThanOrEqual(max);
        if (shown !== whole) {
          expect(shown.endsWith('…')).toBe(true);
          expect(whole.startsWith(shown.slice(0, -1))).toBe(true);
        }
      }),
    );
  });
});

describe('a command of a build service is escaped', () => {
  it.each([
    ['::add-mask::x', '\\x3a:add-mask::x'],
    ['  ::error file=a::b', '  \\x3a:error file=a::b'],
    ['say ::error::', 'say ::error::'],
    ['x ##[error]y', 'x \\x23#[error]y'],
    ['##vso[task.setvariable]', '\\x23#vso[task.setvariable]'],
    ['## heading', '## heading'],
    ['a\n::error::', 'a\\n::error::'],
  ])('%j becomes %j', (given, shown) => {
    expect(display(given)).toBe(shown);
    expect(display(given, { neutralizeCi: true })).toBe(shown);
    expect(display(given, { neutralizeCi: false })).toBe(given.replace('\n', '\\n'));
  });
});
