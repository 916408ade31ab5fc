import type { Lookup } from './sorted-lines.ts';

/** A word or mark of a text, as the tagger expects it: `don't` is the tokens `do` and `n't`. */
export interface TaggerToken {
  /** Range in the text, in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  /** The characters of the range, with straight apostrophes. */
  readonly text: string;
}

/**
 * Splits a text into words and marks by the rules of spaCy's English tokenizer, as far as plain words need them.
 * The time is proportional to the length of the text.
 * @param contractions words that are divided, or keep their full stop
 */
export function tokenize(text: string, contractions: Lookup): readonly TaggerToken[] {
  const straight = text.replaceAll(/[’‘]/g, "'");
  const tokens: TaggerToken[] = [];
  for (const { 0: chunk, index } of straight.matchAll(/\S+/gu)) {
    const range = { text: straight, start: index, end: index + chunk.length };
    for (const token of splitChunk(range, contractions)) tokens.push(token);
  }
  return tokens;
}

const LONGEST_CONTRACTION = 16;
const PREFIX =
  /\.{2,}|[…—–,:;!?¿¡()[\]{}<>_#*&"'“”`´‚„»«%=§$£€¥@~^|\\/]|\+(?!\d)|[^\p{L}\p{N}\p{M}\-.+°\s]/uy;
const SUFFIX =
  /'[sS]$|[—–,:;!?()[\]{}<>_#*&"'“”`´‚„»«…%=§$£€¥@~^|\\/]$|\.{2,}$|(?<=[\p{Ll}\d)\]}"'“”%²])\.$|(?<=\p{Lu}\p{Lu})\.$|(?<=\d)\+$|[^\p{L}\p{N}\p{M}\-.+°\s]$/u;
const INFIX =
  /\.{2,}|…|[^\p{L}\p{N}\p{M}\s\p{P}\p{S}]|(?<=[\p{Ll}"'])\.(?=[\p{Lu}"'])|(?<=\p{L}),(?=\p{L})|(?<=\p{L})(?:-{1,3}|[–—~])(?=\p{L})|(?<=[\p{L}\d])[:<>=/](?=\p{L})|(?<=\d)[+\-*^](?=[\d-])/gu;

interface TokenRange {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

function splitChunk(chunk: TokenRange, contractions: Lookup): readonly TaggerToken[] {
  const { text } = chunk;
  let { start, end } = chunk;
  const before: TaggerToken[] = [];
  const after: TaggerToken[] = [];
  while (start < end) {
    const parts = partsOf(text, start, end, contractions);
    if (parts !== undefined) return [...before, ...parts, ...after.reverse()];
    const [prefix, suffix] = [prefixLength(text, start, end), suffixLength(text, start, end)];
    if (prefix === 0 && suffix === 0) break;
    if (prefix > 0) before.push(tokenOf(text, start, start + prefix));
    start += prefix;
    if (suffix > 0 && start < end) after.push(tokenOf(text, end - suffix, end));
    if (start < end) end -= suffix;
  }
  return [...before, ...splitInside(text, start, end), ...after.reverse()];
}

function tokenOf(text: string, start: number, end: number): TaggerToken {
  return { start, end, text: text.slice(start, end) };
}

/** Returns the parts of a contraction, or undefined if the range is none. */
function partsOf(
  text: string,
  start: number,
  end: number,
  contractions: Lookup,
): readonly TaggerToken[] | undefined {
  if (end - start > LONGEST_CONTRACTION) return undefined;
  const parts = contractions(text.slice(start, end))?.split(' ');
  let at = start;
  return parts?.map((part) => {
    at += part.length;
    return tokenOf(text, at - part.length, at);
  });
}

function prefixLength(text: string, start: number, end: number): number {
  PREFIX.lastIndex = start;
  const found = PREFIX.exec(text)?.[0].length ?? 0;
  return Math.min(found, end - start);
}

function suffixLength(text: string, start: number, end: number): number {
  // Every suffix but a run of full stops is found in the last characters.
  const found = SUFFIX.exec(text.slice(Math.max(start, end - 4), end))?.[0].length ?? 0;
  if (found < 2 || text[end - 1] !== '.') return found;
  let at = end - 1;
  while (at > start && text[at - 1] === '.') at -= 1;
  return end - at;
}

/** Splits what has no mark at its ends: `well-known`, `and/or`, `hello...world`. */
function splitInside(text: string, start: number, end: number): readonly TaggerToken[] {
  const tokens: TaggerToken[] = [];
  const inside = text.slice(start, end);
  let at = 0;
  for (const { 0: mark, index } of inside.matchAll(INFIX)) {
    if (index > at) tokens.push(tokenOf(text, start + at, start + index));
    tokens.push(tokenOf(text, start + index, start + index + mark.length));
    at = index + mark.length;
  }
  if (at < inside.length) tokens.push(tokenOf(text, start + at, end));
  return tokens;
}
