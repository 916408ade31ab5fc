import type { Format } from './formats.ts';
import { mp3FrameLength, id3TagLength } from './mp3.ts';

/** What leading bytes can be recognised as: formats with a mark, and what comes in their place. */
export type SniffedFormat =
  | Exclude<Format, 'pcm' | 'opus'>
  | 'aiff'
  | 'gif'
  | 'gzip'
  | 'html'
  | 'json';

type Sniffed =
  | { readonly kind: 'known'; readonly format: SniffedFormat }
  /** Undecided; with a head of `bytes` it goes on (there may be another `more`). */
  | { readonly kind: 'more'; readonly bytes: number }
  | { readonly kind: 'unknown' };

/** No more than this many leading bytes are ever asked for. */
export const SNIFF_BYTES_MAX = 65_536;

/**
 * What a file is, by its first bytes. A longer head never contradicts an answer. An `ogg` may hold
 * Vorbis, Opus or FLAC. An ID3 tag is looked behind, since AAC and FLAC files may carry one too; one
 * that is longer than {@link SNIFF_BYTES_MAX} is taken for mp3's.
 */
export function sniff(head: Uint8Array): Sniffed {
  if (head.length === 0) return { kind: 'more', bytes: 4 };
  let bytes = 0;
  for (const { format, marks } of SIGNATURES) {
    const needed = undecidedUpTo(head, marks);
    if (needed === 0 && bytes === 0) return { kind: 'known', format };
    bytes = Math.max(bytes, needed ?? 0);
  }
  if (bytes > 0) return { kind: 'more', bytes };
  if (startsWith(head, 0, 'ID3') === 'yes') return behindTag(head);
  return head[0] === 0xff ? mpegAudio(head) : text(head);
}

interface Signature {
  readonly format: SniffedFormat;
  readonly marks: readonly (readonly [offset: number, mark: string])[];
}

/** In order: what stands at the beginning before what stands later, the longer before the shorter. */
const SIGNATURES: readonly Signature[] = [
  {
    format: 'wav',
    marks: [
      [0, 'RIFF'],
      [8, 'WAVE'],
    ],
  },
  {
    format: 'wav',
    marks: [
      [0, 'RF64'],
      [8, 'WAVE'],
    ],
  },
  {
    format: 'webp',
    marks: [
      [0, 'RIFF'],
      [8, 'WEBP'],
    ],
  },
  {
    format: 'aiff',
    marks: [
      [0, 'FORM'],
      [8, 'AIF'],
    ],
  },
  { format: 'ogg', marks: [[0, 'OggS']] },
  { format: 'flac', marks: [[0, 'fLaC']] },
  { format: 'webm', marks: [[0, '\x1aE\xdf\xa3']] },
  { format: 'png', marks: [[0, '\x89PNG']] },
  { format: 'jpeg', marks: [[0, '\xff\xd8\xff']] },
  { format: 'gif', marks: [[0, 'GIF8']] },
  { format: 'gzip', marks: [[0, '\x1f\x8b']] },
  { format: 'm4a', marks: [[4, 'ftypM4A']] },
  { format: 'm4a', marks: [[4, 'ftypM4B']] },
  { format: 'mp4', marks: [[4, 'ftyp']] },
];

/** 0 when every mark is there, undefined when one cannot be, else the bytes that would tell. */
function undecidedUpTo(head: Uint8Array, marks: Signature['marks']): number | undefined {
  let needed = 0;
  for (const [offset, mark] of marks) {
    const found = startsWith(head, offset, mark);
    if (found === 'no') return undefined;
    if (found === 'maybe') needed = offset + mark.length;
  }
  return needed;
}

function startsWith(head: Uint8Array, offset: number, mark: string): 'yes' | 'no' | 'maybe' {
  for (let index = 0; index < mark.length; index += 1) {
    if (offset + index >= head.length) return 'maybe';
    if (head[offset + index] !== mark.charCodeAt(index)) return 'no';
  }
  return 'yes';
}

function behindTag(head: Uint8Array): Sniffed {
  const end = id3TagLength(head, 0);
  if (end === undefined) return { kind: 'more', bytes: 10 };
  if (end === 0) return { kind: 'unknown' };
  if (end + 4 > SNIFF_BYTES_MAX) return { kind: 'known', format: 'mp3' };
  const behind = sniff(head.subarray(end));
  return behind.kind === 'more'
    ? { kind: 'more', bytes: Math.min(SNIFF_BYTES_MAX, end + behind.bytes) }
    : behind;
}

function mpegAudio(head: Uint8Array): Sniffed {
  const [, second, third, fourth] = head;
  if (second === undefined || third === undefined || fourth === undefined) {
    return { kind: 'more', bytes: 4 };
  }
  if (mp3FrameLength(second, third) > 0) return { kind: 'known', format: 'mp3' };
  return (second & 0xf6) === 0xf0 ? { kind: 'known', format: 'aac' } : { kind: 'unknown' };
}

/** What an error page or an error body looks like, after white space and a byte order mark. */
function text(head: Uint8Array): Sniffed {
  const start = Buffer.from(head.subarray(0, TEXT_BYTES)).toString('latin1');
  const match = /^(?:ï»¿)?[\t\n\r ]*([^\t\n\r ï»¿])/.exec(start)?.[1];
  if (match === '<') return { kind: 'known', format: 'html' };
  if (match === '{' || match === '[') return { kind: 'known', format: 'json' };
  const undecided = match === undefined && head.length < TEXT_BYTES;
  return undecided && /^[ï»¿\t\n\r ]*$/.test(start)
    ? { kind: 'more', bytes: TEXT_BYTES }
    : { kind: 'unknown' };
}

const TEXT_BYTES = 64;
