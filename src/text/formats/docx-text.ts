import type { DocxNumbering } from './docx-numbering.ts';
import type { DocxProperties, DocxStyles } from './docx-styles.ts';
import { readProperty } from './docx-styles.ts';
import { escapeHtml, HtmlWriter } from './html-writer.ts';
import { OfficeMath } from './office-math.ts';
import type { Attributes } from './xml.ts';

interface DocxParagraph extends DocxProperties {
  style: string | undefined;
  // Its end was deleted, so that the next paragraph continues it.
  isJoined: boolean;
  readonly inline: string[];
}

interface DocxRun extends DocxProperties {
  style: string | undefined;
}

interface DocxField {
  code: string;
  isResult: boolean;
}

/** Receives the elements of the main file of a Word document. */
export class DocxReader {
  readonly html = new HtmlWriter();
  hasBody = false;
  readonly #styles: DocxStyles;
  readonly #numbering: DocxNumbering;
  #silent = 0;
  // A text box has paragraphs within the paragraph that it is anchored to.
  readonly #paragraphs: DocxParagraph[] = [];
  #joined: readonly string[] = [];
  #run: DocxRun | undefined;
  #isInProperties = false;
  readonly #fields: DocxField[] = [];
  #isText: 'code' | 'no' | 'text' = 'no';
  #math: OfficeMath | undefined;
  // The next content of a control is a printed table of contents, or a prompt.
  #isUnreadControl = false;

  constructor(styles: DocxStyles, numbering: DocxNumbering) {
    this.#styles = styles;
    this.#numbering = numbering;
  }

  open(name: string, attributes: Attributes): void {
    if (this.#silent > 0 || this.#isSilent(name, attributes)) this.#silent += 1;
    else if (name === 'w:p') this.#openParagraph();
    else if (name === 'w:r') this.#run = { style: undefined };
    else if (name === 'w:t' || name === 'm:t') this.#isText = 'text';
    else if (name === 'w:instrText') this.#isText = 'code';
    else if (name === 'm:oMath') this.#math = new OfficeMath();
    else if (name.startsWith('m:')) this.#math?.open(name, attributes['m:val']);
    else if (TABLE.has(name)) this.html.add(`<${TABLE.get(name)}>`);
    else if (name === 'w:fldChar') this.#field(attributes['w:fldCharType']);
    else if (name === 'w:body') this.hasBody = true;
    else if (name === 'w:pPr') this.#isInProperties = true;
    else if (SIGNS.has(name) && !this.#isInProperties) this.#write(SIGNS.get(name) ?? '');
    else if (name === 'wp:docPr') this.#image(attributes['descr'] ?? '');
    else this.#property(name, attributes);
  }

  close(name: string): void {
    if (this.#silent > 0) this.#silent -= 1;
    else if (name === 'w:p') this.#endParagraph();
    else if (name === 'w:r') this.#run = undefined;
    else if (name === 'w:t' || name === 'm:t' || name === 'w:instrText') this.#isText = 'no';
    else if (name === 'm:oMath') this.#endMath();
    else if (name.startsWith('m:')) this.#math?.close(name);
    else if (TABLE.has(name)) this.html.add(`</${TABLE.get(name)}>`);
    else if (name === 'w:pPr') this.#isInProperties = false;
    else if (name === 'w:body') this.html.paragraph(this.#joined.join(''));
  }

  text(text: string): void {
    if (this.#silent > 0 || this.#isText === 'no') return;
    const field = this.#fields.at(-1);
    if (this.#isText === 'text') this.#write(escapeHtml(text), text);
    else if (field !== undefined && field.code.length < LONGEST_CODE) field.code += text;
  }

  #isSilent(name: string, attributes: Attributes): boolean {
    if (name === 'w:sdtPr') this.#isUnreadControl = false;
    if (name === 'w:docPartGallery') {
      this.#isUnreadControl ||= attributes['w:val'] === 'Table of Contents';
    }
    if (name === 'w:showingPlcHdr') this.#isUnreadControl = true;
    if (name === 'w:sdtContent' && this.#isUnreadControl) {
      this.#isUnreadControl = false;
      return true;
    }
    // In the properties of a paragraph, the element is empty and means the end of the paragraph.
    if (name === 'w:del' || name === 'w:moveFrom') return !this.#isInProperties;
    return name === 'w:fldSimple'
      ? SILENT_FIELD.test(attributes['w:instr'] ?? '')
      : SILENT.has(name);
  }

  #openParagraph(): void {
    this.#run = undefined;
    this.#paragraphs.push({ style: undefined, isJoined: false, inline: [...this.#joined] });
    this.#joined = [];
  }

  #property(name: string, attributes: Attributes): void {
    const paragraph = this.#paragraphs.at(-1);
    if (paragraph === undefined) return;
    if (!this.#isInProperties) {
      if (name === 'w:rStyle' && this.#run !== undefined) this.#run.style = attributes['w:val'];
      else if (this.#run !== undefined) readProperty(this.#run, name, attributes);
    } else if (name === 'w:pStyle') paragraph.style = attributes['w:val'];
    else if (name === 'w:del' || name === 'w:moveFrom') paragraph.isJoined = true;
    // The properties of the paragraph's end say nothing about its text.
    else if (PARAGRAPH_PROPERTIES.has(name)) readProperty(paragraph, name, attributes);
  }

  #field(type: string | undefined): void {
    const last = this.#fields.at(-1);
    if (type === 'begin') this.#fields.push({ code: '', isResult: false });
    else if (type === 'separate' && last !== undefined) last.isResult = true;
    else if (type === 'end') this.#fields.pop();
  }

  #isHidden(): boolean {
    const isUnread = this.#fields.some(
      ({ code, isResult }) => !isResult || SILENT_FIELD.test(code),
    );
    return isUnread || this.#runProperty('isHidden') === true;
  }

  #runProperty(key: 'isHidden' | 'isRaised'): boolean | undefined {
    return (
      this.#run?.[key] ??
      this.#styles.property(this.#run?.style, key) ??
      this.#styles.property(this.#paragraphs.at(-1)?.style, key)
    );
  }

  // Writes inline HTML of the current run. `text` is its text for a formula.
  #write(html: string, text = ''): void {
    if (this.#isHidden()) return;
    if (this.#math !== undefined) this.#math.text(text);
    else {
      const isRaised = this.#runProperty('isRaised') === true;
      this.#paragraphs.at(-1)?.inline.push(isRaised ? `<sup>${html}</sup>` : html);
    }
  }

  #image(alternative: string): void {
    if (alternative !== '') this.#write(`<img alt="${escapeHtml(alternative)}">`);
  }

  #endMath(): void {
    const formula = this.#math?.finish() ?? '';
    this.#math = undefined;
    this.#write(formula);
  }

