import { crc32 } from 'node:zlib';

/** The version of the lines that this foley writes, and the newest that it reads. */
const JOURNAL_VERSION = 1;

/** What was read of a journal. */
interface JournalLines {
  readonly records: readonly Readonly<Record<string, unknown>>[];
  /** Lines that are torn or damaged. */
  readonly garbled: number;
  /** Whether the last line was cut off: its writer was killed, and nothing was built on it. */
  readonly isTorn: boolean;
  /** Whether a line was written, whole, by a later version. */
  readonly isNewer: boolean;
}

/**
 * One record as a line of a journal: version, checksum, JSON. It begins with a line end of its own, so
 * that after a record that was cut short the next one still stands on a line by itself.
 */
export function journalLine(record: Readonly<Record<string, unknown>>): Buffer {
  const json = JSON.stringify(record);
  return Buffer.from(`\nv${JOURNAL_VERSION} ${checksum(JOURNAL_VERSION, json)} ${json}\n`);
}

/**
 * Reads lines, whatever happened to them. The shape of a line, up to its JSON, is the same in every
 * version; lines of a later one are only counted.
 */
export function parseJournal(content: string): JournalLines {
  const records: Readonly<Record<string, unknown>>[] = [];
  let garbled = 0;
  let isNewer = false;
  let isGarbledLast = false;
  for (const line of content.split('\n')) {
    if (line === '') continue;
    const [, version, sum, json = ''] = /^v(\d{1,6}) ([0-9a-f]{8}) (.*)$/s.exec(line) ?? [];
    const number = Number(version);
    const isWhole = sum !== undefined && sum === checksum(number, json);
    const record = isWhole ? parseObject(json) : undefined;
    isGarbledLast = record === undefined && !isWhole;
    if (isWhole && number > JOURNAL_VERSION) isNewer = true;
    else if (record === undefined) garbled += 1;
    else records.push(record);
  }
  const isTorn = garbled > 0 && !content.endsWith('\n') && isGarbledLast;
  return { records, garbled, isTorn, isNewer };
}

function checksum(version: number, json: string): string {
  return crc32(`v${version} ${json}`).toString(16).padStart(8, '0');
}

function parseObject(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? Object.fromEntries(Object.entries(value)) : undefined;
  } catch {
    return undefined;
  }
}
