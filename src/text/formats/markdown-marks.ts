/** Maximum length of a link's text or of an HTML tag, in UTF-16 units. Longer ones are read as plain text. */
export const LONGEST_MARK = 1_000;
const LONGEST_ADDRESS = 20_000;
/** Maximum nesting depth of brackets, and of inline Markdown marks. */
export const MAX_DEPTH = 20;

/** An inline Markdown mark: a delimiter such as `**`, a link, an HTML tag or an escape. */
export interface Mark {
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
  readonly previous: string;
  readonly isEnd: boolean;
  readonly span: number;
}

type ReadMark = (rest: string, context: MarkContext) => Mark | undefined;

/** Matches each character that can begin an inline Markdown mark outside of headings. */
export const TEXT_MARK = /[\n\\`*_~![<&|]/;
export const HEADING_MARK = /[\n\\`*_~![<&#]/;
const WORD = /[\p{L}\p{N}]/u;

function readRun(
  rest: string,
  { isEnd, previous }: MarkContext,
  isText: (around: { run: string; before: string; after: string }) => boolean,
): Mark | undefined {
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

const literal = (rest: string): Mark => ({ length: 1, text: rest.charAt(0) });

/**
 * Functions that parse an inline Markdown mark, indexed by the first character of the mark. A function returns
 * undefined if it needs more Markdown to find the end of the mark.
 */
export const INLINE: Readonly<Record<string, ReadMark>> = {
  '\n': () => ({ length: 1 }),
  '\\': (rest, { isEnd }) => {
    const next = rest.charAt(1);
    if (next === '') return isEnd ? literal(rest) : undefined;
    if (next === '\n') return { length: 1, isBreak: true };
    return /[!-/:-@[-`{-~]/.test(next) ? { length: 2, text: next } : literal(rest);
  },
  '*': (rest, context) =>
    readRun(rest, context, ({ after, before, run }) => {
      return run === '*' && WORD.test(before) && WORD.test(after);
    }),
  _: (rest, context) =>
    readRun(rest, context, ({ after, before }) => WORD.test(before) && WORD.test(after)),
  '~': (rest, context) => readRun(rest, context, ({ run }) => run !== '~~'),
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
  '!': (rest, context) => {
    if (rest.length === 1 && !context.isEnd) return undefined;
    if (rest.charAt(1) !== '[') return literal(rest);
    const link = readLink(rest.slice(1), context.isEnd);
    if (link === undefined) return undefined;
    return link === 'none' ? literal(rest) : { ...link, length: link.length + 1, isImage: true };
  },
  '[': (rest, { isEnd }) => {
    const link = readLink(rest, isEnd);
    return link === 'none' ? literal(rest) : link;
  },
  '<': (rest, { isEnd }) => {
    if (rest.length === 1 && !isEnd) return undefined;
    if (!/^<[a-z/!?]/i.test(rest)) return literal(rest);
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
      const [, alternative] = /^img\s[^>]*?\balt="([^"]*)"/i.exec(content) ?? [];
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

function mayGoOn(rest: string, isEnd: boolean, longest = LONGEST_MARK): boolean {
  return !isEnd && rest.length < longest && !BLANK_LINE.test(rest);
}

function readLink(rest: string, isEnd: boolean): Mark | 'none' | undefined {
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
