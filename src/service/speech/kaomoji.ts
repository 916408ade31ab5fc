/**
 * Removes decorative kaomoji such as `\(◕ω◕)/` from a text, with their arms (docs/api/speech.md#v3, `filterEmoji`). A
 * kaomoji is a mouth between two matching eyes, in brackets, with at least one character that is not ASCII. Keeps
 * emoji, ASCII faces, and faces in code, URLs, quotes or tags.
 */
export function removeKaomoji(text: string): string {
  return withoutKaomoji(text)
    .map(({ start, end }) => text.slice(start, end))
    .join('');
}

/** Returns the parts of a text that {@link removeKaomoji} keeps, in order, as ranges of UTF-16 units. */
export function withoutKaomoji(text: string): readonly KaomojiSpan[] {
  const kept = protectedSpans(text).toSorted((one, other) => one.start - other.start);
  let [next, keptUntil] = [0, 0];
  const parts: KaomojiSpan[] = [];
  let last: string | undefined;
  let position = 0;
  for (const { start, end } of faces(text)) {
    const from = withLeftArms(text, start, position);
    const to = withRightArms(text, end);
    for (let span = kept[next]; span !== undefined && span.start < to; span = kept[next]) {
      keptUntil = Math.max(keptUntil, span.end);
      next += 1;
    }
    if (from < keptUntil) continue;
    if (from > position) {
      parts.push({ start: position, end: from });
      last = text[from - 1];
    }
    position = isGap(last) && isGap(text[to]) ? to + 1 : to;
  }
  return [...parts, { start: position, end: text.length }];
}

const CLOSERS = new Map([
  ['(', ')）'],
  ['（', ')）'],
  ['ʕ', 'ʔ'],
]);
const EYES = '◕•●○◉⊙☉◔◑◐ಠಥ눈ʘ°º˘¬■□￣─╥≧≦✧★☆◠♥❤♡ﾟ゜˙・･ᵔㅠㅜᴗ一ー^-><;*@=~TtoOxX´｀`';
const DRAWN = /(?!\p{Extended_Pictographic})[\p{So}\p{Sk}\u203f\u2040\u2054\ufe30-\ufe4f\uff3f]/u;
const MOUTHS = '‿ωᴥ▽ヮДд□ー﹏益ㅂ∀З口◡∇△ᗜ︿皿ᵕᴗʖ_.-oO3~^w';
const CHEEKS = "；，、´｀`｡。*✿oO⁄/╯ノﾉづヽ⌐✧☆★♡＊#;'";
const MIRRORED_EYES = new Set(['≧≦', '><', '°º', '´`', '`´', '´｀', '｀´']);
const MOUTHS_OF_LETTERS = 'ω▽﹏Дд‿';
const LEFT_ARMS = '‹ヽヾ＼\\٩ᕙᕕლ乁¯_づノﾉง┬─ ';
const RIGHT_ARMS = '›ヽノﾉ/／۶ᕗლㄏ¯_づง╯︵┻━┬─彡 ';
const SPARKLES = /[*:･ﾟ✧☆♪]*[･ﾟ✧☆♪]/y;
const FACE_MAX_LENGTH = 24;
const BARE_FACE = /(?<![\p{L}\p{M}\p{N}])([ಠಥ])[_‿益﹏ωДಎ.]{1,3}\1(?![\p{L}\p{M}\p{N}])/uy;

interface KaomojiSpan {
  readonly start: number;
  readonly end: number;
}

function* faces(text: string): Generator<KaomojiSpan> {
  for (let start = 0; start < text.length; start += 1) {
    BARE_FACE.lastIndex = start;
    const bare = 'ಠಥ'.includes(text.charAt(start)) ? BARE_FACE.exec(text)?.[0].length : undefined;
    if (bare !== undefined) {
      yield { start, end: start + bare };
      start += bare - 1;
      continue;
    }
    const closers = CLOSERS.get(text.charAt(start));
    const end = closers === undefined ? -1 : closing(text, start + 1, closers);
    if (end === -1) continue;
    const inner = text.slice(start + 1, end).replaceAll(/[\p{M}\s]/gu, '');
    if (!isFace(inner) && !isShrug(text, { start, end }, inner)) continue;
    yield { start, end: end + 1 };
    start = end;
  }
}

