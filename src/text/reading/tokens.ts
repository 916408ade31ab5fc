import { mayBeAbbreviation } from '../sentences.ts';
import type { Region } from './numbers.ts';
import { words } from './numbers.ts';
import { CURRENCY_SIGN } from './currencies.ts';
import { signName, WORD_SIGN_CLASS } from './signs.ts';

/** A word of the text, and the punctuation directly before and after it. */
export interface Token {
  readonly text: string;
  /** Start of the word in the text, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  readonly before: string;
  readonly after: string;
}

/**
 * A token in its context. `tokens` contains all tokens of the text, `at` is the index of the token, and `region` is the
 * country whose English is spoken.
 */
export interface Place {
  readonly tokens: readonly Token[];
  readonly at: number;
  readonly region: Region;
}

// The limited length keeps every rule fast for any text.
const CHUNK = new RegExp(
  `[–${WORD_SIGN_CLASS}]|[^\\s\\p{Cc}\\u200B…—―–${WORD_SIGN_CLASS}]{1,200}`,
  'gu',
);
// Two words can meet without a space at a double dash or in a Markdown link.
const SEAM = /\]\(|(?<=[\p{L}\d.,!?"'])--+(?=[\p{L}"'])/gu;
const WORD_CHARACTER = /[\p{L}\p{N}]/u;
// Signs that foley can read when they stand alone.
const LONE_SIGN = /^(?:[-–&+=@%/<>*×÷±≈→←↔⇒€£¥₹$¢§©°^]|§§|°[CF]|->|=>|<=|>=|==|!=|[-+]=|[≤≥≠]|&&)$/;
const AROUND_SIGN = /^([("'[]?)(!=|[^.,;:!?)\]"']{1,3})([.,;:!?)\]"']{0,3})$/;
const CURRENCY = new RegExp(`^(?:${CURRENCY_SIGN})$`);

/** Splits a text into tokens. The time is proportional to the length. */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  for (const { 0: chunk, index } of text.matchAll(CHUNK)) {
    let start = 0;
    for (const dash of /--|\]\(/.test(chunk) ? chunk.matchAll(SEAM) : []) {
      add(tokens, chunk.slice(start, dash.index), index + start);
      start = dash.index + dash[0].length;
    }
    add(tokens, chunk.slice(start), index + start);
  }
  return joinThousands(tokens, text);
}

const FIRST_DIGITS = /^\p{Sc}?[1-9]\d{0,2}$/u;
const THREE_DIGITS = /^\d{3}(?:\.\d{1,2})?(?![\d.,:/]|-\d)/;
// Units of what is not sold in packs, so that the number before them has no other number before it.
const SPACED_UNIT =
  /^(?:km|mi|m|km²|km\/s|m\/s|km\/h|kWh|MWh|[MG]W|ha|people|inhabitants|residents|euros|[€£])$/;
// The longest number that is not also a telephone number.
const MOST_DIGITS = 8;

/**
 * Joins the groups of a number whose thousands are separated by spaces: `25 000` becomes `25,000`. With plain spaces, a
 * group must begin with a zero or a unit must follow, because `2 500 g packs` are two numbers.
 */
function joinThousands(tokens: readonly Token[], text: string): Token[] {
  const joined: Token[] = [];
  for (let at = 0; at < tokens.length; at += 1) {
    const [first, ...groups] = thousandsAt(tokens, at, text);
    const last = groups.at(-1);
    if (first === undefined) break;
    if (last === undefined) joined.push(first);
    else {
      const written = [first, ...groups].map((group) => group.text).join(',');
      joined.push({ ...first, text: written, end: last.end, after: last.after });
      at += groups.length;
    }
  }
  return joined;
}

function thousandsAt(tokens: readonly Token[], at: number, text: string): readonly Token[] {
  const groups = tokens.slice(at, at + 1);
  const spaces = new Set<string>();
  if (!FIRST_DIGITS.test(groups[0]?.text ?? '')) return groups;
  for (const token of tokens.slice(at + 1, at + 5)) {
    const last = groups.at(-1);
    const isNext = last?.after === '' && token.before === '' && token.start === last.end + 1;
    if (!isNext || !THREE_DIGITS.test(token.text)) break;
    spaces.add(text.charAt(last.end));
    groups.push(token);
  }
  const digits = groups.map((group) => /^\p{Sc}?(\d*)/u.exec(group.text)?.[1] ?? '');
  const isPhone = digits.join('').length > MOST_DIGITS && digits.at(-1) !== '000';
  const next = tokens[at + groups.length]?.text ?? '';
  const hasUnit = SPACED_UNIT.test(next) && groups.at(-1)?.after === '';
  const isOne =
    hasUnit || !spaces.has(' ') || digits.slice(1).some((group) => group.startsWith('0'));
  const isLast = !/^\d{3}/.test(next) || groups.at(-1)?.after !== '';
  return isOne && isLast && (hasUnit || !isPhone) ? groups : groups.slice(0, 1);
}

function add(tokens: Token[], chunk: string, index: number): void {
  if (!WORD_CHARACTER.test(chunk)) {
    const [, before = '', text = '', after = ''] = AROUND_SIGN.exec(chunk) ?? [];
    const start = index + before.length;
    if (LONE_SIGN.test(text) || signName(text) !== undefined)
      tokens.push({ text, start, end: start + text.length, before, after });
    return;
  }
  let from = 0;
  let to = chunk.length;
  while (from < to && isLeading(chunk, from)) from += characterAt(chunk, from).length;
  while (to > from && isTrailing(chunk, from, to)) to -= characterBefore(chunk, to).length;
  const last = tokens.at(-1);
  const token = {
    text: chunk.slice(from, to),
    start: index + from,
    end: index + to,
    before: chunk.slice(0, from),
    after: chunk.slice(to),
  };
  if (
    last !== undefined &&
    from === 0 &&
    (last.end + 1 === index ||
      (last.text === 'Rs' && last.after === '.' && last.end + 2 === index)) &&
    CURRENCY.test(last.text) &&
    /^\d/.test(chunk)
  ) {
    tokens[tokens.length - 1] = { ...token, text: last.text + token.text, start: last.start };
  } else tokens.push(token);
}

const LEADING = /[\p{P}\p{So}\p{Sk}\p{Cf}\p{M}\p{Cs}`|^=$™®]/u;

function isLeading(chunk: string, at: number): boolean {
  const sign = characterAt(chunk, at);
  const following = chunk.slice(at + sign.length, at + sign.length + 3);
  if (/['’‘]/.test(sign)) return !/^\d0s/.test(following);
  if (sign === '°') return false;
  if (/[♭♯♮]/.test(sign)) return !/^[\p{L}\d]/u.test(following);
  // One sign, because `==` marks a highlight.
  if (sign === '=') return at > 0 || !/^[\p{L}\d]/u.test(following);
  if (/[#@/©§$]/.test(sign)) return !/^[\p{L}\d.]/u.test(following);
  if (sign === '.')
    return !/^(?:\d|\.?\/|[a-z]{3}|(?:py|js|ts|md|sh|go|rs|cc|rb|gz|xz|7z|kt|so|db|NET)\b)/.test(
      following,
    );
  if (sign === '-')
    return !/^(?:[\d.$€£]|-?[A-Za-z])/.test(following) || chunk.charAt(at - 1) === '-';
  return LEADING.test(sign);
}

const TRAILING = /[\p{P}\p{So}\p{Sk}\p{Cf}\p{M}\p{Cs}~`|<>=^$]/u;
const OWN_TRAILING = /[%‰°€£¥₹¢#/)\]♭♯♮]/;
const FEET = /^\d{1,2}(?:-\d{1,2})?\/\d{1,2}["″”]$|^\d{1,3}(?:['′’]-?\d{0,2})?(?:\.\d)?["'″′”’]$/;

function isTrailing(chunk: string, from: number, to: number): boolean {
  const sign = characterBefore(chunk, to);
  const core = chunk.slice(from, to);
  if (/\p{M}/u.test(sign)) return !/\p{L}\p{M}{0,20}$/u.test(core);
  if (sign === ')') return !core.includes('(');
  if (sign === ']') return !core.includes('[');
  if (sign === '=') return chunk.charAt(to) === '=' || !/^[\p{L}\p{N}]{1,20}=$/u.test(core);
  if (sign === '/') return !/^[~.]?\/|:|^w\/$/.test(core);
  if (sign === '$') return !/\d\$$/.test(core);
  if (/["'″′”’]/.test(sign)) return !FEET.test(core) || /["“'‘]/.test(chunk.slice(0, from));
  return !OWN_TRAILING.test(sign) && TRAILING.test(sign);
}

function characterAt(text: string, at: number): string {
  return String.fromCodePoint(text.codePointAt(at) ?? 0);
}

function characterBefore(text: string, at: number): string {
  const pair = text.slice(at - 2, at);
  return /^[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(pair) ? pair : text.charAt(at - 1);
}

// In addition to the abbreviations that the sentence splitter knows.
const SHORT = /^(?:apt|ste|rm|bldg|rte|sq|cu|fl|tbsp|tsp|gal|acct)$/i;

/**
 * Returns the word that is `back` positions before the token. Returns an empty string if a sentence or clause ends right
 * after that word.
 */
export function previousWord({ tokens, at }: Place, back = 1): string {
  const token = tokens[at - back];
  if (token === undefined || /[!?;:…)]/.test(token.after)) return '';
  const isShort = mayBeAbbreviation(token.text) || SHORT.test(token.text);
  return token.after.startsWith('.') && !isShort ? '' : token.text;
}

/** Returns the word `ahead` positions after the token; empty if punctuation stands between the token and that word. */
export function nextWord({ tokens, at }: Place, ahead = 1): string {
  for (const { after } of tokens.slice(at, at + ahead)) {
    if (/[^*_`]/.test(after)) return '';
  }
  const token = tokens[at + ahead];
  return token === undefined || /["“(]/.test(token.before) ? '' : token.text;
}

/** Returns true if a word begins with a capital letter and can be a name. */
export function isName(word: string): boolean {
  return /^\p{Lu}[\p{L}'’.-]*$/u.test(word) && !FUNCTION_WORDS.has(word.toLowerCase());
}

/** Words that are not names, even if they begin with a capital letter at the start of a sentence. In lower case. */
export const FUNCTION_WORDS: ReadonlySet<string> = new Set(
  words(`a an and are as at be but by can did do does for from had has have he her his how i if in into is it its my no not
  of off on once one or our out over she so such than that the their then there these they this those to under up us
  was we were what when where which while who why will with would you your see near visit call ask tell said says
  before after since until about also only just today yesterday both all dear via per`),
);
