import type { Format } from './formats.ts';
import { mp3FrameLength, id3TagLength } from './mp3.ts';

/** The formats that {@link sniff} detects: media formats, and formats that servers send by mistake, such as HTML. */
export type SniffedFormat =
  | Exclude<Format, 'pcm' | 'opus'>
  | 'aiff'
  | 'gif'
  | 'gzip'
  | 'html'
  | 'json';

type Sniffed =
  | { readonly kind: 'known'; readonly format: SniffedFormat }
  /** The format is not certain yet: call `sniff` again with at least `bytes` bytes from the beginning of the file. */
  | { readonly kind: 'more'; readonly bytes: number }
  | { readonly kind: 'unknown' };

/** Maximum number of bytes that {@link sniff} needs. */
export const SNIFF_BYTES_MAX = 65_536;

/**
 * Detects a format from the first bytes of a file. Skips an ID3 tag, because AAC and FLAC files may begin with such a
 * tag. The result `ogg` means Vorbis, Opus or FLAC in Ogg.
 */
export function sniff(head: Uint8Array): Sniffed {
  if (head.length === 0) return { kind: 'more', bytes: 4 };
  let bytes = 0;
  for (const [format, signature] of SIGNATURES) {
    const needed = bytesToDecide(head, signature);
    if (needed === 0 && bytes === 0) return { kind: 'known', format };
    bytes = Math.max(bytes, needed ?? 0);
  }
  if (bytes > 0) return { kind: 'more', bytes };
  if (bytesToDecide(head, 'ID3') === 0) return sniffBehindTag(head);
  return head[0] === 0xff ? sniffMpegAudio(head) : sniffText(head);
}

// `?` matches any byte. Of two signatures that begin alike, the longer one comes first.
const SIGNATURES: readonly (readonly [SniffedFormat, string])[] = [
  ['wav', 'RIFF????WAVE'],
  ['wav', 'RF64????WAVE'],
  ['webp', 'RIFF????WEBP'],
  ['aiff', 'FORM????AIF'],
  ['ogg', 'OggS'],
  ['flac', 'fLaC'],
  ['webm', '\x1aE\xdf\xa3'],
  ['png', '\x89PNG'],
  ['jpeg', '\xff\xd8\xff'],
  ['gif', 'GIF8'],
  ['gzip', '\x1f\x8b'],
  ['m4a', '????ftypM4A'],
  ['m4a', '????ftypM4B'],
  ['mp4', '????ftyp'],
];

// Returns 0 if the signature matches, undefined if not, else the number of bytes needed to decide.
function bytesToDecide(head: Uint8Array, signature: string): number | undefined {
  for (let at = 0; at < signature.length; at += 1) {
    if (signature[at] === '?') continue;
    if (at >= head.length) return signature.length;
    if (head[at] !== signature.charCodeAt(at)) return undefined;
  }
  return 0;
}

function sniffBehindTag(head: Uint8Array): Sniffed {
  const end = id3TagLength(head, 0);
  if (end === undefined) return { kind: 'more', bytes: 10 };
  if (end === 0) return { kind: 'unknown' };
  if (end + 4 > SNIFF_BYTES_MAX) return { kind: 'known', format: 'mp3' };
  const behind = sniff(head.subarray(end));
  return behind.kind === 'more'
    ? { kind: 'more', bytes: Math.min(SNIFF_BYTES_MAX, end + behind.bytes) }
    : behind;
}

function sniffMpegAudio(head: Uint8Array): Sniffed {
  const [, second, third, fourth] = head;
  if (second === undefined || third === undefined || fourth === undefined) {
    return { kind: 'more', bytes: 4 };
  }
  if (mp3FrameLength(second, third) > 0) return { kind: 'known', format: 'mp3' };
  return (second & 0xf6) === 0xf0 ? { kind: 'known', format: 'aac' } : { kind: 'unknown' };
}

function sniffText(head: Uint8Array): Sniffed {
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