function closing(text: string, from: number, closers: string): number {
  for (let index = from; index < Math.min(text.length, from + FACE_MAX_LENGTH); index += 1) {
    const character = text.charAt(index);
    if (closers.includes(character)) return index;
    if (CLOSERS.has(character)) return -1;
  }
  return -1;
}

function isFace(inner: string): boolean {
  const positions = Array.from({ length: inner.length }, (_, index) => index);
  const eyes = positions.filter((index) => consistsOf(inner.charAt(index), EYES));
  return eyes.some((left) => eyes.some((right) => isFaceAround(inner, left, right)));
}

function isFaceAround(inner: string, left: number, right: number): boolean {
  const mouth = inner.slice(left + 1, right);
  const pair = inner.charAt(left) + inner.charAt(right);
  const cheeks = inner.slice(0, left) + inner.slice(right + 1);
  return (
    mouth.length >= 1 &&
    mouth.length <= 4 &&
    (pair[0] === pair[1] || MIRRORED_EYES.has(pair)) &&
    !(pair[0] === pair[1] && isOnly(mouth, pair.charAt(0))) &&
    (/[a-z]/i.test(pair) ? isOnly(mouth, MOUTHS_OF_LETTERS) : consistsOf(mouth, MOUTHS)) &&
    consistsOf(cheeks, CHEEKS) &&
    /[^\p{ASCII}]/u.test(pair + mouth)
  );
}

function isShrug(text: string, { start, end }: KaomojiSpan, inner: string): boolean {
  return inner === 'ツ' && text.endsWith('\\_', start) && text.startsWith('_/', end + 1);
}

function withLeftArms(text: string, start: number, limit: number): number {
  let from = start;
  while (from > limit && LEFT_ARMS.includes(text.charAt(from - 1))) from -= 1;
  const isWord = from > limit && isLetter(text.charAt(from - 1)) && text.charAt(from) !== ' ';
  if (isWord) return start;
  while (from < start && text.charAt(from) === ' ') from += 1;
  return from;
}

function withRightArms(text: string, end: number): number {
  let to = end;
  while (to < text.length && RIGHT_ARMS.includes(text.charAt(to))) to += 1;
  const isWord = isLetter(text.charAt(to)) && text.charAt(to - 1) !== ' ';
  if (isWord) return end;
  while (to > end && text.charAt(to - 1) === ' ') to -= 1;
  SPARKLES.lastIndex = to;
  return to + (SPARKLES.exec(text)?.[0].length ?? 0);
}

function consistsOf(part: string, characters: string): boolean {
  return Array.from(part).every((one) => characters.includes(one) || DRAWN.test(one));
}

function isOnly(part: string, characters: string): boolean {
  return Array.from(part).every((one) => characters.includes(one));
}

function isLetter(character: string): boolean {
  return /\p{L}/u.test(character);
}

function isGap(character: string | undefined): boolean {
  return character === undefined || /\s/.test(character);
}

const DELIMITERS = [
  ['```', '```'],
  ['"', '"'],
  ['“', '”'],
  ['„', '“'],
  ['«', '»'],
  ['「', '」'],
  ['『', '』'],
] as const;

const PATTERNS = [
  /(?<![^\s("'[{])`[^`\n]{1,500}`/g,
  /(?<![\p{L}\p{N}])'[^'\n]{1,200}'(?![\p{L}\p{N}])/gu,
  /\b[a-z][a-z0-9+.-]{0,20}:\/\/\S+/gi,
  /\bwww\.\S+/gi,
  /<\/?[a-z][^<>\n]{0,200}>/gi,
  /\[[^[\]\n]{1,200}\]/g,
  /\{[^{}\n]{1,200}\}/g,
];

function protectedSpans(text: string): readonly KaomojiSpan[] {
  return [
    ...DELIMITERS.flatMap(([open, close]) => between(text, open, close)),
    ...PATTERNS.flatMap((pattern) =>
      [...text.matchAll(pattern)].map(({ index, 0: found }) => ({
        start: index,
        end: index + found.length,
      })),
    ),
  ];
}

function between(text: string, open: string, close: string): readonly KaomojiSpan[] {
  const spans: KaomojiSpan[] = [];
  let position = 0;
  for (;;) {
    const start = text.indexOf(open, position);
    const end = start === -1 ? -1 : text.indexOf(close, start + open.length);
    if (end === -1) return spans;
    position = end + close.length;
    spans.push({ start, end: position });
  }
}
