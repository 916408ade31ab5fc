/** The country whose English is spoken. It decides the order of dates and the `and` in numbers. */
export type Region = 'US' | 'GB';

/** Parses a list such as `written=spoken|written=spoken`. Entries may also be separated by line breaks. */
export function table(list: string): ReadonlyMap<string, string> {
  const entries = list.split(/\|\s*|\n\s*/).map((entry) => {
    const at = entry.lastIndexOf('=');
    return [entry.slice(0, at), entry.slice(at + 1)] as const;
  });
  return new Map(entries);
}

/** Parses a list of words that are separated by spaces. */
export function words(list: string): readonly string[] {
  return list.trim().split(/\s+/);
}

const SMALL = words(`zero one two three four five six seven eight nine ten eleven twelve thirteen
 fourteen fifteen sixteen seventeen eighteen nineteen`);
const TENS = ',,twenty,thirty,forty,fifty,sixty,seventy,eighty,ninety'.split(',');
const SCALES = ['', ' thousand', ' million', ' billion', ' trillion'];

// A number with more digits is read digit by digit.
const LONGEST_CARDINAL = 15;

/**
 * Returns a whole number in words. The number may have leading zeros or commas: `1,234` → `one
 * thousand two hundred thirty-four`.
 */
export function cardinal(written: string | number, region: Region): string {
  const digits = String(written)
    .replaceAll(/\D/g, '')
    .replace(/^0+(?=\d)/, '');
  if (digits.length > LONGEST_CARDINAL) return spellDigits(digits);
  if (digits === '0') return 'zero';
  const groups: string[] = [];
  for (let end = digits.length, scale = 0; end > 0; end -= 3, scale += 1) {
    const value = Number(digits.slice(Math.max(0, end - 3), end));
    if (value === 0) continue;
    const isLast = scale === 0 && digits.length > 3;
    const and = region === 'GB' && isLast && value < 100 ? 'and ' : '';
    groups.unshift(`${and}${hundreds(value, region)}${SCALES[scale]}`);
  }
  return groups.join(' ');
}

function hundreds(value: number, region: Region): string {
  const rest = value % 100;
  const head = value < 100 ? '' : `${SMALL[Math.floor(value / 100)]} hundred`;
  if (rest === 0) return head;
  if (head === '') return below100(rest);
  return `${head} ${region === 'GB' ? 'and ' : ''}${below100(rest)}`;
}

function below100(value: number): string {
  if (value < 20) return SMALL[value] ?? '';
  const tens = TENS[Math.floor(value / 10)] ?? '';
  return value % 10 === 0 ? tens : `${tens}-${SMALL[value % 10]}`;
}

const IRREGULAR = table(
  `one=first|two=second|three=third|five=fifth|eight=eighth|nine=ninth|twelve=twelfth`,
);

/** Returns an ordinal number in words: `21` → `twenty-first`. */
export function ordinal(written: string | number, region: Region): string {
  return cardinal(written, region).replace(/[a-z]+$/, (last) => {
    const regular = last.endsWith('y') ? `${last.slice(0, -1)}ieth` : `${last}th`;
    return IRREGULAR.get(last) ?? regular;
  });
}

/** Returns the plural of a spoken number: `sixty` → `sixties`. */
export function plural(spoken: string): string {
  if (spoken.endsWith('y')) return `${spoken.slice(0, -1)}ies`;
  return `${spoken}${spoken.endsWith('x') ? 'es' : 's'}`;
}

/**
 * Returns the singular or the plural of a noun.
 * @param names both forms, such as `foot/feet`; or only the singular if the plural adds an `s`
 */
export function inflect(names: string, isOne: boolean): string {
  const [one = '', many = `${one}s`] = names.split('/');
  return isOne ? one : many;
}

/** Returns the digits of a text in words, one by one. Leaves out all other characters. */
export function spellDigits(written: string): string {
  return Array.from(written.matchAll(/\d/g), ([digit]) => SMALL[Number(digit)]).join(' ');
}

/** Returns a whole or decimal number in words: `12.05` → `twelve point zero five`. */
export function decimal(written: string, region: Region): string {
  const [whole = '', part] = written.split('.');
  const head = whole === '' ? '' : cardinal(whole, region);
  if (part === undefined) return head;
  return `${head} point ${spellDigits(part)}`.trimStart();
}

/** Returns a year in words: `1984` → `nineteen eighty-four`, `2005` → `two thousand five`. */
export function year(written: string | number, region: Region): string {
  const value = Number(written);
  if (value < 1000 || value > 9999) return cardinal(value, region);
  if (value % 1000 < 10) return cardinal(value, region);
  return pairs(String(value));
}

/**
 * Returns three or four digits in words, read as two numbers: `747` → `seven forty-seven`, `1905` → `nineteen oh five`.
 */
export function pairs(digits: string): string {
  const head = Number(digits.slice(0, -2));
  const rest = Number(digits.slice(-2));
  if (digits.length < 3 || digits.length > 4 || digits.startsWith('0')) return spellDigits(digits);
  if (digits.endsWith('000')) return cardinal(digits, 'US');
  if (rest === 0) return `${below100(head)} hundred`;
  return `${below100(head)} ${rest < 10 ? 'oh ' : ''}${below100(rest)}`;
}

/** Returns a fraction in words: `3/4` → `three quarters`. */
export function fraction(over: number, under: number, region: Region): string {
  const part = under === 2 ? 'half' : under === 4 ? 'quarter' : ordinal(under, region);
  if (over === 1) return `one ${part}`;
  return `${cardinal(over, region)} ${part === 'half' ? 'halves' : `${part}s`}`;
}

const ROMAN = /^M{0,3}(?:CM|CD|D?C{0,3})(?:XC|XL|L?X{0,3})(?:IX|IV|V?I{0,3})$/;
const ROMAN_DIGITS = new Map(Object.entries({ I: 1, V: 5, X: 10, L: 50, C: 100, D: 500, M: 1000 }));

/** Returns the value of a Roman numeral in capital letters; undefined for any other word. */
export function romanValue(written: string): number | undefined {
  if (written === '' || written.length > 15 || !ROMAN.test(written)) return undefined;
  const values = Array.from(written, (letter) => ROMAN_DIGITS.get(letter) ?? 0);
  return values.reduce(
    (sum, value, at) => sum + (value < (values[at + 1] ?? 0) ? -value : value),
    0,
  );
}

/** Returns two digits of a year or a time in words: `05` → `oh five`. */
export function twoDigits(digits: string): string {
  return digits.startsWith('0') ? `oh ${below100(Number(digits))}` : below100(Number(digits));
}
