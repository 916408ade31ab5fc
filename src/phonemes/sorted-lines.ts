import { readFileSync } from 'node:fs';

/** Returns the value of a key, or undefined if the file does not have the key. */
export type Lookup = (key: string) => string | undefined;

/**
 * Opens a file of lines `key<TAB>value` that are sorted by the bytes of the key. A lookup halves the file until it
 * finds the line, so that opening a file of megabytes takes no more time than reading it.
 */
export function openSortedLines(file: string | URL): Lookup {
  const bytes = readFileSync(file);
  // Texts repeat their words.
  const recent = new Map<string, string | undefined>();
  return (key) => {
    if (recent.has(key)) return recent.get(key);
    if (recent.size > MOST_RECENT) recent.clear();
    const value = findLine(bytes, key);
    recent.set(key, value);
    return value;
  };
}

const MOST_RECENT = 20_000;

function findLine(bytes: Buffer, key: string): string | undefined {
  const wanted = Buffer.from(key);
  let low = 0;
  let high = bytes.length;
  while (low < high) {
    const start = lineStart(bytes, (low + high) >> 1, low);
    const order = compareKey(bytes, start, wanted);
    if (order === 0) return valueOf(bytes, start + wanted.length + 1);
    if (order < 0) low = nextLine(bytes, start);
    else high = start;
  }
  return undefined;
}

const TAB = 9;
const LINE_FEED = 10;

/** Returns the start of the line that contains a byte. */
function lineStart(bytes: Buffer, at: number, low: number): number {
  let start = at;
  while (start > low && bytes[start - 1] !== LINE_FEED) start -= 1;
  return start;
}

function nextLine(bytes: Buffer, start: number): number {
  const end = bytes.indexOf(LINE_FEED, start);
  return end === -1 ? bytes.length : end + 1;
}

/** Returns a number below 0 if the key of the line sorts before the wanted key, above 0 if after it. */
function compareKey(bytes: Buffer, start: number, wanted: Buffer): number {
  let at = 0;
  while (at < wanted.length && bytes[start + at] === wanted[at]) at += 1;
  const found = bytes[start + at] ?? TAB;
  if (at === wanted.length) return found === TAB ? 0 : 1;
  return found === TAB ? -1 : found - (wanted[at] ?? 0);
}

function valueOf(bytes: Buffer, start: number): string {
  const end = bytes.indexOf(LINE_FEED, start);
  return bytes.toString('utf8', start, end === -1 ? bytes.length : end);
}
