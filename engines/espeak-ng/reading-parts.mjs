// Parts of the readings that languages share: numbers, dates, units, money, abbreviations.

/** @typedef {import('./reading.mjs').Read} Read */
/** @typedef {import('./reading.mjs').Rule} Rule */

/** A space inside a number or between a number and a unit. */
const SPACE = '[ \\u00a0\\u202f]';
const BEFORE = '(?<![\\p{L}\\d][.,:]?)';
const AFTER = '(?![\\p{L}\\d]|[.,:]\\d)';
const NUMBER = `(?:\\d{1,3}(?:[. \\u00a0\\u202f]\\d{3}){1,4}(?!\\d)|\\d{1,15})(?:,\\d{1,6})?`;

/**
 * Compiles a pattern for a part of a text; `#` is a number, `_` an optional space.
 * @param {string} source
 */
export function pattern(source) {
  const parts = source.replaceAll('#', `(${NUMBER})`).replaceAll('_', `${SPACE}?`);
  return new RegExp(`${BEFORE}(?:${parts})${AFTER}`, 'gu');
}

/**
 * Removes the grouping of a number: `1.234,5` becomes `1234,5`.
 * @param {string} number
 */
export function ungrouped(number) {
  return number.replaceAll(/[^\d,]/g, '');
}

/**
 * Returns the value of a Roman number, or undefined if it is not written as Romans do.
 * @param {string} text
 */
export function romanValue(text) {
  const match = /^(X{0,3})(IX|IV|V?I{0,3})$/.exec(text);
  if (match === null || text === '') return undefined;
  const [, tens = '', digit = ''] = match;
  const ones = ['', 'I', 'II', 'III', 'IV', 'V', 'VI', 'VII', 'VIII', 'IX'].indexOf(digit);
  return tens.length * 10 + ones;
}

/**
 * Rules for dates in digits: `15.03.2024`, `15/3/24`, `2024-03-15`, and `24/12` after some words.
 * @param {{ signs: string, short: RegExp, after: RegExp, say: (day: number, month: number, year:
 *   string | undefined, before: string) => string }} language `signs` separate the parts; `short`
 *   matches a date without a year, and `after` the words before it
 * @returns {Rule[]}
 */
export function dates({ signs, short, after, say }) {
  /** @type {(day: number, month: number, year: string | undefined, before: string) => string | undefined} */
  const read = (day, month, year, before) =>
    day >= 1 && day <= 31 && month >= 1 && month <= 12 ? say(day, month, year, before) : undefined;
  return [
    [
      pattern(`(\\d{1,2})([${signs}])_(\\d{1,2})\\2_(\\d{4}|\\d{2})(?![${signs}]\\d)`),
      ([written, day = '', sign, month = '', year], before) =>
        // `1.2.34` may be a version.
        sign === '.' && written.length < 8 && !after.test(before)
          ? undefined
          : read(+day, +month, year, before),
    ],
    [
      pattern('(\\d{4})-(\\d{2})-(\\d{2})(?!-)'),
      ([, year, month = '', day = ''], before) => read(+day, +month, year, before),
    ],
    [
      short,
      ([, day = '', month = ''], before) =>
        after.test(before) ? read(+day, +month, undefined, before) : undefined,
    ],
  ];
}

/**
 * A rule for units after numbers.
 * @param {Readonly<Record<string, string>>} names what one of the unit is called, and after `|` more
 *   of the unit: `un kilomètre|kilomètres`
 * @param {(number: string) => boolean} isOne
 * @returns {Rule}
 */
export function units(names, isOne = (number) => number === '1') {
  return [
    pattern(`#_(${alternatives(names)})`),
    ([written, number = '', unit = '']) => {
      const [one = '', more] = formsOf(names, unit);
      if (number === '1') return one;
      const name = isOne(ungrouped(number)) ? one.slice(one.indexOf(' ') + 1) : more;
      return `${written.slice(0, number.length)} ${name}`;
    },
  ];
}

/**
 * Rules for money: `3,50 €`, `€20`, `$5 Mio.`
 * @param {Readonly<Record<string, string>>} names of one, of more, and of the hundredth (one, more),
 *   separated by `|`
 * @param {Readonly<Record<string, string>>} scales names of one and of more millions and the like
 * @param {{ and: string, of: (scale: string, name: string) => string }} words `and` is between the
 *   whole and the hundredths
 * @returns {Rule[]}
 */
