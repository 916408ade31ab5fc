import type { CodeMode } from './text-formats.ts';

/** Extracts the text of Markdown while it arrives. The text does not depend on how the Markdown is cut into pieces. */
export interface MarkdownStream {
  /** Adds Markdown, and returns the text that is now certain. */
  write(markdown: string): string;
  /** Returns the rest of the text. */
  end(): string;
}

/**
 * Creates a reader of Markdown that arrives in pieces, such as the output of a language model. It waits for a whole
 * link, table row or code fence, and for nothing else longer than a few characters.
 */
export function createMarkdownStream(code: CodeMode): MarkdownStream {
  const reader = new StreamReader(code);
  return {
    write: (markdown) => reader.read(markdown.replaceAll('\r', ''), false),
    end: () => reader.read('', true),
  };
}

/** A line of YAML or TOML, which tells front matter from a text between two rules. */
export const FRONT_MATTER_FIELD = /^\s*(?:#|[\w"'.-]+[^:=\n]{0,60}[:=](?:\s|$)|- |\[)/;

/** Maximum length of a link or an HTML tag; a longer one is text. */
const LONGEST_MARK = 1_000;
/** Maximum number of brackets, or of items in a line, that contain one another. */
const MAX_DEPTH = 20;

/** What the reader expects next. */
type State =
  | 'code'
  | 'comment'
  | 'footnote'
  | 'frontMatter'
  | 'frontMatterStart'
  | 'lineStart'
  | 'text';

/** Kinds of blocks; headings and items end as sentences. */
type BlockKind = 'heading' | 'item' | 'paragraph';

class StreamReader {
  readonly #code: CodeMode;
  /** Markdown that is not read yet. */
  #rest = '';
  #isEnd = false;
  #text: string[] = [];
  #state: State = 'lineStart';
  #isFirstLine = true;
  #block: BlockKind = 'paragraph';
  /** Whether the last block was an item, which ends with a single line break. */
  #afterItem = false;
  /** The last characters of the current block; empty if it has no text yet. */
  #tail = '';
  #gap: '' | ' ' | '\n' = '';
  /** The last two characters that were read, without marks. */
  #spaces = '';
  /** The last character that was read, also if it is a mark. */
  #previous = '';
  /** Number of backticks that end the code span; 0 outside of one. */
  #span = 0;
  #fence = '';
  /** Number of items that begin in the current line. */
  #items = 0;

  constructor(code: CodeMode) {
    this.#code = code;
  }

  read(markdown: string, isEnd: boolean): string {
    this.#rest += markdown;
    this.#isEnd = isEnd;
    // Each step takes some of the rest, until one needs more than there is.
    while (this.#rest !== '' && this.#step());
    if (isEnd) this.#endBlock();
    const text = this.#text.join('');
    this.#text = [];
    return text;
  }

  #step(): boolean {
    switch (this.#state) {
      case 'text':
        return this.#inline();
      case 'lineStart':
        return this.#lineStart();
      case 'comment':
        return this.#skipTo('-->', 'lineStart');
      case 'code':
        return this.#withLine((line) => this.#codeLine(line));
      case 'footnote':
        return this.#withLine((line) => {
          if (line.trim() === '') this.#state = 'lineStart';
        });
      case 'frontMatterStart': {
        const line = this.#line();
        if (line === undefined) return false;
        this.#state = FRONT_MATTER_FIELD.test(line) ? 'frontMatter' : 'lineStart';
        return true;
      }
      case 'frontMatter':
        return this.#withLine((line) => {
          // A blank line ends it as well: it may have been text after all.
          if (/^(?:---|\.\.\.)?\s*$/.test(line)) this.#state = 'lineStart';
        });
    }
  }

  /** Returns the next line if it is complete. */
  #line(): string | undefined {
    const end = this.#rest.indexOf('\n');
    if (end === -1) return this.#isEnd ? this.#rest : undefined;
    return this.#rest.slice(0, end);
  }

  #withLine(read: (line: string) => void): boolean {
    const line = this.#line();
    if (line === undefined) return false;
    this.#take(line.length + 1);
    read(line);
    return true;
  }

  #take(length: number): void {
    this.#previous = this.#rest.charAt(length - 1);
    this.#rest = this.#rest.slice(length);
  }

  #skipTo(mark: string, state: State): boolean {
    const at = this.#rest.indexOf(mark);
    if (at === -1) {
      // Keep what may be the beginning of the mark.
      this.#rest = this.#isEnd ? '' : this.#rest.slice(-(mark.length - 1));
      return false;
    }
    this.#take(at + mark.length);
    this.#state = state;
    return true;
  }

  #codeLine(line: string): void {
    const body = line.replace(LINE_PREFIX, '').trimEnd();
    if (body.startsWith(this.#fence) && body === this.#fence.charAt(0).repeat(body.length)) {
      this.#endBlock();
      this.#state = 'lineStart';
    } else if (this.#code === 'read') {
      this.#emit(body);
      this.#space('\n');
    }
  }

  /** Reads the marks at the beginning of a line. Returns false if their meaning is not certain yet. */
  #lineStart(): boolean {
    const line = this.#line();
    const seen = line ?? this.#rest.split('\n', 1)[0] ?? '';
    const prefix = LINE_PREFIX.exec(seen)?.[0].length ?? 0;
    const body = seen.slice(prefix);
    if (line === undefined) {
      if (mayBeMark(body)) return false;
    } else if (this.#wholeLine(line, body)) {
      this.#isFirstLine = false;
      return true;
    }
    this.#isFirstLine = false;
    const definition = DEFINITION.exec(body);
    if (definition !== null) return this.#skipDefinition(definition[1] === '^');
    const mark = MARKS.find(({ pattern }) => pattern.test(body));
    const length = mark?.pattern.exec(body)?.[0].length ?? 0;
    if (mark?.kind === 'comment') {
      this.#endBlock();
      this.#state = 'comment';
      this.#take(prefix + length);
    } else if (mark?.kind === 'check') {
      this.#take(prefix + length);
      this.#state = 'text';
    } else if (mark !== undefined && this.#items < MAX_DEPTH && !this.#continues(body)) {
      this.#endBlock();
      this.#items += 1;
      this.#block = mark.kind;
      this.#take(prefix + length);
      // A heading, a check box or another list may follow in an item.
      if (mark.kind === 'heading') this.#state = 'text';
    } else {
      this.#take(prefix);
      this.#space(' ');
      this.#state = 'text';
    }
    return true;
  }

  /** Whether a number at the beginning of a line belongs to a paragraph: only the number 1 begins a list there. */
  #continues(body: string): boolean {
    const isParagraph = this.#tail !== '' && this.#block === 'paragraph';
    return isParagraph && /^\d/.test(body) && !/^1[.)]/.test(body);
  }

  /** Reads a line that has a meaning as a whole. Returns false for other lines. */
  #wholeLine(line: string, body: string): boolean {
    const fence = FENCE.exec(body)?.[1];
    if (line.trim() === '') this.#endBlock();
    else if (fence !== undefined) {
      this.#endBlock();
      this.#fence = fence;
      this.#block = 'paragraph';
      if (this.#code === 'announce') this.#emit('Code block.');
      if (this.#code === 'announce') this.#endBlock();
    } else if (this.#tail !== '' && /^(?:=+|-+)[ \t]*$/.test(body)) {
      this.#block = 'heading';
      this.#endBlock();
    } else if (RULE.test(body) || EMPTY_ITEM.test(body)) this.#endBlock();
    else if (body.startsWith('|')) this.#row(body);
    else return false;
    this.#items = 0;
    this.#take(line.length + 1);
    if (fence !== undefined) this.#state = 'code';
    else if (this.#isFirstLine && /^---\s*$/.test(line)) this.#state = 'frontMatterStart';
    return true;
  }

  /** Reads a row of a table, whose marks are read like those of a paragraph. */
  #row(body: string): void {
    this.#endBlock();
    if (/^[|:\s-]+$/.test(body)) return;
    const cells = body.split(/(?<!\\)\|/).map((cell) => spokenLine(cell).trim());
    const row = cells.filter((cell) => cell !== '').join(', ');
    this.#block = 'item';
    this.#emit(row.replaceAll(/([.!?…]), /g, '$1 '));
    this.#endBlock();
  }

  #skipDefinition(isFootnote: boolean): boolean {
    const line = this.#line();
    if (line === undefined) return false;
    this.#endBlock();
    this.#take(line.length + 1);
    if (isFootnote) this.#state = 'footnote';
    return true;
  }

  /** Reads text up to the next mark, or a mark. */
  #inline(): boolean {
    const rest = this.#rest;
    const marks = this.#span > 0 ? /[`\n]/ : this.#block === 'heading' ? HEADING_MARK : TEXT_MARK;
    const at = rest.search(marks);
    if (at !== 0) {
      const plain = at === -1 ? rest : rest.slice(0, at);
      this.#take(plain.length);
      this.#emit(plain);
      return true;
    }
    const read = INLINE[rest.charAt(0)];
    const mark = read?.(rest, { previous: this.#previous, isEnd: this.#isEnd, span: this.#span });
    if (mark === undefined) return false;
    if (mark.span !== undefined) this.#span = mark.span;
    if (mark.isBreak === true) this.#space('\n');
    if (mark.text !== undefined) this.#emit(mark.text);
    if (rest.startsWith('\n')) {
      this.#state = 'lineStart';
      this.#items = 0;
      if (this.#block === 'heading') this.#endBlock();
      this.#space(this.#spaces === '  ' ? '\n' : ' ');
    }
    this.#take(mark.length);
    // The text of a link may have marks of its own.
    if (mark.marked !== undefined) this.#rest = mark.marked + this.#rest;
    return true;
  }

  #emit(plain: string): void {
    const words = plain.trim();
    this.#spaces = ((words === '' ? this.#spaces : '') + plain).slice(-2);
    if (words === '' || /^\s/.test(plain)) this.#space(' ');
    if (words === '') return;
    if (this.#tail === '' && this.#afterItem && this.#block !== 'item') this.#text.push('\n');
    const text = this.#gap + words.replaceAll(/\s+/g, ' ');
    this.#text.push(text);
    this.#tail = (this.#tail + text).slice(-TAIL_UNITS);
    this.#gap = '';
    if (/\s$/.test(plain)) this.#space(' ');
  }

  #space(gap: ' ' | '\n'): void {
    if (this.#tail !== '' && this.#gap !== '\n') this.#gap = gap;
  }

  #endBlock(): void {
    if (this.#tail !== '') {
      const needsStop = this.#block !== 'paragraph' && !ENDS_WITH_MARK.test(this.#tail);
      if (needsStop) this.#text.push('.');
      this.#afterItem = this.#block === 'item';
      this.#text.push(this.#afterItem ? '\n' : '\n\n');
    }
    this.#block = 'paragraph';
    this.#tail = '';
    this.#gap = '';
    this.#span = 0;
  }
}

