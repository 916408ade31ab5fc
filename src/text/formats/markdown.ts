import { Parser } from 'htmlparser2';
import MarkdownIt from 'markdown-it';
import type { Token } from 'markdown-it';
import footnote from 'markdown-it-footnote';
import type { SpokenText } from '../document.ts';
import { BlockWriter } from './block-writer.ts';
import { DocumentError } from './document-error.ts';
import { HtmlReader, writeHtml } from './html.ts';
import { ListNumbers } from './list-numbers.ts';
import { readAlert, useDialects, withoutAttributes } from './markdown-dialects.ts';
import { FRONT_MATTER_FIELD } from './markdown-stream.ts';
import type { CodeMode } from './text-formats.ts';

const MAX_DEPTH = 200;

/** Extracts the text of Markdown: CommonMark with tables, strikethrough, footnotes and front matter. @throws DocumentError */
export function readMarkdown(markdown: string, code: CodeMode): SpokenText {
  const parser = new MarkdownIt({ html: true, maxNesting: MAX_DEPTH })
    .use(footnote)
    .use(useDialects);
  // The reader parses the marks in each block, so that they are not all in memory at once.
  parser.core.ruler.enableOnly(['normalize', 'block']);
  const environment = {};
  const text = withoutFrontMatter(markdown).replaceAll(BLANK_LINES, '\n\n');
  const writer = new BlockWriter();
  const reader = new MarkdownReader(writer, code, (block) => {
    const tokens: Token[] = [];
    parser.inline.parse(block, parser, environment, tokens);
    return tokens;
  });
  for (const token of parser.parse(text, environment)) reader.read(token);
  return writer.finish();
}

/** Returns the text of a Markdown paragraph without its inline marks, such as emphasis and links. @throws DocumentError */
export function readInlineMarkdown(paragraph: string): string {
  const parser = new MarkdownIt({ html: true, maxNesting: MAX_DEPTH }).use(useDialects);
  const writer = new BlockWriter();
  const reader = new MarkdownReader(writer, 'read', (block) => {
    const tokens: Token[] = [];
    parser.inline.parse(block, parser, {}, tokens);
    return tokens;
  });
  reader.readParagraph(paragraph);
  return writer.finish().text;
}

// Several blank lines have the same meaning as one.
const BLANK_LINES = /\n(?:[ \t]*\n){2,}/g;

class MarkdownReader {
  readonly #writer: BlockWriter;
  readonly #code: CodeMode;
  readonly #html: HtmlReader;
  #tags: Parser | undefined;
  readonly #lists: ListNumbers[] = [];
  #headings = 0;
  #footnotes = 0;
  #isQuoteStart = false;
  #isItemStart = false;

  readonly #parseBlock: (block: string) => readonly Token[];

  constructor(
    writer: BlockWriter,
    code: CodeMode,
    parseBlock: (block: string) => readonly Token[],
  ) {
    this.#writer = writer;
    this.#code = code;
    this.#html = new HtmlReader(writer, code);
    this.#parseBlock = parseBlock;
  }

  read(token: Token): void {
    // The parser leaves out what is nested deeper.
    if (token.level >= MAX_DEPTH - 1) throw tooDeep();
    if (token.type.startsWith('footnote_reference')) this.#footnotes += token.nesting;
    if (this.#footnotes === 0) this.#block(token);
  }

  readParagraph(paragraph: string): void {
    this.#inlineBlock(paragraph);
  }

  #block(token: Token): void {
    switch (token.type) {
      case 'inline':
        return this.#paragraph(token.content);
      case 'fence':
      case 'code_block':
        return this.#writer.code(token.content, this.#code);
      case 'html_block':
        this.#end();
        return writeHtml(token.content, this.#code, this.#writer);
      case 'th_close':
      case 'td_close':
        return this.#writer.endCell();
      case 'tr_close':
        return this.#writer.end('item');
    }
    if (['th_open', 'td_open'].includes(token.type)) return;
    // End the block before the kind of block changes.
    if (token.nesting <= 0) this.#end();
    if (token.type === 'list_item_open') {
      this.#end();
      this.#isItemStart = true;
      this.#writer.label(this.#lists.at(-1)?.next() ?? '');
    } else if (token.type === 'list_item_close') this.#writer.label('');
    if (token.type.endsWith('list_open') || token.type.endsWith('list_close')) {
      this.#end();
      if (token.nesting < 0) this.#lists.pop();
      else this.#lists.push(listNumbers(token));
    }
    if (token.type.startsWith('heading')) this.#headings += token.nesting;
    if (token.type.startsWith('blockquote')) {
      this.#isQuoteStart = token.nesting > 0;
    }
  }

  #paragraph(content: string): void {
    const isQuoteStart = this.#isQuoteStart;
    this.#isQuoteStart = false;
    const alert = isQuoteStart ? readAlert(content) : undefined;
    if (alert === undefined) return this.#inlineBlock(withoutAttributes(content));
    this.#inlineBlock(alert.text);
    this.#writer.end('sentence');
    this.#inlineBlock(content.slice(alert.length));
  }

