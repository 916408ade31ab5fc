import type { Chapter, Cover, Tags } from './tags.ts';
import { FRONT_COVER } from './tags.ts';

const VENDOR = 'foley';

/**
 * Creates the comments of an Ogg or FLAC file (Vorbis I, section 5; RFC 9639, section 8.6), with a pair of comments for each
 * chapter, as ffmpeg reads them. Comments number chapters with three digits, so the list ends after 999.
 */
export function vorbisComments(
  { album, author, title, track }: Tags,
  chapters: readonly Chapter[],
  others: readonly string[] = [],
): Buffer {
  const tags = [
    ...(title === undefined ? [] : [`TITLE=${title}`]),
    ...(author === undefined ? [] : [`ARTIST=${author}`]),
    ...(album === undefined ? [] : [`ALBUM=${album}`]),
    ...(track === undefined ? [] : [`TRACKNUMBER=${track}`]),
  ];
  const comments = [
    ...tags,
    ...chapters.slice(0, MOST_CHAPTERS).flatMap(chapterComments),
    ...others,
  ];
  return Buffer.concat([
    counted(Buffer.from(VENDOR)),
    word(comments.length),
    ...comments.map((comment) => counted(Buffer.from(comment))),
  ]);
}

const MOST_CHAPTERS = 999;

function chapterComments({ startMs, title }: Chapter, index: number): readonly string[] {
  const name = `CHAPTER${String(index + 1).padStart(3, '0')}`;
  return [`${name}=${clock(startMs)}`, `${name}NAME=${title}`];
}

// All times have the same length, because the final comments replace provisional ones.
function clock(ms: number): string {
  const whole = Math.min(Math.round(ms), LATEST_MS);
  const [hours, minutes, seconds] = [3_600_000, 60_000, 1000].map((unit, index) =>
    String(Math.floor(whole / unit) % (index === 0 ? 100 : 60)).padStart(2, '0'),
  );
  return `${hours}:${minutes}:${seconds}.${String(whole % 1000).padStart(3, '0')}`;
}

const LATEST_MS = 360_000_000 - 1;

/** Creates the body of a FLAC picture block (RFC 9639, section 8.8), in which 0 stands for an unknown size. */
export function pictureBlock({ data, mimeType }: Cover): Buffer {
  const type = Buffer.from(mimeType);
  const head = [FRONT_COVER, type.length, type, 0, 0, 0, 0, 0, data.length];
  const parts = head.map((part) => (typeof part === 'number' ? word(part).swap32() : part));
  return Buffer.concat([...parts, data]);
}

function counted(bytes: Buffer): Buffer {
  return Buffer.concat([word(bytes.length), bytes]);
}

// A little-endian number of 32 bits.
function word(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
