import { wordsJoin } from './block-writer.ts';
import { readAlert } from './markdown-dialects.ts';
import { HEADING_MARK, INLINE, LONGEST_MARK, MAX_DEPTH, TEXT_MARK } from './markdown-marks.ts';
import type { CodeMode } from './text-formats.ts';

/**
 * Extracts the text of Markdown while it arrives. The text does not depend on how the Markdown is divided into chunks.
 */
export interface MarkdownStream {
  /** Adds Markdown. Returns the next part of the extracted text. Later Markdown does not change this part. */
  write(markdown: string): string;
  /** Ends the input, and returns the rest of the extracted text. */
  end(): string;
}

/**
 * Creates a reader for Markdown that arrives in chunks, such as the output of a language model. Most text is delayed by
 * a few characters at most. Links, table rows and code fences are delayed until they are complete.
 */
export function createMarkdownStream(code: CodeMode): MarkdownStream {
  const reader = new StreamReader(code);
  return {
    write(markdown) {
      const text = markdown.replaceAll('\r', '');
      const parts: string[] = [];
      // In pieces, because the text of a link is put before all that follows.
      for (let at = 0; at < text.length; at += PIECE_UNITS) {
        parts.push(reader.read(text.slice(at, at + PIECE_UNITS), false));
      }
      return parts.join('');
    },
    end: () => reader.read('', true),
  };
}

const PIECE_UNITS = 1 << 16;

