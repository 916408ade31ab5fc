import { FIRST_PAGE, OGG_HEAD_BYTES, bodyLength, countPackets } from '../ogg.ts';
import { readOggHeader, writeOggPage } from '../ogg.ts';
import { pictureBlock, vorbisComments } from './comments.ts';
import type { FileHead } from './file-head.ts';
import type { Marks } from './tags.ts';

/** Replaces the comments in the header of an Ogg file while it is encoded. The chapters get their times at its end. */
export class OggFileHead implements FileHead {
  readonly #codec: OggCodec;
  readonly #marks: Marks;
  #bytes: Uint8Array = new Uint8Array(0);
  // Pages of the header that the encoder wrote.
  readonly #pages: Page[] = [];
  #isOpen = true;
  #added = 0;

  constructor(format: 'ogg' | 'opus', marks: Marks) {
    this.#codec = CODECS[format];
    this.#marks = marks;
  }

  pass(bytes: Uint8Array): readonly Uint8Array[] {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    const passed: Uint8Array[] = [];
    for (let page = this.#next(); page !== undefined; page = this.#next()) {
      if (!this.#isOpen) {
        passed.push(renumbered(page, this.#added));
        continue;
      }
      this.#pages.push(page);
      const packets = this.#pages.reduce((sum, { head }) => sum + countPackets(head.table), 0);
      if (packets < this.#codec.headers) continue;
      this.#isOpen = false;
      const pages = this.#write();
      this.#added = pages.length - this.#pages.length;
      passed.push(...pages);
    }
    return passed;
  }

  finish(): Uint8Array | undefined {
    return this.#isOpen ? undefined : Buffer.concat(this.#write());
  }

  #next(): Page | undefined {
    const bytes = this.#bytes;
    const headBytes = OGG_HEAD_BYTES + (bytes[OGG_HEAD_BYTES - 1] ?? 0);
    if (bytes.length < OGG_HEAD_BYTES || bytes.length < headBytes) return undefined;
    const head = readOggHeader(bytes);
    const end = headBytes + bodyLength(head.table);
    if (bytes.length < end) return undefined;
    this.#bytes = bytes.subarray(end);
    return { head, body: bytes.subarray(headBytes, end) };
  }

  #write(): readonly Uint8Array[] {
    const [first, , ...others] = packetsOf(this.#pages);
    const serial = this.#pages[0]?.head.serial ?? 0;
    const { chapters, tags } = this.#marks;
    const { cover } = tags;
    const picture =
      cover === undefined
        ? []
        : [`METADATA_BLOCK_PICTURE=${pictureBlock(cover).toString('base64')}`];
    const comments = Buffer.concat([
      Buffer.from(this.#codec.name, 'latin1'),
      vorbisComments(tags, chapters(), picture),
      this.#codec.end,
    ]);
    return [
      ...pagesOf([first ?? new Uint8Array(0)], { serial, sequence: 0, flags: FIRST_PAGE }),
      ...pagesOf([comments, ...others], { serial, sequence: 1, flags: 0 }),
    ];
  }
}

interface Page {
  readonly head: ReturnType<typeof readOggHeader>;
  readonly body: Uint8Array;
}

interface OggCodec {
  /** Number of packets in the header. The first page has the first one, the second one has the comments. */
  readonly headers: number;
  /** The bytes in front of the comments, in Latin-1. */
  readonly name: string;
  readonly end: Uint8Array;
}

// Vorbis I, section 4.2; RFC 7845, section 5.
const CODECS: Readonly<Record<'ogg' | 'opus', OggCodec>> = {
  ogg: { headers: 3, name: '\u0003vorbis', end: Uint8Array.of(1) },
  opus: { headers: 2, name: 'OpusTags', end: new Uint8Array(0) },
};

const CONTINUED_PAGE = 1;
const MOST_SEGMENTS = 255;
const SEGMENT_BYTES = 255;
// The granule of a page on which no packet ends.
const NO_GRANULE = -1n;

function renumbered({ body, head }: Page, added: number): Uint8Array {
  return writeOggPage({ ...head, sequence: head.sequence + added }, [body]);
}

function packetsOf(pages: readonly Page[]): readonly Uint8Array[] {
  const bytes = Buffer.concat(pages.map(({ body }) => body));
  const packets: Uint8Array[] = [];
  let [start, end] = [0, 0];
  for (const segment of pages.flatMap(({ head }) => [...head.table])) {
    end += segment;
    if (segment === SEGMENT_BYTES) continue;
    packets.push(bytes.subarray(start, end));
    start = end;
  }
  return packets;
}

function pagesOf(
  packets: readonly Uint8Array[],
  { flags, sequence, serial }: { flags: number; sequence: number; serial: number },
): readonly Uint8Array[] {
  const segments = packets.flatMap(({ length }) => [
    ...Array.from({ length: Math.floor(length / SEGMENT_BYTES) }, () => SEGMENT_BYTES),
    length % SEGMENT_BYTES,
  ]);
  const bytes = Buffer.concat(packets);
  const pages: Uint8Array[] = [];
  let at = 0;
  for (let first = 0; first < segments.length; first += MOST_SEGMENTS) {
    const table = Uint8Array.from(segments.slice(first, first + MOST_SEGMENTS));
    const end = at + bodyLength(table);
    const isContinued = segments[first - 1] === SEGMENT_BYTES;
    const granule = countPackets(table) > 0 ? 0n : NO_GRANULE;
    const header = {
      flags: flags | (isContinued ? CONTINUED_PAGE : 0),
      granule,
      serial,
      sequence: sequence + pages.length,
      table,
    };
    pages.push(writeOggPage(header, [bytes.subarray(at, end)]));
    at = end;
  }
  return pages;
}