export function money(names, scales, { and, of }) {
  const currency = `(${alternatives(names)})`;
  const scale = `(?:_(${alternatives(scales)}))?`;
  /** @type {(number: string, step: string | undefined, unit: string) => string | undefined} */
  const read = (number, step, unit) => {
    const [one, more = '', hundredth, hundredths] = formsOf(names, unit);
    const [whole = '', part] = ungrouped(number).split(',');
    if (step !== undefined) {
      const [single = '', several] = formsOf(scales, step);
      const amount = part === undefined ? whole : `${whole},${part}`;
      return of(amount === '1' ? single : `${amount} ${several}`, more);
    }
    if (part !== undefined && part.length !== 2) return `${whole},${part} ${more}`;
    const small = Number(part ?? 0);
    if (+whole === 0 && small > 0) return small === 1 ? hundredth : `${small} ${hundredths}`;
    const large = whole === '1' ? one : `${whole} ${more}`;
    return small === 0 ? large : `${large} ${and}${small}`;
  };
  return [
    [
      pattern(`#(?:,[-–])?${scale}_${currency}`),
      ([, number = '', step, unit = '']) => read(number, step, unit),
    ],
    // With a point and commas, as in English.
    [
      pattern(`${currency}_(\\d{1,3}(?:,\\d{3}){1,3}|\\d{1,9}(?=\\.))(?:\\.(\\d\\d))?`),
      ([, unit = '', whole = '', part = '00']) =>
        read(`${whole.replaceAll(',', '')},${part}`, undefined, unit),
    ],
    [
      pattern(`${currency}_#${scale}`),
      ([, unit = '', number = '', step]) => read(number, step, unit),
    ],
  ];
}

/**
 * Rules for abbreviations. Spaces in an abbreviation are optional.
 * @param {Readonly<Record<string, string | readonly [spoken: string, next: string]>>} names what is
 *   spoken, and a pattern of the text that must follow
 * @returns {Rule[]}
 */
export function abbreviations(names) {
  return Object.entries(names).map(([written, spoken]) => {
    const [name = '', next = ''] = [spoken].flat();
    const source = escaped(written).replaceAll(' ', '[ \\u00a0]?');
    const letter = written.charAt(0);
    const first = letter.toLowerCase() === letter ? `[${letter}${letter.toUpperCase()}]` : letter;
    const end = /\p{L}$/u.test(written) ? '(?![\\p{L}\\d])' : '';
    const follows = next === '' ? '' : `(?=[ \\u00a0]?(?:${next}))`;
    return [
      new RegExp(
        `(?<![\\p{L}\\d][.]?)${first}${source.slice(escaped(letter).length)}${end}${follows}`,
        'gu',
      ),
      ([match]) => (match.endsWith('.') && CLOSING.has(written) ? `${name}.` : name),
    ];
  });
}

/** Abbreviations that may end a sentence keep their point, which makes a pause. */
const CLOSING = new Set(['usw.', 'etc.', 'u. a. m.']);

/**
 * A sign between two numbers, read as a word: `10–15`, but not `747-400`.
 * @param {string} word
 * @returns {Rule}
 */
export function ranges(word) {
  const number = '(\\d{1,6}(?:,\\d{1,3})?)';
  return [
    new RegExp(
      `(?<=(?<![\\p{L}\\d.,–-])${number}(?:h\\d{0,2})?)(?:-|${SPACE}?–${SPACE}?)(?=${number}(?![–-]?\\d))`,
      'gu',
    ),
    ([, from = '', to = '']) =>
      to.length > 2 && parseInt(from, 10) > parseInt(to, 10) ? undefined : ` ${word} `,
  ];
}

/**
 * A minus sign before a number.
 * @param {string} word
 * @returns {Rule}
 */
export function minus(word) {
  return [/(?<=^|[\s(])[-−](?=\d)/gu, () => `${word} `];
}

/**
 * Returns the forms of a name, which `|` separates.
 * @param {Readonly<Record<string, string>>} names
 * @param {string} sign
 */
function formsOf(names, sign) {
  return (names[sign] ?? '').split('|');
}

/** @param {Readonly<Record<string, string>>} names */
function alternatives(names) {
  return Object.keys(names)
    .toSorted((one, other) => other.length - one.length)
    .map(escaped)
    .join('|');
}

/** @param {string} text */
function escaped(text) {
  return text.replaceAll(/[.$^*+?()[\]{}|\\/]/g, '\\$&');
}
