import { isUtf8 } from 'node:buffer';

export type EncodingFault = 'invalid' | 'cut' | 'utf-16le' | 'utf-16be' | 'utf-32le';

/** Bytes that are not UTF-8. */
export class TextEncodingError extends Error {
  override readonly name = 'TextEncodingError';
  readonly fault: EncodingFault;
  /** Offset of the first byte outside of a valid character. */
  readonly byteOffset: number;
  /** Line of that byte, from 1. */
  readonly line: number;

  constructor(fault: EncodingFault, byteOffset: number, line: number, byte: number) {
    super(describe(fault, byteOffset, line, byte));
    this.fault = fault;
    this.byteOffset = byteOffset;
    this.line = line;
  }
}

/** Decodes UTF-8 that arrives in pieces, cut anywhere. */
export interface Utf8Decoder {
  /** Returns the text of complete characters. @throws TextEncodingError */
  write(bytes: Uint8Array): string;
  /** Returns the rest. @throws TextEncodingError when the bytes end inside a character */
  end(): string;
}

/**
 * Decodes UTF-8, and drops a byte order mark.
 * @throws TextEncodingError, which names UTF-16 and UTF-32 by their byte order mark
 */
export function decodeUtf8(bytes: Uint8Array): string {
  // What has no fault needs none to be found.
  if (isUtf8(bytes)) return new TextDecoder().decode(bytes);
  const decoder = createUtf8Decoder();
  return decoder.write(bytes) + decoder.end();
}

/** Creates a decoder for a stream, with the rules of {@link decodeUtf8}. */
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
    // A copy: the caller may reuse the bytes.
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
      // A byte order mark of UTF-16 or UTF-32 has up to four bytes.
      if (offset === 0 && all.length < 4 && (all[0] ?? 0) >= 0xfe) {
        held = new Uint8Array(all);
        return '';
      }
      return decode(all, false);
    },
    end: () => decode(held, true),
  };
}

/** Returns the number of bytes without an incomplete last character. */
function wholeCharacters(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (byte < 0x80) break;
    if (byte >= 0xc0) return sequenceLength(byte) > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

function sequenceLength(lead: number): number {
  if (lead < 0x80) return 1;
  if (lead < 0xc2) return 0;
  if (lead < 0xe0) return 2;
  if (lead < 0xf0) return 3;
  return lead < 0xf5 ? 4 : 0;
}

function faultIn(bytes: Uint8Array, offset: number, line: number, ended: boolean) {
  const foreign = offset === 0 ? foreignMark(bytes) : undefined;
  if (foreign !== undefined) return new TextEncodingError(foreign, 0, 1, bytes[0] ?? 0);
  let at = 0;
  let faultLine = line;
  for (let length = validAt(bytes, 0); length > 0; length = validAt(bytes, at)) {
    if (bytes[at] === 0x0a) faultLine += 1;
    at += length;
  }
  const needed = sequenceLength(bytes[at] ?? 0);
  const cut = ended && at + needed > bytes.length && isPrefix(bytes, at, bytes.length - at);
  return new TextEncodingError(cut ? 'cut' : 'invalid', offset + at, faultLine, bytes[at] ?? 0);
}

/** Returns the length of the valid sequence at `at`, or 0. */
function validAt(bytes: Uint8Array, at: number): number {
  if (at >= bytes.length) return 0;
  const length = sequenceLength(bytes[at] ?? 0);
  return at + length <= bytes.length && isPrefix(bytes, at, length) ? length : 0;
}

/** Whether the `length` bytes at `at` begin a valid sequence (RFC 3629, section 4). */
function isPrefix(bytes: Uint8Array, at: number, length: number): boolean {
  const lead = bytes[at] ?? 0;
  for (let index = 1; index < length; index += 1) {
    const byte = bytes[at + index] ?? 0;
    const [low, high] = index === 1 ? secondByteRange(lead) : ANY_CONTINUATION;
    if (byte < low || byte > high) return false;
  }
  return length > 0 && sequenceLength(lead) > 0;
}

const ANY_CONTINUATION: readonly [number, number] = [0x80, 0xbf];

/** Excludes overlong forms, surrogates and code points above U+10FFFF. */
function secondByteRange(lead: number): readonly [number, number] {
  if (lead === 0xe0) return [0xa0, 0xbf];
  if (lead === 0xed) return [0x80, 0x9f];
  if (lead === 0xf0) return [0x90, 0xbf];
  if (lead === 0xf4) return [0x80, 0x8f];
  return ANY_CONTINUATION;
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