/** Matches a line of YAML or TOML. Distinguishes front matter from text between two horizontal rules. */
export const FRONT_MATTER_FIELD = /^\s*(?:#|[\w"'.-]+[^:=\n]{0,60}[:=](?:\s|$)|- |\[)/;

type StreamState =
  | 'code'
  | 'comment'
  | 'footnote'
  | 'frontMatter'
  | 'frontMatterStart'
  | 'indentedCode'
  | 'lineStart'
  | 'text';

type StreamedBlock = 'heading' | 'item' | 'paragraph';

class StreamReader {
  readonly #code: CodeMode;
  #rest = '';
  #isEnd = false;
  #text: string[] = [];
  #state: StreamState = 'lineStart';
  #isFirstLine = true;
  #block: StreamedBlock = 'paragraph';
  #afterItem = false;
  #tail = '';
  #gap: '' | ' ' | '\n' | ', ' = '';
  #isInTable = false;
  #isImageEdge = false;
  #spaces = '';
  #previous = '';
  #span = 0;
  #fence = '';
  #items = 0;
  #label = '';
  readonly #numbers: { readonly indent: number; number: number }[] = [];

  constructor(code: CodeMode) {
    this.#code = code;
  }

  read(markdown: string, isEnd: boolean): string {
    this.#rest += markdown;
    this.#isEnd = isEnd;
    // Each step consumes some of the Markdown, until a step needs more than has arrived.
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
      case 'indentedCode': {
        const line = this.#line();
        if (line === undefined) return false;
        if (line.trim() !== '' && !INDENTED.test(line)) {
          this.#endBlock();
          this.#state = 'lineStart';
          return true;
        }
        return this.#withLine((code) => this.#readCode(code.trim()));
      }
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
          // A blank line also ends the front matter, because it may have been text.
          if (/^(?:---|\.\.\.)?\s*$/.test(line)) this.#state = 'lineStart';
        });
    }
  }

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

  #skipTo(mark: string, state: StreamState): boolean {
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
    } else this.#readCode(body);
  }

  #readCode(line: string): void {
    if (this.#code !== 'read') return;
    this.#emit(line);
    this.#space('\n');
  }

  #announceCode(): void {
    this.#endBlock();
    if (this.#code === 'announce') this.#emit('Code block.');
    if (this.#code === 'announce') this.#endBlock();
  }

  #lineStart(): boolean {
    const line = this.#line();
    const seen = line ?? this.#rest.split('\n', 1)[0] ?? '';
    const prefix = LINE_PREFIX.exec(seen)?.[0].length ?? 0;
    const body = seen.slice(prefix);
    const mayBeCode = this.#tail === '' && !this.#afterItem && this.#items === 0;
    if (mayBeCode && body !== '' && INDENTED.test(seen)) {
      this.#announceCode();
      this.#state = 'indentedCode';
      return true;
    }
    if (line === undefined) {
      if (this.#isInTable || mayBeMark(body)) return false;
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
      this.#label = this.#itemLabel(body, prefix);
      this.#take(prefix + length);
      // A heading, a check box or another list may follow in an item.
      if (mark.kind === 'heading') this.#state = 'text';
    } else {
      if (this.#tail === '' && this.#items === 0) this.#endLists(prefix);
      this.#take(prefix);
      this.#space(' ');
      this.#state = 'text';
    }
    return true;
  }

  #itemLabel(body: string, indent: number): string {
    const [, number] = /^(\d{1,9})[.)]/.exec(body) ?? [];
    // An item may be indented by one more space than the item before it.
    this.#endLists(number === undefined ? indent : indent + 2);
    if (number === undefined) return '';
    const list = this.#numbers.at(-1);
    if (list !== undefined && list.indent >= indent - 1) list.number += 1;
    else this.#numbers.push({ indent, number: Number(number) });
    return `${this.#numbers.at(-1)?.number ?? number}.`;
  }

  // Ends the lists whose items are indented by at least `indent`.
  #endLists(indent: number): void {
    while ((this.#numbers.at(-1)?.indent ?? -1) >= indent) this.#numbers.pop();
  }

  #continues(body: string): boolean {
    const isParagraph = this.#tail !== '' && this.#block === 'paragraph';
    return isParagraph && /^\d/.test(body) && !/^1[.)]/.test(body);
  }

  #wholeLine(line: string, body: string): boolean {
    const fence = FENCE.exec(body)?.[1];
    const isRow = body.startsWith('|') || (this.#isInTable && body.includes('|'));
    const isDelimiterRow = DELIMITER_ROW.test(body);
    this.#isInTable = isDelimiterRow || (this.#isInTable && isRow);
    const isOther = fence !== undefined || isRow || isDelimiterRow || RULE.test(body);
    if (isOther) this.#endLists(line.length - body.length);
    const alert = line.includes('>') && this.#tail === '' ? readAlert(body) : undefined;
    if (line.trim() === '' || /^:{3,}/.test(body)) this.#endBlock();
    else if (alert !== undefined) {
      this.#block = 'heading';
      this.#emit(spokenLine(alert.text));
      this.#endBlock();
    } else if (fence !== undefined) {
      this.#announceCode();
      this.#fence = fence;
    } else if (this.#tail !== '' && /^(?:=+|-+)[ \t]*$/.test(body)) {
      this.#block = 'heading';
      this.#endBlock();
    } else if (RULE.test(body) || EMPTY_ITEM.test(body)) this.#endBlock();
    else if (isRow || isDelimiterRow) this.#row(body);
    else return false;
    this.#items = 0;
    this.#take(line.length + 1);
    if (fence !== undefined) this.#state = 'code';
    else if (this.#isFirstLine && /^---\s*$/.test(line)) this.#state = 'frontMatterStart';
    return true;
  }

  #row(body: string): void {
    this.#endBlock();
    if (/^[|:\s-]+$/.test(body)) return;
    this.#cells(body);
  }

  #cells(row: string): void {
    const cells = row
      .split(/(?<!\\)\|/)
      .map((cell) => spokenLine(cell.replaceAll(String.raw`\|`, '|')))
      .filter((cell) => cell !== '')
      .join(', ');
    this.#block = 'item';
    this.#emit(cells.replaceAll(/([.!?…]), /g, '$1 '));
    this.#endBlock();
  }

  #bar(): boolean {
    const seen = this.#rest.slice(0, LONGEST_MARK);
    const [row = '', next = '', after] = seen.split('\n', 3);
    const isSpaced = /[ \t]/.test(this.#previous) && /^\|(?:[ \t]|$)/.test(row);
    const isComplete = this.#isEnd || after !== undefined || seen.length === LONGEST_MARK;
    if (isSpaced && !isComplete && /^[ \t>|:-]*$/.test(next)) return false;
    if (!isSpaced || !DELIMITER_ROW.test(next.replace(LINE_PREFIX, ''))) {
      this.#emit('|');
      this.#take(1);
      return true;
    }
    this.#take(row.length + 1);
    if (this.#tail !== '') this.#gap = ENDS_WITH_MARK.test(this.#tail) ? ' ' : ', ';
    this.#cells(row);
    this.#state = 'lineStart';
    this.#items = 0;
    return true;
  }

  #skipDefinition(isFootnote: boolean): boolean {
    const line = this.#line();
    if (line === undefined) return false;
    this.#endBlock();
    this.#take(line.length + 1);
    if (isFootnote) this.#state = 'footnote';
    return true;
  }

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
    if (rest.startsWith('|') && this.#span === 0) return this.#bar();
    const read = INLINE[rest.charAt(0)];
    const mark = read?.(rest, {
      previous: this.#previous,
      tail: this.#tail + this.#gap,
      isEnd: this.#isEnd,
      span: this.#span,
    });
    if (mark === undefined) return false;
    if (mark.span !== undefined) this.#span = mark.span;
    if (mark.isBreak === true) this.#space('\n');
    if (mark.text !== undefined && mark.text !== '') this.#emit(mark.text);
    if (rest.startsWith('\n')) {
      this.#state = 'lineStart';
      this.#items = 0;
      if (this.#block === 'heading') this.#endBlock();
      this.#space(this.#spaces === '  ' ? '\n' : ' ');
    }
    this.#take(mark.length);
    // The text of a link may have marks of its own.
    if (mark.isImage === true) {
      this.#isImageEdge = true;
      this.#emit(spokenLine(mark.marked ?? ''));
      this.#isImageEdge = true;
    } else if (mark.marked !== undefined) this.#rest = mark.marked + this.#rest;
    return true;
  }

  #emit(plain: string): void {
    const words = plain.trim();
    this.#spaces = ((words === '' ? this.#spaces : '') + plain).slice(-2);
    if (words === '' || /^\s/.test(plain)) this.#space(' ');
    if (words === '') return;
    if (this.#isImageEdge && wordsJoin(this.#tail, words)) this.#space(' ');
    this.#isImageEdge = false;
    if (this.#tail === '' && this.#afterItem && this.#block !== 'item') this.#text.push('\n');
    const label = this.#label === '' || words.startsWith(this.#label) ? '' : `${this.#label} `;
    this.#label = '';
    const text = this.#gap + label + words.replaceAll(/\s+/g, ' ');
    this.#text.push(text);
    this.#tail = (this.#tail + text).slice(-TAIL_UNITS);
    this.#gap = '';
    if (/\s$/.test(plain)) this.#space(' ');
  }

  #space(gap: ' ' | '\n'): void {
    if (this.#tail !== '' && (this.#gap === '' || this.#gap === ' ')) this.#gap = gap;
  }

  #endBlock(): void {
    if (this.#tail !== '') {
      const needsStop = this.#block !== 'paragraph' && !ENDS_WITH_MARK.test(this.#tail);
      if (needsStop) this.#text.push('.');
      this.#afterItem = this.#block === 'item';
      this.#text.push(this.#afterItem ? '\n' : '\n\n');
    }
    this.#block = 'paragraph';
    this.#label = '';
    this.#tail = '';
    this.#gap = '';
    this.#isImageEdge = false;
    this.#span = 0;
  }
}

