import { readFormula } from './formula.ts';
import {
  highlightLength,
  LONGEST_DIALECT_MARK,
  LONGEST_SCRIPT_MARK,
  readScript,
  readWikiLink,
} from './markdown-dialects.ts';
import { superscriptText } from './superscript.ts';

/** Maximum length of a link's text or of an HTML tag, in UTF-16 units. Longer ones are read as plain text. */
export const LONGEST_MARK = 1_000;
const LONGEST_ADDRESS = 20_000;
/** Maximum nesting depth of brackets, and of inline Markdown marks. */
export const MAX_DEPTH = 20;

/** An inline Markdown mark: a delimiter such as `**`, a link, an HTML tag or an escape. */
export interface MarkdownMark {
  /** Number of UTF-16 units that the mark occupies. */
  readonly length: number;
  /** Plain text that is spoken in place of the mark, such as `&` for `&amp;`. */
  readonly text?: string;
  /** Markdown between the delimiters, such as the text of a link. It may contain further marks. */
  readonly marked?: string;
  readonly isImage?: boolean;
  /** Set only for the backticks around a code span: at its beginning, the number of backticks; at its end, 0. */
  readonly span?: number;
  readonly isBreak?: boolean;
}

interface MarkContext {
  /** The character before the mark. */
  readonly previous: string;
  /** The last characters of the text before the mark. */
  readonly tail: string;
  readonly isEnd: boolean;
  readonly span: number;
}

type ReadMark = (rest: string, context: MarkContext) => MarkdownMark | undefined;