const TAIL_UNITS = 16;
const ENDS_WITH_MARK = /[.!?…:;,،。！？｡；，、؟।\p{Pd}][\p{Pe}\p{Pf}"']*$/u;

/** Indentation and the marks of quotes. */
const LINE_PREFIX = /^[ \t>]*/;
const FENCE = /^(`{3,}(?=[^`]*$)|~{3,})/;
const RULE = /^([-*_])(?:[ \t]*\1){2,}[ \t]*$/;
const EMPTY_ITEM = /^(?:[-*+]|\d{1,9}[.)]|#{1,6})[ \t]*$/;
/** A line such as `[label]: address`, or with `^` a footnote. */
const DEFINITION = /^\[(\^?)[^\]\n]{1,300}\]:/;

const MARKS = [
  { kind: 'comment', pattern: /^<!--/ },
  { kind: 'check', pattern: /^\[[ xX]\][ \t]+/ },
  { kind: 'heading', pattern: /^#{1,6}[ \t]+/ },
  { kind: 'item', pattern: /^(?:[-*+]|\d{1,9}[.)])[ \t]+/ },
] as const;

/** Whether the beginning of a line may still become a mark, or a line that has a meaning as a whole. */
function mayBeMark(body: string): boolean {
  if (/^[-*_+=~`#\d.)\s]*$/.test(body) && body.length < LONGEST_MARK) return true;
  if (FENCE.test(body) || body.startsWith('|') || '<!--'.startsWith(body)) return true;
  return /^\[[^\]\n]{0,300}\]?$/.test(body);
}

/** Reads a line of text as a whole. */
function spokenLine(line: string): string {
  const stream = createMarkdownStream('skip');
  // A letter keeps the line from beginning with a mark of a block.
  return (stream.write(`a ${line}`) + stream.end()).trim().slice(1).trim();
}

interface Mark {
  /** Number of UTF-16 units that the mark takes. */
  readonly length: number;
  /** Text that is spoken as it is. */
  readonly text?: string;
  /** Text in which marks are read. */
  readonly marked?: string;
  /** Number of backticks that end the code span that begins. */
  readonly span?: number;
  readonly isBreak?: boolean;
}

interface MarkContext {
  readonly previous: string;
  readonly isEnd: boolean;
  readonly span: number;
}

/** Reads the mark at the beginning of a text; undefined if it needs more text. */
type ReadMark = (rest: string, context: MarkContext) => Mark | undefined;

const TEXT_MARK = /[\n\\`*_~![<&]/;
const HEADING_MARK = /[\n\\`*_~![<&#]/;
const WORD = /[\p{L}\p{N}]/u;

/** Reads a run of a sign. Returns undefined if the run may go on. */
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

const literal = (rest: string): Mark => ({ length: 1, text: rest.charAt(0) });

const INLINE: Readonly<Record<string, ReadMark>> = {
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
    return link === 'none' ? literal(rest) : { ...link, length: link.length + 1 };
  },
  '[': (rest, { isEnd }) => {
    const link = readLink(rest, isEnd);
    return link === 'none' ? literal(rest) : link;
  },
  '<': (rest, { isEnd }) => {
    if (rest.length === 1 && !isEnd) return undefined;
    if (!/^<[a-z/!?]/i.test(rest)) return literal(rest);
    const isComment = rest.startsWith('<!--');
    const end = rest.slice(0, LONGEST_MARK).indexOf(isComment ? '-->' : '>');
    if (end === -1) return mayGoOn(rest, isEnd) ? undefined : literal(rest);
    const length = end + (isComment ? 3 : 1);
    const content = rest.slice(1, end);
    if (/^(?:[a-z][a-z\d+.-]{1,31}:[^\s<>]*|[^\s<>@]+@[^\s<>@]+)$/i.test(content)) {
      return { length, text: content };
    }
    if (isComment || /^\/?[a-z][a-z\d-]*(?:[\s/][^<>]*)?$/i.test(content)) {
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

/** Whether a mark may still be completed: it is not too long, and its paragraph goes on. */
function mayGoOn(rest: string, isEnd: boolean): boolean {
  return !isEnd && rest.length < LONGEST_MARK && !/\n[ \t]*\n/.test(rest);
}

/** Reads a link or the label of a footnote; `none` for brackets that are text. */
function readLink(rest: string, isEnd: boolean): Mark | 'none' | undefined {
  const label = closingOf(rest, '[', ']');
  if (label === undefined) return mayGoOn(rest, isEnd) ? undefined : 'none';
  const next = rest.charAt(label + 1);
  if (next === '' && !isEnd) return undefined;
  if (rest.startsWith('[^')) return { length: label + 1 };
  const closer = { '(': ')', '[': ']' }[next];
  if (closer === undefined) return 'none';
  const address = closingOf(rest.slice(label + 1), next, closer);
  if (address === undefined) return mayGoOn(rest, isEnd) ? undefined : 'none';
  return { length: label + address + 2, marked: rest.slice(1, label) };
}

/** Returns the index of the bracket that closes the first one. */
function closingOf(rest: string, open: string, close: string): number | undefined {
  let depth = 0;
  for (let at = 0; at < Math.min(rest.length, LONGEST_MARK); at += 1) {
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
