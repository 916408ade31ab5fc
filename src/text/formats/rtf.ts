import type { SpokenText } from '../document.ts';
import { DocumentError } from './document-error.ts';
import type { ItemLabel } from './html-writer.ts';
import { escapeHtml, HtmlWriter } from './html-writer.ts';
import { RtfDecoder } from './rtf-decoder.ts';
import { readRtfTokens } from './rtf-tokens.ts';

/**
 * Extracts the text of a Rich Text document. Leaves out notes, comments, hidden text, deleted text of tracked changes,
 * page numbers, headers, footers and printed tables of contents.
 * @returns one text for each chapter
 * @throws DocumentError
 */
export function readRtf(bytes: Uint8Array): readonly SpokenText[] {
  const head = Buffer.from(bytes.subarray(0, HEAD_BYTES)).toString('latin1');
  const start = head.indexOf(String.raw`{\rtf`);
  if (start === -1)
    throw new DocumentError(String.raw`not Rich Text: it does not begin with {\rtf`);
  const reader = new RtfReader();
  readRtfTokens(bytes.subarray(start), reader);
  return reader.finish();
}

const HEAD_BYTES = 100;

type Destination = 'field' | 'fonts' | 'label' | 'shape' | 'skip' | 'styles' | 'text';

// What a group inherits from the group around it.
interface Group {
  readonly destination: Destination;
  readonly font: number | undefined;
  readonly isHidden: boolean;
  readonly isDeleted: boolean;
  readonly isRaised: boolean;
  // Number of characters after a Unicode character that repeat it for older programs.
  readonly fallbacks: number;
  // Number of the style of the paragraph.
  readonly style: number;
  // Level of the paragraph as a heading from 1; undefined if its style decides.
  readonly level: number | undefined;
  readonly isInTable: boolean;
}

const PLAIN: Group = {
  destination: 'text',
  font: undefined,
  isHidden: false,
  isDeleted: false,
  isRaised: false,
  fallbacks: 1,
  style: 0,
  level: undefined,
  isInTable: false,
};

interface Style {
  readonly name: string;
  // Level of a heading from 1; undefined for other paragraphs.
  readonly level: number | undefined;
}

class RtfReader {
  readonly #html = new HtmlWriter();
  readonly #decoder = new RtfDecoder();
  readonly #groups: Group[] = [];
  #group = PLAIN;
  // After `\*`, a group is left out unless its control word is known.
  #isOptional = false;
  #skipsNextGroup = false;
  // Bytes of text in one font.
  #bytes: number[] = [];
  // Number of characters to leave out, because they repeat a Unicode character.
  #fallbacks = 0;
  readonly #styles = new Map<number, Style>();
  #style = 0;
  #styleLevel: number | undefined;
  #styleName = '';
  #font = 0;
  readonly #fields: { readonly depth: number; code: string }[] = [];
  // The number or sign of a list item; undefined for other paragraphs.
  #label: string | undefined;
  #inline: string[] = [];
  #cell: string[] = [];
  #row: string[] = [];
  // The text before a text box, in its paragraph.
  readonly #anchors: { readonly depth: number; readonly inline: string[] }[] = [];