const TAIL_UNITS = 16;
const ENDS_WITH_MARK = /[.!?…:;,،。！？｡；，、؟।\p{Pd}][\p{Pe}\p{Pf}"']*$/u;

const LINE_PREFIX = /^[ \t>]*/;
const FENCE = /^(`{3,}(?=[^`]*$)|~{3,})/;
const RULE = /^([-*_])(?:[ \t]*\1){2,}[ \t]*$/;
// This line below the head of a table need not begin with `|`.
const DELIMITER_ROW = /^(?:\|[ \t]*)?:?-+:?(?:[ \t]*\|[ \t]*:?-+:?)+[ \t|]*$/;
const INDENTED = /^(?: {4}| {0,3}\t)/;
const EMPTY_ITEM = /^(?:[-*+]|\d{1,9}[.)]|#{1,6})[ \t]*$/;
// A definition such as `[label]: URL`, or a footnote such as `[^1]: text`.
const DEFINITION = /^\[(\^?)[^\]\n]{1,300}\]:/;

const MARKS = [
  { kind: 'comment', pattern: /^<!--/ },
  { kind: 'check', pattern: /^\[[ xX]\][ \t]+/ },
  { kind: 'heading', pattern: /^#{1,6}[ \t]+/ },
  { kind: 'item', pattern: /^(?:[-*+]|\d{1,9}[.)])[ \t]+/ },
] as const;

function mayBeMark(body: string): boolean {
  if (/^[-*_+=~`#\d.):|\s]*$/.test(body) && body.length < LONGEST_MARK) return true;
  if (FENCE.test(body) || body.startsWith('|') || '<!--'.startsWith(body)) return true;
  return /^(?:\[[^\]\n]{0,300}\]?$|\[!|:{3})/.test(body);
}

function spokenLine(line: string): string {
  const stream = createMarkdownStream('skip');
  // A letter keeps the line from beginning with a mark of a block.
  return (stream.write(`a ${line}`) + stream.end()).trim().slice(1).trim();
}
