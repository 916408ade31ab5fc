import { TextDecoder } from 'node:util';
import { decodeAll } from '../decode.ts';
import { DocumentError } from './document-error.ts';

/** Decodes the bytes of Rich Text, whose code page depends on the font. */
export class RtfDecoder {
  readonly #fonts = new Map<number, number | undefined>();
  readonly #decoders = new Map<number, TextDecoder>();
  /** The code page of text in fonts without one of their own. */
  defaultPage = 1252;

  /** Sets the code page of a font by its character set, the parameter of `\fcharset`. */
  setCharset(font: number, charset: number): void {
    this.#fonts.set(font, charset === 1 ? undefined : PAGES[charset]);
  }

  /** Sets the code page of a font. */
  setPage(font: number, page: number): void {
    this.#fonts.set(font, page);
  }

  /** Returns the text of bytes in a font; empty for the signs of a symbol font. @throws DocumentError */
  decode(bytes: readonly number[], font: number | undefined): string {
    if (bytes.every((byte) => byte < 0x80)) return Buffer.from(bytes).toString('latin1');
    const page = this.#fonts.get(font ?? -1) ?? this.defaultPage;
    if (page === SYMBOLS) return '';
    const known = this.#decoders.get(page);
    const decoder = known ?? this.#create(page);
    if (known === undefined) this.#decoders.set(page, decoder);
    return decodeAll(decoder, Uint8Array.from(bytes));
  }

  #create(page: number): TextDecoder {
    try {
      return new TextDecoder(LABELS[page] ?? `windows-${page}`);
    } catch {
      throw new DocumentError(`the code page ${page} is not supported`, {
        hint: 'Save the document as .docx or .odt.',
      });
    }
  }
}

const SYMBOLS = 42;

// The code pages of character sets.
const PAGES: Readonly<Record<number, number>> = {
  0: 1252,
  2: SYMBOLS,
  77: 10_000,
  128: 932,
  129: 949,
  130: 1361,
  134: 936,
  136: 950,
  161: 1253,
  162: 1254,
  163: 1258,
  177: 1255,
  178: 1256,
  186: 1257,
  204: 1251,
  222: 874,
  238: 1250,
  254: 437,
  255: 850,
};

// Other names of code pages than `windows-N`.
const LABELS: Readonly<Record<number, string>> = {
  866: 'ibm866',
  932: 'shift_jis',
  936: 'gbk',
  949: 'euc-kr',
  950: 'big5',
  10_000: 'macintosh',
  10_007: 'x-mac-cyrillic',
  20_866: 'koi8-r',
  21_866: 'koi8-u',
  28_592: 'iso-8859-2',
  28_595: 'iso-8859-5',
  65_001: 'utf-8',
};