  open(): void {
    this.#flush();
    this.#fallbacks = 0;
    this.#groups.push(this.#group);
    if (this.#skipsNextGroup) this.#set({ destination: 'skip' });
    this.#skipsNextGroup = false;
    this.#isOptional = false;
  }

  close(): void {
    this.#flush();
    this.#fallbacks = 0;
    const depth = this.#groups.length;
    if (this.#anchors.at(-1)?.depth === depth) {
      this.#endParagraph();
      this.#inline = this.#anchors.pop()?.inline ?? [];
    }
    if (this.#fields.at(-1)?.depth === depth) this.#fields.pop();
    this.#group = this.#groups.pop() ?? PLAIN;
  }

  byte(byte: number): void {
    if (this.#fallbacks > 0) this.#fallbacks -= 1;
    else if (this.#group.destination !== 'skip') {
      this.#bytes.push(byte);
      // A space is never the second byte of a character.
      if (byte === 0x20 && this.#bytes.length > LONGEST_PIECE) this.#flush();
    }
  }

  control(word: string, parameter: number | undefined): void {
    if (word === '*') {
      this.#isOptional = true;
      return;
    }
    const isOptional = this.#isOptional;
    this.#isOptional = false;
    if (this.#fallbacks > 0 && SIGNS.has(word)) {
      this.#fallbacks -= 1;
      return;
    }
    this.#fallbacks = 0;
    this.#flush();
    const destination = DESTINATIONS.get(word) ?? (isOptional ? 'skip' : undefined);
    if (destination !== undefined) this.#enter(word, destination);
    else if (this.#group.destination === 'fonts') this.#fontControl(word, parameter);
    else if (this.#group.destination === 'styles') this.#styleControl(word, parameter);
    else if (this.#group.destination !== 'skip') this.#textControl(word, parameter);
  }

  /** Returns the text of the document. @throws DocumentError */
  finish(): readonly SpokenText[] {
    this.#flush();
    this.#endParagraph();
    this.#endRow();
    return this.#html.read();
  }

  #enter(word: string, destination: Destination): void {
    if (this.#group.destination === 'skip') return;
    const depth = this.#groups.length;
    if (word === 'field') this.#fields.push({ depth, code: '' });
    else if (word === 'shptxt') {
      this.#anchors.push({ depth, inline: this.#inline });
      this.#inline = [];
    }
    const isUnread = word === 'fldrslt' && SILENT_FIELD.test(this.#fields.at(-1)?.code ?? '');
    this.#set({ destination: isUnread ? 'skip' : destination });
    if (destination === 'label') this.#label = '';
  }

  #fontControl(word: string, parameter = 0): void {
    if (word === 'f') this.#font = parameter;
    else if (word === 'fcharset') this.#decoder.setCharset(this.#font, parameter);
    else if (word === 'cpg') this.#decoder.setPage(this.#font, parameter);
  }

  #styleControl(word: string, parameter = 0): void {
    if (word === 's') this.#style = parameter;
    else if (word === 'outlinelevel') this.#styleLevel = parameter + 1;
  }

  #textControl(word: string, parameter: number | undefined): void {
    const sign = SIGNS.get(word);
    const isOn = parameter !== 0;
    if (sign !== undefined) this.#text(sign);
    else if (word === 'u') this.#unicode(parameter ?? 0);
    else if (word === 'uc') this.#set({ fallbacks: parameter ?? 1 });
    else if (word === 'par' || word === 'sect' || word === '\n' || word === '\r')
      this.#endParagraph();
    else if (word === 'line') this.#add('<br>');
    else if (word === 'cell' || word === 'nestcell') this.#endCell();
    else if (word === 'row') this.#endRow();
    else if (word === 'f') this.#set({ font: parameter });
    else if (word === 'v' || word === 'webhidden') this.#set({ isHidden: isOn });
    else if (word === 'deleted') this.#set({ isDeleted: isOn });
    else if (word === 'super') this.#set({ isRaised: isOn });
    else if (word === 'nosupersub' || word === 'sub') this.#set({ isRaised: false });
    else if (word === 'plain') {
      this.#set({ font: undefined, isHidden: false, isDeleted: false, isRaised: false });
    } else if (word === 'upr') this.#skipsNextGroup = true;
    else if (word === 'ansicpg') this.#decoder.defaultPage = parameter ?? 1252;
    else if (word === 'mac') this.#decoder.defaultPage = 10_000;
    else if (word === 'pc') this.#decoder.defaultPage = 437;
    else if (word === 'pca') this.#decoder.defaultPage = 850;
    else this.#paragraphControl(word, parameter);
  }

  #paragraphControl(word: string, parameter = 0): void {
    if (word === 'pard') this.#set({ style: 0, level: undefined, isInTable: false });
    else if (word === 's') this.#set({ style: parameter });
    else if (word === 'outlinelevel') this.#set({ level: parameter + 1 });
    else if (word === 'intbl') this.#set({ isInTable: true });
  }

  #unicode(code: number): void {
    this.#text(String.fromCharCode(code & 0xffff));
    this.#fallbacks = this.#group.fallbacks;
  }

  #flush(): void {
    if (this.#bytes.length === 0) return;
    const bytes = this.#bytes;
    this.#bytes = [];
    if (this.#group.destination !== 'fonts')
      this.#text(this.#decoder.decode(bytes, this.#group.font));
  }

  #text(text: string): void {
    const { destination, isDeleted, isHidden } = this.#group;
    if (destination === 'styles') this.#styleText(text);
    else if (destination === 'label') this.#label = (this.#label ?? '') + text;
    else if (destination === 'field') {
      const field = this.#fields.at(-1);
      if (field !== undefined && field.code.length < LONGEST_CODE) field.code += text;
    } else if (destination === 'text' && !isHidden && !isDeleted) this.#add(escapeHtml(text));
  }

  // A semicolon ends each style.
  #styleText(text: string): void {
    for (const piece of text.split(/(;)/)) {
      if (piece !== ';') {
        this.#styleName += piece;
        continue;
      }
      const name = this.#styleName.trim().toLowerCase();
      const level = /^heading ([1-9])$/.exec(name)?.[1];
      const own = level === undefined ? this.#styleLevel : Number(level);
      this.#styles.set(this.#style, { name, level: own });
      this.#style = 0;
      this.#styleLevel = undefined;
      this.#styleName = '';
    }
  }

  #add(html: string): void {
    this.#inline.push(this.#group.isRaised ? `<sup>${html}</sup>` : html);
  }

  #endParagraph(isInTable = this.#group.isInTable): void {
    const content = this.#inline.join('').replaceAll(/\p{Cs}/gu, '\ufffd');
    const label = this.#label?.trim();
    this.#inline = [];
    this.#label = undefined;
    const { level, name = '' } = this.#styles.get(this.#group.style) ?? {};
    if (content.trim() === '' || CONTENTS.test(name)) return;
    const heading = this.#group.level ?? level ?? BODY_LEVEL;
    const item = label === undefined ? undefined : itemLabel(label);
    const isLabelSpoken =
      SPEAKABLE.test(label ?? '') && (item?.type === undefined || heading < BODY_LEVEL);
    const spoken = isLabelSpoken ? `${escapeHtml(label ?? '')} ${content}` : content;
    if (isInTable) this.#cell.push(`<p>${content}</p>`);
    else if (heading < BODY_LEVEL) this.#html.heading(heading, spoken);
    else if (TITLE.test(name)) this.#html.title(content);
    else if (item === undefined) this.#html.paragraph(content);
    else this.#html.item(item, spoken);
  }

