import MarkdownIt from 'markdown-it';
import type { Token } from 'markdown-it';
import footnote from 'markdown-it-footnote';
import type { SpokenText } from '../document.ts';
import { BlockWriter } from './block-writer.ts';
import { DocumentError } from './document-error.ts';
import { writeHtml } from './html.ts';
import { FRONT_MATTER_FIELD } from './markdown-stream.ts';
import type { CodeMode } from './text-formats.ts';

const MAX_DEPTH = 200;

/** Extracts the text of Markdown: CommonMark with tables, strikethrough, footnotes and front matter. @throws DocumentError */
export function readMarkdown(markdown: string, code: CodeMode): SpokenText {
  const parser = new MarkdownIt({ html: true, maxNesting: MAX_DEPTH }).use(footnote);
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
  const parser = new MarkdownIt({ html: true, maxNesting: MAX_DEPTH });
  const tokens: Token[] = [];
  parser.inline.parse(paragraph, parser, {}, tokens);
  const writer = new BlockWriter();
  new MarkdownReader(writer, 'read', () => tokens).readParagraph();
  return writer.finish().text;
}

// Several blank lines have the same meaning as one.
const BLANK_LINES = /\n(?:[ \t]*\n){2,}/g;

class MarkdownReader {
  readonly #writer: BlockWriter;
  readonly #code: CodeMode;
  #lists = 0;
  #headings = 0;
  #footnotes = 0;
  #isItemStart = false;

  readonly #parseBlock: (block: string) => readonly Token[];

  constructor(
    writer: BlockWriter,
    code: CodeMode,
    parseBlock: (block: string) => readonly Token[],
  ) {
    this.#writer = writer;
    this.#code = code;
    this.#parseBlock = parseBlock;
  }

  read(token: Token): void {
    // The parser leaves out what is nested deeper.
    if (token.level >= MAX_DEPTH - 1) throw tooDeep();
    if (token.type.startsWith('footnote_reference')) this.#footnotes += token.nesting;
    if (this.#footnotes === 0) this.#block(token);
  }

  readParagraph(): void {
    for (const token of this.#parseBlock('')) this.#inline(token);
  }

  #block(token: Token): void {
    switch (token.type) {
      case 'inline':
        for (const child of this.#parseBlock(token.content)) this.#inline(child);
        return;
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
    }
    if (token.type.endsWith('list_open') || token.type.endsWith('list_close')) {
      this.#end();
      this.#lists += token.nesting;
    }
    if (token.type.startsWith('heading')) this.#headings += token.nesting;
  }

  #end(): void {
    this.#writer.end(this.#headings > 0 ? 'sentence' : this.#lists > 0 ? 'item' : 'paragraph');
  }

  #inline(token: Token): void {
    if (token.level >= MAX_DEPTH - 1) throw tooDeep();
    switch (token.type) {
      case 'text':
      case 'text_special':
      case 'code_inline':
        this.#writer.text(this.#isItemStart ? token.content.replace(TASK, '') : token.content);
        break;
      case 'image':
        this.#writer.imageEdge();
        for (const child of token.children ?? []) this.#inline(child);
        this.#writer.imageEdge();
        break;
      case 'softbreak':
        this.#writer.text(' ');
        break;
      case 'hardbreak':
        this.#writer.lineBreak();
        break;
      case 'html_inline':
        if (/^<br\b/i.test(token.content)) this.#writer.lineBreak();
        break;
    }
    this.#isItemStart = false;
  }
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
