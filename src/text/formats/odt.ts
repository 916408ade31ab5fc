import type { SpokenText } from '../document.ts';
import { inFile, MAX_CONTENT_BYTES, openArchive } from './archive.ts';
import type { Archive } from './archive.ts';
import { DocumentError } from './document-error.ts';
import { escapeHtml, HtmlWriter } from './html-writer.ts';
import { OdtStyles } from './odt-styles.ts';
import { readXml } from './xml.ts';
import type { Attributes } from './xml.ts';

/**
 * Extracts the text of an OpenDocument text. Leaves out notes, comments, hidden text, deleted text of tracked changes,
 * page numbers, headers, footers and printed tables of contents.
 * @returns one text for each chapter
 * @throws DocumentError
 */
export async function readOdt(bytes: Uint8Array): Promise<readonly SpokenText[]> {
  const archive = await openArchive(bytes, 'an OpenDocument text', 'the document');
  if (archive.has(MANIFEST) && /encryption-data/.test(await archive.read(MANIFEST))) {
    throw new DocumentError('the document is encrypted', { hint: 'Save it without a password.' });
  }
  const styles = new OdtStyles();
  if (archive.has('styles.xml')) await readPart(archive, 'styles.xml', styles);
  const reader = new OdtReader(styles, await formulasOf(archive));
  await readPart(archive, 'content.xml', reader);
  if (!reader.hasText) throw new DocumentError('not an OpenDocument text: it has no <office:text>');
  return reader.html.read();
}

// Returns the formulas by the names of their objects, which are files of their own. Charts are left out.
async function formulasOf(archive: Archive): Promise<Map<string, string>> {
  const formulas = new Map<string, string>();
  for (const file of archive.names) {
    const name = /^([^/]+)\/content\.xml$/.exec(file)?.[1];
    if (name === undefined) continue;
    const math = FORMULA.exec(await archive.read(file))?.[1];
    if (math !== undefined) formulas.set(name, math);
  }
  return formulas;
}

const FORMULA = /^\s*(?:<[?!][^<>]*>\s*)*(<(?:\w+:)?math[\s>][^]*)$/;
const MANIFEST = 'META-INF/manifest.xml';

async function readPart(
  archive: Archive,
  file: string,
  handler: Parameters<typeof readXml>[1],
): Promise<void> {
  const xml = await archive.read(file, MAX_CONTENT_BYTES);
  try {
    readXml(xml, handler);
  } catch (error) {
    throw inFile(file, error);
  }
}

interface Block {
  readonly style: string;
  // Level of a heading; undefined for other paragraphs.
  readonly level: number | undefined;
  readonly inline: string[];
}

interface List {
  readonly style: string;
  number: number | undefined;
  // An item was opened, and its first paragraph has not been written.
  isNewItem: boolean;
}

class OdtReader {
  readonly html = new HtmlWriter();
  hasText = false;
  readonly #styles: OdtStyles;
  readonly #formulas: Map<string, string>;
  #silent = 0;
  // A text box is a block within the block that it is anchored to.
  readonly #blocks: Block[] = [];
  readonly #lists: List[] = [];
  // The closing tags of the open spans.
  readonly #spans: string[] = [];
  // Where the numbers of each list style continue.
  readonly #numbers = new Map<string, number>();
  #alternative: string | undefined;
  // The description of a formula repeats it.
  #isFormula = false;

  /** @param formulas the MathML of each object that is a formula */
  constructor(styles: OdtStyles, formulas: Map<string, string>) {
    this.#formulas = formulas;
    this.#styles = styles;
  }