  #endCell(): void {
    this.#endParagraph(true);
    this.#row.push(`<td>${this.#cell.join('')}</td>`);
    this.#cell = [];
  }

  #endRow(): void {
    if (this.#cell.length > 0) this.#endCell();
    if (this.#row.length > 0) this.#html.add(`<table><tr>${this.#row.join('')}</tr></table>`);
    this.#row = [];
  }

  #set(change: Partial<Group>): void {
    this.#group = { ...this.#group, ...change };
  }
}

function itemLabel(label: string): ItemLabel {
  const [, number, letter] = /^[([]?(?:(?:\d+\.)*(\d{1,9})|([a-z]))[.)\]:]*$/i.exec(label) ?? [];
  if (number !== undefined) return { type: '1', number: Number(number) };
  if (letter === undefined) return { type: undefined, number: 1 };
  return { type: 'a', number: (letter.toLowerCase().codePointAt(0) ?? 97) - 96 };
}

const SPEAKABLE = /[\p{L}\p{N}]/u;
const SILENT_FIELD = /^\s*(?:INDEX|NUMPAGES|PAGE|SECTIONPAGES|TOA|TOC)\b/i;
const LONGEST_CODE = 200;
const LONGEST_PIECE = 4_096;
const CONTENTS = /^(?:toc|index|table of (?:authorities|figures)|toa)(?: heading| ?\d)?$/;
const TITLE = /^(?:caption|subtitle|title)$/;
const BODY_LEVEL = 10;

const skipped =
  `annotation bkmkend bkmkstart colortbl footer footerf footerl footerr footnote ftncn ftnsep ftnsepc
  header headerf headerl headerr info listoverridetable listtable nonesttables nonshppict objdata pict revtbl rxe
  shprslt sn sp tc txe xe`.split(/\s+/);

// Groups that are read in another way than text. In `\shpinst`, only `\shptxt` is text.
const DESTINATIONS: ReadonlyMap<string, Destination> = new Map<string, Destination>([
  ...skipped.map((word) => [word, 'skip'] as const),
  ['field', 'text'],
  ['fldinst', 'field'],
  ['fldrslt', 'text'],
  ['fonttbl', 'fonts'],
  ['listtext', 'label'],
  ['pntext', 'label'],
  ['shpinst', 'shape'],
  ['shptxt', 'text'],
  ['stylesheet', 'styles'],
  ['ud', 'text'],
]);

const SIGNS: ReadonlyMap<string, string> = new Map([
  ['bullet', '•'],
  ['column', ' '],
  ['emdash', '—'],
  ['emspace', ' '],
  ['endash', '–'],
  ['enspace', ' '],
  ['ldblquote', '“'],
  ['lquote', '‘'],
  ['page', ' '],
  ['qmspace', ' '],
  ['rdblquote', '”'],
  ['rquote', '’'],
  ['tab', ' '],
  ['zwj', '\u200d'],
  ['zwnj', '\u200c'],
  ['{', '{'],
  ['}', '}'],
  ['\\', '\\'],
  ['~', '\u00a0'],
  ['_', '\u2011'],
  ['-', '\u00ad'],
]);
