import { DocumentError } from './document-error.ts';

/** Receives the content of Rich Text in order. */
export interface RtfHandler {
  open(): void;
  close(): void;
  /** A control word such as `par`, or a control sign such as `~`. */
  control(word: string, parameter: number | undefined): void;
  /** A byte of text, whose code page depends on the font. */
  byte(byte: number): void;
}

const [BACKSLASH, OPEN, CLOSE, QUOTE, MINUS, SPACE] = [0x5c, 0x7b, 0x7d, 0x27, 0x2d, 0x20];
const MAX_DEPTH = 1_000;

/**
 * Reads the groups, the control words and the bytes of Rich Text. Skips binary data. The time is proportional to the
 * length.
 * @throws DocumentError for groups that are nested too deep
 */
export function readRtfTokens(bytes: Uint8Array, handler: RtfHandler): void {
  let depth = 0;
  let at = 0;
  while (at < bytes.length) {
    const byte = bytes[at] ?? 0;
    at += 1;
    if (byte === OPEN) {
      depth += 1;
      if (depth > MAX_DEPTH) {
        throw new DocumentError(`groups are nested more than ${MAX_DEPTH} levels deep`);
      }
      handler.open();
    } else if (byte === CLOSE) {
      // What follows the outermost group is no part of the document.
      if (depth <= 1) break;
      depth -= 1;
      handler.close();
    } else if (byte === BACKSLASH) at = readControl(bytes, at, handler);
    else if (byte !== 0x0a && byte !== 0x0d && byte !== 0) handler.byte(byte);
  }
}

function readControl(bytes: Uint8Array, from: number, handler: RtfHandler): number {
  const first = bytes[from] ?? 0;
  if (first === QUOTE) {
    const byte = Number.parseInt(latin1(bytes, from + 1, from + 3), 16);
    if (!Number.isNaN(byte)) handler.byte(byte);
    return from + 3;
  }
  if (!isLetter(first)) {
    handler.control(String.fromCharCode(first), undefined);
    return from + 1;
  }
  let at = from + 1;
  while (isLetter(bytes[at]) && at < from + LONGEST_WORD) at += 1;
  const word = latin1(bytes, from, at);
  const start = at;
  if (bytes[at] === MINUS && isDigit(bytes[at + 1])) at += 1;
  while (isDigit(bytes[at]) && at < start + LONGEST_NUMBER) at += 1;
  const parameter = at === start ? undefined : Number(latin1(bytes, start, at));
  if (bytes[at] === SPACE) at += 1;
  handler.control(word, parameter);
  return word === 'bin' ? at + Math.max(0, parameter ?? 0) : at;
}

const LONGEST_WORD = 40;
const LONGEST_NUMBER = 11;

function latin1(bytes: Uint8Array, from: number, to: number): string {
  return String.fromCharCode(...bytes.subarray(from, to));
}

function isLetter(byte = 0): boolean {
  return (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x41 && byte <= 0x5a);
}

function isDigit(byte = 0): boolean {
  return byte >= 0x30 && byte <= 0x39;
}
