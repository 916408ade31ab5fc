import { sniff } from '../audio/sniff.ts';
import type { SniffedFormat } from '../audio/sniff.ts';
import { REFERENCE_EXTENSIONS } from '../contract/reference-audio.ts';

/** How a file may end that a voice is made of. */
export type ReferenceExtension = (typeof REFERENCE_EXTENSIONS)[number];

/** What the content of a recording is, by its first bytes. */
export type RecordingContent = SniffedFormat | 'mpeg';

interface ReferenceType {
  /** What its content may be. */
  readonly contents: readonly RecordingContent[];
  /** Sent with it. */
  readonly mediaType: string;
}

/** What belongs to each ending (spec section 4.5). */
export const REFERENCE_TYPES: Readonly<Record<ReferenceExtension, ReferenceType>> = {
  aac: { contents: ['aac'], mediaType: 'audio/aac' },
  flac: { contents: ['flac'], mediaType: 'audio/flac' },
  m4a: { contents: ['m4a', 'mp4'], mediaType: 'audio/mp4' },
  mp3: { contents: ['mp3'], mediaType: 'audio/mpeg' },
  mp4: { contents: ['mp4', 'm4a'], mediaType: 'video/mp4' },
  mpeg: { contents: ['mp3', 'mpeg'], mediaType: 'audio/mpeg' },
  oga: { contents: ['ogg'], mediaType: 'audio/ogg' },
  ogg: { contents: ['ogg'], mediaType: 'audio/ogg' },
  opus: { contents: ['ogg'], mediaType: 'audio/ogg' },
  wav: { contents: ['wav'], mediaType: 'audio/wav' },
  webm: { contents: ['webm'], mediaType: 'audio/webm' },
};

/** The ending of a file name, if it is one of those, whatever its case. */
export function referenceExtension(fileName: string): ReferenceExtension | undefined {
  const ending = /[^/\\]\.([^./\\]+)$/.exec(fileName)?.[1]?.toLowerCase();
  return REFERENCE_EXTENSIONS.find((extension) => extension === ending);
}

/**
 * What a recording is by its first bytes; `more` when they are too few to tell, `undefined` for what is
 * none of the known kinds.
 */
export function contentOf(head: Uint8Array): RecordingContent | 'more' | undefined {
  if (isMpegVideo(head)) return 'mpeg';
  const found = sniff(head);
  if (found.kind === 'known') return found.format;
  return found.kind === 'more' ? 'more' : undefined;
}

/** A program stream, or the stream of its pictures alone. */
function isMpegVideo([first, second, third, fourth]: Uint8Array): boolean {
  return first === 0 && second === 0 && third === 1 && (fourth === 0xba || fourth === 0xb3);
}