  #endParagraph(): void {
    const paragraph = this.#paragraphs.pop();
    this.#run = undefined;
    if (paragraph === undefined) return;
    const { inline, isJoined, style } = paragraph;
    // A field without an end hides no more than its paragraph.
    while (this.#fields.at(-1)?.isResult === false) this.#fields.pop();
    if (isJoined) {
      this.#joined = inline;
      return;
    }
    const content = inline.join('');
    const name = this.#styles.nameOf(style);
    if (CONTENTS.test(name)) return;
    const list = paragraph.list ?? this.#styles.property(style, 'list') ?? '0';
    const depth = paragraph.depth ?? this.#styles.property(style, 'depth') ?? 0;
    const number = list === '0' ? undefined : this.#numbering.next(list, depth);
    const level = paragraph.level ?? this.#styles.property(style, 'level') ?? BODY_LEVEL;
    if (level < BODY_LEVEL) this.html.heading(level, joinNumber(number?.text, content));
    else if (this.#styles.property(style, 'isTitle') === true) this.html.title(content);
    else if (number === undefined) this.html.paragraph(content);
    else if (/\p{L}{2}/u.test(number.text)) {
      this.html.item({ ...number, type: undefined }, joinNumber(number.text, content));
    } else this.html.item(number, content);
  }
}

function joinNumber(number: string | undefined, content: string): string {
  return number === undefined || number === '' ? content : `${escapeHtml(number)} ${content}`;
}

// Of the parts of a change, the properties before the change are left out.
const SILENT = new Set(
  `mc:Fallback w:customXmlDelRange w:delInstrText w:delText w:numberingChange w:pPrChange w:rPrChange w:rt w:sectPr
  w:sectPrChange w:tblGridChange w:tblPr w:tblPrChange w:tblPrExChange w:tcPr w:tcPrChange w:trPrChange`.split(
    /\s+/,
  ),
);
const SILENT_FIELD = /^\s*(?:INDEX|NUMPAGES|PAGE|SECTIONPAGES|TOA|TOC)\b/i;
const LONGEST_CODE = 200;
const CONTENTS = /^(?:toc|index|table of (?:authorities|figures)|toa)(?: heading| ?\d)?$/;
const BODY_LEVEL = 10;
const PARAGRAPH_PROPERTIES = new Set(['w:ilvl', 'w:numId', 'w:outlineLvl']);

const TABLE: ReadonlyMap<string, string> = new Map([
  ['w:tbl', 'table'],
  ['w:tc', 'td'],
  ['w:tr', 'tr'],
]);

const SIGNS: ReadonlyMap<string, string> = new Map([
  ['w:br', '<br>'],
  ['w:cr', '<br>'],
  ['w:noBreakHyphen', '\u2011'],
  ['w:ptab', ' '],
  ['w:softHyphen', '\u00ad'],
  ['w:tab', ' '],
]);