/** Matches each character that can begin an inline Markdown mark outside of headings. */
export const TEXT_MARK = /[\n\\`*_~^![<&|$=]/;
export const HEADING_MARK = /[\n\\`*_~^![<&#$=]/;
const WORD = /[\p{L}\p{N}]/u;

function readRun(
  rest: string,
  { isEnd, previous }: MarkContext,
  isText: (around: { run: string; before: string; after: string }) => boolean,
): MarkdownMark | undefined {
  const sign = rest.charAt(0);
  let length = 1;
  while (rest.charAt(length) === sign) length += 1;
  const after = rest.charAt(length);
  if (after === '' && !isEnd) return undefined;
  const run = rest.slice(0, length);
  const isAlone = (previous === '' || /\s/.test(previous)) && (after === '' || /\s/.test(after));
  return isAlone || isText({ run, before: previous, after }) ? { length, text: run } : { length };
}

const BLANK_LINE = /\n[ \t]*\n/;

const literal = (rest: string): MarkdownMark => ({ length: 1, text: rest.charAt(0) });

/**
 * Functions that parse an inline Markdown mark, indexed by the first character of the mark. A function returns
 * undefined if it needs more Markdown to find the end of the mark.
 */
export const INLINE: Readonly<Record<string, ReadMark>> = {
  '\n': () => ({ length: 1 }),
  '\\': (rest, { isEnd, previous }) => {
    const next = rest.charAt(1);
    if (next === '') return isEnd ? literal(rest) : undefined;
    if (next === '(' || next === '[') {
      const closer = next === '(' ? '\\)' : '\\]';
      if (!hasCloser(rest, closer, isEnd)) return undefined;
      const formula = readFormula(rest, previous);
      if (formula !== undefined) return formula;
    }
    if (next === '\n') return { length: 1, isBreak: true };
    return /[!-/:-@[-`{-~]/.test(next) ? { length: 2, text: next } : literal(rest);
  },
  '*': (rest, context) =>
    readRun(rest, context, ({ after, before, run }) => {
      return run === '*' && WORD.test(before) && WORD.test(after);
    }),
  _: (rest, context) =>
    readRun(rest, context, ({ after, before }) => WORD.test(before) && WORD.test(after)),
  '~': (rest, context) => {
    if (!hasScript(rest, context.isEnd)) return undefined;
    return readScript(rest, context.previous) ?? readRun(rest, context, ({ run }) => run !== '~~');
  },
  '^': (rest, { isEnd, previous, tail }) => {
    if (!hasScript(rest, isEnd)) return undefined;
    const mark = readScript(rest, previous);
    if (mark === undefined) return literal(rest);
    const next = rest.slice(mark.length, mark.length + AFTER_SUPERSCRIPT);
    return { length: mark.length, text: superscriptText(tail, mark.text, next) };
  },
  '`': (rest, { isEnd, span }) => {
    const length = /^`+/.exec(rest)?.[0].length ?? 1;
    if (length === rest.length && !isEnd) return undefined;
    if (span === 0) return { length, span: length };
    return length === span ? { length, span: 0 } : { length, text: rest.slice(0, length) };
  },
  '#': (rest, { isEnd, previous }) => {
    const closing = /^#+[ \t]*/.exec(rest)?.[0] ?? '';
    const after = rest.charAt(closing.length);
    if (after === '' && !isEnd) return undefined;
    const isClosing = /\s/.test(previous) && (after === '' || after === '\n');
    return isClosing ? { length: closing.length } : literal(rest);
  },
  $: (rest, { isEnd, previous }) => {
    if (/^\$[\d.,]*$/.test(rest) && !isEnd) return undefined;
    if (/^\$(?:\s|[\d.,]+\s)/.test(rest)) return literal(rest);
    const closer = rest.startsWith('$$') ? '$$' : '$';
    if (!hasCloser(rest, closer, isEnd)) return undefined;
    return readFormula(rest, previous) ?? literal(rest);
  },
  '=': (rest, { isEnd, previous }) => {
    if (rest.length < 3 && !isEnd) return undefined;
    if (!/^==[^\s=]/.test(rest) || /[\p{L}\p{N}=]/u.test(previous)) return literal(rest);
    if (!hasCloser(rest, '==', isEnd)) return undefined;
    const length = highlightLength(rest, previous);
    return length === undefined ? literal(rest) : { length, marked: rest.slice(2, length - 2) };
  },
  '!': (rest, context) => {
    if (rest.length < 3 && !context.isEnd) return undefined;
    if (rest.startsWith('![[')) {
      if (!hasCloser(rest, ']]', context.isEnd)) return undefined;
      const embedded = readWikiLink(rest, context.previous);
      if (embedded !== undefined)
        return { length: embedded.length, marked: embedded.text, isImage: true };
    }
    if (rest.charAt(1) !== '[') return literal(rest);
    const link = readLink(rest.slice(1), context.isEnd);
    if (link === undefined) return undefined;
    return link === 'none' ? literal(rest) : { ...link, length: link.length + 1, isImage: true };
  },
  '[': (rest, { isEnd, previous }) => {
    if (rest.length === 1 && !isEnd) return undefined;
    if (rest.startsWith('[[')) {
      if (!hasCloser(rest, ']]', isEnd)) return undefined;
      const page = readWikiLink(rest, previous);
      if (page !== undefined) return page;
    }
    const link = readLink(rest, isEnd);
    return link === 'none' ? literal(rest) : link;
  },
  '<': (rest, { isEnd, tail }) => {
    if (rest.length === 1 && !isEnd) return undefined;
    if (!/^<[a-z/!?]/i.test(rest)) return literal(rest);
    const isSuperscript = /^<sup\b/i.test(rest) || (/^<(?:s|su|sup)$/i.test(rest) && !isEnd);
    if (isSuperscript) {
      if (!hasCloser(rest, '</sup>', isEnd, AFTER_SUPERSCRIPT)) return undefined;
      const [all, raised] = SUPERSCRIPT.exec(rest.slice(0, LONGEST_DIALECT_MARK)) ?? [];
      if (all !== undefined && raised !== undefined) {
        const next = rest.slice(all.length, all.length + AFTER_SUPERSCRIPT);
        const isLink = /^\s*\[[^\]]*\]\([^)]*#/.test(raised);
        const text = isLink ? '' : superscriptText(tail, raised.replaceAll(/<[^<>]*>/g, ''), next);
        return { length: all.length, text };
      }
    }
    const isComment = rest.startsWith('<!--');
    const paragraph = rest.slice(0, LONGEST_MARK).split(BLANK_LINE, 1)[0] ?? '';
    const end = paragraph.indexOf(isComment ? '-->' : '>');
    if (end === -1) return mayGoOn(rest, isEnd) ? undefined : literal(rest);
    const length = end + (isComment ? 3 : 1);
    const content = rest.slice(1, end);
    if (/^(?:[a-z][a-z\d+.-]{1,31}:[^\s<>]*|[^\s<>@]+@[^\s<>@]+)$/i.test(content)) {
      return { length, text: content };
    }
    if (isComment || /^\/?[a-z][a-z\d-]*(?:[\s/][^<>]*)?$/i.test(content)) {
      const [, quoted, single] = /^img\s[^>]*?\balt=(?:"([^"]*)"|'([^']*)')/i.exec(content) ?? [];
      const alternative = quoted ?? single;
      if (alternative !== undefined) return { length, text: alternative };
      return { length, isBreak: /^br\b/i.test(content) };
    }
    return literal(rest);
  },
  '&': (rest, { isEnd }) => {
    const entity = /^&(#x?)?(\w{1,31});/i.exec(rest);
    if (entity === null) {
      return /^&#?\w{0,31}$/.test(rest) && !isEnd ? undefined : literal(rest);
    }
    const [all, number, name = ''] = entity;
    const code = Number.parseInt(name, number?.length === 2 ? 16 : 10);
    const text = number === undefined ? ENTITIES[name] : characterOf(code);
    return text === undefined ? literal(rest) : { length: all.length, text };
  },
};

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  apos: "'",
  gt: '>',
  hellip: '…',
  lt: '<',
  mdash: '—',
  nbsp: ' ',
  ndash: '–',
  quot: '"',
};

function characterOf(code: number): string | undefined {
  return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : undefined;
}

const SUPERSCRIPT = /^<sup(?:\s[^<>]*)?>((?:(?!<\/sup>)[^\n])*)<\/sup>/i;
const AFTER_SUPERSCRIPT = 3;

// Returns true if a mark with this closer can be read: the closer and `after` following characters have arrived, or will
// not arrive.
function hasCloser(rest: string, closer: string, isEnd: boolean, after = 1): boolean {
  const seen = rest.slice(0, LONGEST_DIALECT_MARK);
  const [line = ''] = seen.split(closer === '$$' || closer.startsWith('\\') ? BLANK_LINE : '\n', 1);
  const at = line.indexOf(closer, closer.length === 1 ? 1 : 2);
  if (at === -1) return isEnd || line.length < seen.length || seen.length === LONGEST_DIALECT_MARK;
  const end = at + closer.length + after;
  return isEnd || end <= rest.length || rest.includes('\n', end - after);
}

// Returns true if a superscript or subscript at the beginning can be read, with the text after it.
function hasScript(rest: string, isEnd: boolean): boolean {
  const [first = ''] = /^.(?:\\ |[^\s~^])*[~^]?/u.exec(rest) ?? [];
  return (
    isEnd ||
    rest.length >= LONGEST_SCRIPT_MARK + AFTER_SUPERSCRIPT ||
    rest.length >= first.length + AFTER_SUPERSCRIPT ||
    rest.includes('\n', first.length)
  );
}

function mayGoOn(rest: string, isEnd: boolean, longest = LONGEST_MARK): boolean {
  return !isEnd && rest.length < longest && !BLANK_LINE.test(rest);
}

function readLink(rest: string, isEnd: boolean): MarkdownMark | 'none' | undefined {
  // The text of a link may be an image with a long address.
  const longest = rest.startsWith('[![') ? LONGEST_ADDRESS : LONGEST_MARK;
  const label = closingOf(rest, '[', ']', longest);
  if (label === undefined) return mayGoOn(rest, isEnd, longest) ? undefined : 'none';
  const next = rest.charAt(label + 1);
  if (next === '' && !isEnd) return undefined;
  if (rest.startsWith('[^')) return { length: label + 1 };
  const closer = { '(': ')', '[': ']' }[next];
  const text = rest.slice(1, label);
  if (closer === undefined) {
    // The address of a word in brackets may come later.
    return /\p{L}/u.test(text) ? { length: label + 1, marked: text } : 'none';
  }
  const after = rest.slice(label + 1);
  const address = closingOf(after, next, closer, LONGEST_ADDRESS);
  if (address === undefined) return mayGoOn(after, isEnd, LONGEST_ADDRESS) ? undefined : 'none';
  return { length: label + address + 2, marked: text };
}

function closingOf(rest: string, open: string, close: string, longest: number): number | undefined {
  let depth = 0;
  for (let at = 0; at < Math.min(rest.length, longest); at += 1) {
    const sign = rest.charAt(at);
    if (sign === '\\') at += 1;
    else if (sign === open) depth += 1;
    else if (sign === close) depth -= 1;
    else if (sign === '\n' && /^\n[ \t]*\n/.test(rest.slice(at, at + LONGEST_MARK)))
      return undefined;
    if (depth === 0) return at;
    if (depth > MAX_DEPTH) return undefined;
  }
  return undefined;
}