  open(name: string, attributes: Attributes): void {
    if (!this.hasText) {
      this.hasText = name === 'office:text';
      this.#styles.open(name, attributes);
    } else if (this.#silent > 0 || this.#isSilent(name, attributes)) this.#silent += 1;
    else if (name === 'text:p' || name === 'text:h') this.#openBlock(name, attributes);
    else if (name === 'text:list') this.#openList(attributes);
    else if (name === 'text:list-item') this.#openItem(attributes);
    else if (name === 'text:span' || name === 'text:a') this.#openSpan(name, attributes);
    else if (name === 'svg:desc' || name === 'svg:title') this.#alternative = '';
    else if (name === 'draw:object') this.#object(attributes['xlink:href'] ?? '');
    else if (TABLE.has(name)) this.html.add(`<${TABLE.get(name)}>`);
    else this.#inline(SIGNS.get(name) ?? '');
  }

  close(name: string): void {
    if (!this.hasText) this.#styles.close(name);
    else if (this.#silent > 0) this.#silent -= 1;
    else if (name === 'text:p' || name === 'text:h') this.#endBlock();
    else if (name === 'text:list') this.#endList();
    else if (name === 'text:span' || name === 'text:a') this.#inline(this.#spans.pop() ?? '');
    else if (name === 'svg:desc' || name === 'svg:title') this.#endAlternative();
    else if (name === 'draw:frame') this.#isFormula = false;
    else if (TABLE.has(name)) this.html.add(`</${TABLE.get(name)}>`);
  }

  text(text: string): void {
    if (this.#silent > 0) return;
    if (this.#alternative === undefined) this.#inline(escapeHtml(text));
    else this.#alternative += text;
  }

  #isSilent(name: string, attributes: Attributes): boolean {
    if (SILENT.has(name) || name.startsWith('form:')) return true;
    if (attributes['text:display'] === 'none') return true;
    const style = attributes['text:style-name'];
    return style !== undefined && this.#styles.isHidden(style);
  }

  #openBlock(name: string, attributes: Attributes): void {
    const level = Number(attributes['text:outline-level'] ?? 1);
    this.#blocks.push({
      style: attributes['text:style-name'] ?? '',
      level: name === 'text:h' ? level : undefined,
      inline: [],
    });
  }

  #endBlock(): void {
    const block = this.#blocks.pop();
    if (block === undefined) return;
    const content = block.inline.join('');
    const list = this.#lists.at(-1);
    if (block.level !== undefined) this.html.heading(block.level, content);
    else if (this.#styles.isTitle(block.style)) this.html.title(content);
    else if (list?.isNewItem !== true) this.html.paragraph(content);
    else {
      const { number, type } = this.#styles.label(list.style, this.#lists.length, list.number);
      this.html.item({ type, number }, content);
      list.number = number + 1;
    }
    if (list !== undefined) list.isNewItem = false;
  }

  #openList(attributes: Attributes): void {
    const style = attributes['text:style-name'] ?? this.#lists.at(-1)?.style ?? '';
    const isContinued =
      attributes['text:continue-numbering'] === 'true' || 'text:continue-list' in attributes;
    const number = isContinued ? this.#numbers.get(`${style} ${this.#lists.length}`) : undefined;
    this.#lists.push({ style, number, isNewItem: false });
  }

  #openItem(attributes: Attributes): void {
    const list = this.#lists.at(-1);
    if (list === undefined) return;
    list.isNewItem = true;
    const start = attributes['text:start-value'];
    if (start !== undefined && /^\d{1,9}$/.test(start)) list.number = Number(start);
  }

  #endList(): void {
    const { number, style = '' } = this.#lists.pop() ?? {};
    if (number !== undefined) this.#numbers.set(`${style} ${this.#lists.length}`, number);
  }

  #openSpan(name: string, attributes: Attributes): void {
    const isRaised = this.#styles.isRaised(attributes['text:style-name'] ?? '');
    const link = attributes['xlink:href'] ?? '';
    const tag = isRaised ? 'sup' : name === 'text:a' ? 'a' : 'span';
    this.#inline(tag === 'a' ? `<a href="${escapeHtml(link)}">` : `<${tag}>`);
    this.#spans.push(`</${tag}>`);
  }

  #object(link: string): void {
    const name = link.replace(/^\.\//, '').replace(/\/$/, '');
    const formula = this.#formulas.get(name);
    // Once, because many frames may show the same large object.
    this.#formulas.delete(name);
    this.#isFormula = formula !== undefined;
    this.#inline(formula ?? '');
  }

  #endAlternative(): void {
    if (!this.#isFormula) this.#inline(`<img alt="${escapeHtml(this.#alternative ?? '')}">`);
    this.#alternative = undefined;
  }

  #inline(html: string): void {
    this.#blocks.at(-1)?.inline.push(html);
  }
}

const SILENT = new Set(
  `office:annotation office:forms text:alphabetical-index text:hidden-paragraph text:hidden-text text:illustration-index
  text:note text:object-index text:page-count text:page-number text:ruby-text text:sequence-decls text:table-index
  text:table-of-content text:tracked-changes text:user-field-decls text:user-index text:variable-decls`.split(
    /\s+/,
  ),
);

const TABLE: ReadonlyMap<string, string> = new Map([
  ['table:table', 'table'],
  ['table:table-row', 'tr'],
  ['table:table-cell', 'td'],
]);

const SIGNS: ReadonlyMap<string, string> = new Map([
  ['text:line-break', '<br>'],
  ['text:s', ' '],
  ['text:tab', ' '],
]);