  #end(): void {
    this.#writer.end(
      this.#headings > 0 ? 'sentence' : this.#lists.length > 0 ? 'item' : 'paragraph',
    );
  }

  // Links and inline HTML are elements of one document, so that both follow the rules for HTML.
  #inlineBlock(content: string): void {
    for (const part of partsOf(content)) {
      for (const token of this.#parseBlock(part)) this.#inline(token);
    }
    // Closes elements that are still open.
    this.#tags?.end();
    this.#tags = undefined;
    this.#html.flush();
  }

  #inline(token: Token): void {
    const html = this.#html;
    if (token.level >= MAX_DEPTH - 1) throw tooDeep();
    switch (token.type) {
      case 'text':
      case 'text_special':
      case 'code_inline':
        html.ontext(this.#isItemStart ? token.content.replace(TASK, '') : token.content);
        break;
      case 'link_open':
        html.onopentag('a', { href: String(token.attrGet('href')) });
        break;
      case 'link_close':
        html.onclosetag('a');
        break;
      case 'image':
        html.flush();
        this.#writer.imageEdge();
        for (const child of token.children ?? []) this.#inline(child);
        html.flush();
        this.#writer.imageEdge();
        break;
      case 'softbreak':
        html.ontext(' ');
        break;
      case 'hardbreak':
        html.flush();
        this.#writer.lineBreak();
        break;
      case 'html_inline':
        this.#tags ??= new Parser(html, { recognizeSelfClosing: true });
        this.#tags.write(token.content);
        break;
    }
    this.#isItemStart = false;
  }
}

// The parser takes quadratic time for some marks, so that it gets a very long block in parts.
function partsOf(content: string): readonly string[] {
  if (content.length <= LONGEST_PART) return [content];
  const parts: string[] = [];
  for (let at = 0; at < content.length;) {
    const next = content.slice(at, at + LONGEST_PART);
    const space = Math.max(next.lastIndexOf('\n'), next.lastIndexOf(' '));
    const isLast = at + next.length === content.length;
    const part = isLast || space < LONGEST_PART / 2 ? next : next.slice(0, space + 1);
    // A run of marks would be spoken, if it were cut.
    if (!isLast && MARKS.test(content.slice(at + part.length - 1, at + part.length + 1))) {
      throw tooDeep();
    }
    parts.push(part);
    at += part.length;
  }
  return parts;
}

const LONGEST_PART = 10_000;
const MARKS = /^[*_~`[\]!<^]{2}$/;

function listNumbers(list: Token): ListNumbers {
  const isOrdered = list.type.startsWith('ordered');
  return new ListNumbers(isOrdered ? 'ol' : 'ul', { start: String(list.attrGet('start') ?? 1) });
}

const TASK = /^\[[ xX]\] /;

function tooDeep(): DocumentError {
  return new DocumentError(
    `lists, quotes or emphasis are nested more than ${MAX_DEPTH} levels deep`,
  );
}

// Front matter stands between `---` or `+++` at the beginning.
function withoutFrontMatter(markdown: string): string {
  const mark = /^(---|\+\+\+)[ \t]*\r?\n/.exec(markdown);
  if (mark === null) return markdown;
  const lines = markdown.slice(mark[0].length);
  const end = (mark[1] === '---' ? /^(?:---|\.\.\.)[ \t]*$/m : /^\+\+\+[ \t]*$/m).exec(lines);
  const first = lines
    .slice(0, end?.index)
    .split('\n')
    .find((line) => line.trim() !== '');
  if (end === null || (first !== undefined && !FRONT_MATTER_FIELD.test(first))) return markdown;
  return lines.slice(end.index + end[0].length);
}
