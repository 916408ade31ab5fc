import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';

export type EncodingFault = 'invalid' | 'cut' | 'utf-16le' | 'utf-16be' | 'utf-32le';

/** Thrown for bytes that are not valid UTF-8. */
export class TextEncodingError extends Error {
  override readonly name = 'TextEncodingError';
  readonly fault: EncodingFault;
  /** Offset of the first byte that is not part of a valid character. */
  readonly byteOffset: number;
  /** Number of the line that contains the invalid byte, from 1. */
  readonly line: number;
  /** The invalid byte. */
  readonly byte: number;

  constructor(fault: EncodingFault, byteOffset: number, line: number, byte: number) {
    super(describe(fault, byteOffset, line, byte));
    this.fault = fault;
    this.byteOffset = byteOffset;
    this.line = line;
    this.byte = byte;
  }
}

/** A decoder for a UTF-8 stream, whose chunks may end within a character. */
export interface Utf8Decoder {
  /** Adds bytes and returns the text of the characters that are now complete. @throws TextEncodingError */
  write(bytes: Uint8Array): string;
  /**
   * Ends the input, and returns the rest of the text.
   * @throws TextEncodingError if the stream ends within a character
   */
  end(): string;
}

/**
 * Decodes UTF-8 and removes a byte order mark.
 * @throws TextEncodingError if the bytes are not UTF-8. The message names UTF-16 or little-endian UTF-32 if the bytes
 * begin with its byte order mark.
 */
export function decodeUtf8(bytes: Uint8Array): string {
  if (isUtf8(bytes)) return new TextDecoder().decode(bytes);
  const decoder = createUtf8Decoder();
  return decoder.write(bytes) + decoder.end();
}

/**
 * Decodes bytes in one call. Without `stream`, many versions of Node decode windows-1252 as Latin-1
 * (`findings/node-decodes-windows-1252-as-latin-1.sh`).
 * @throws TypeError if the decoder is `fatal` and the bytes are not valid
 */
export function decodeAll(decoder: TextDecoder, bytes: Uint8Array): string {
  return decoder.decode(bytes, { stream: true }) + decoder.decode();
}

/** Creates a decoder for a stream. It follows the same rules as {@link decodeUtf8}. */
export function createUtf8Decoder(): Utf8Decoder {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  let held: Uint8Array = new Uint8Array(0);
  let offset = 0;
  let line = 1;
  let begun = false;

  function decode(bytes: Uint8Array, ended: boolean): string {
    const whole = ended ? bytes.length : wholeCharacters(bytes);
    let text: string;
    try {
      text = decoder.decode(bytes.subarray(0, whole));
    } catch {
      throw faultIn(bytes, offset, line, ended);
    }
    // Copy the bytes, because the caller may reuse their memory.
    held = new Uint8Array(bytes.subarray(whole));
    offset += whole;
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) line += 1;
    const marked = !begun && text.startsWith('\ufeff');
    begun ||= text !== '';
    return marked ? text.slice(1) : text;
  }

  return {
    write(bytes) {
      const all = held.length === 0 ? bytes : Buffer.concat([held, bytes]);
      // Wait for four bytes, the maximum length of a byte order mark of UTF-16 or UTF-32.
      if (offset === 0 && all.length < 4 && (all[0] ?? 0) >= 0xfe) {
        held = new Uint8Array(all);
        return '';
      }
      return decode(all, false);
    },
    end: () => decode(held, true),
  };
}

function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) break;
    const length = byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    if (byte >= 0xc0) return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

function faultIn(bytes: Uint8Array, offset: number, line: number, ended: boolean) {
  const foreign = offset === 0 ? foreignMark(bytes) : undefined;
  if (foreign !== undefined) return new TextEncodingError(foreign, 0, 1, bytes[0] ?? 0);
  const at = firstInvalid(bytes);
  const fault = ended && isIncompleteCharacter(bytes.subarray(at)) ? 'cut' : 'invalid';
  const faultLine = line + bytes.subarray(0, at).filter((byte) => byte === LINE_FEED).length;
  return new TextEncodingError(fault, offset + at, faultLine, bytes[at] ?? 0);
}

const LINE_FEED = 0x0a;

function firstInvalid(bytes: Uint8Array): number {
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  const encoded = Buffer.from(text);
  let at = encoded.findIndex((byte, index) => byte !== bytes[index]);
  // The replacement character U+FFFD may share its first bytes with the invalid bytes, so go back to its first byte.
  while (((encoded[at] ?? 0) & 0xc0) === 0x80) at -= 1;
  return at;
}

function isIncompleteCharacter(bytes: Uint8Array): boolean {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true }) === '';
  } catch {
    return false;
  }
}

function foreignMark(bytes: Uint8Array): EncodingFault | undefined {
  const [a, b, c, d] = bytes;
  if (a === 0xff && b === 0xfe) return c === 0 && d === 0 ? 'utf-32le' : 'utf-16le';
  return a === 0xfe && b === 0xff ? 'utf-16be' : undefined;
}

const FOREIGN_NAMES = {
  'utf-16le': 'UTF-16 (little-endian)',
  'utf-16be': 'UTF-16 (big-endian)',
  'utf-32le': 'UTF-32 (little-endian)',
} as const;

function describe(fault: EncodingFault, byteOffset: number, line: number, byte: number): string {
  const where = `at offset ${byteOffset}, line ${line}`;
  if (fault === 'invalid') {
    return `not valid UTF-8: byte 0x${byte.toString(16).padStart(2, '0')} ${where}`;
  }
  if (fault === 'cut') return `not valid UTF-8: it ends inside a character ${where}`;
  return `${FOREIGN_NAMES[fault]}, not UTF-8`;
}
