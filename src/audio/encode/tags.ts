/** A chapter of a recording, with times in milliseconds. */
export interface Chapter {
  readonly title: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** Metadata of a recording, from its book or from `--title`, `--author`, `--album` and `--cover`. */
export interface Tags {
  readonly title?: string | undefined;
  readonly author?: string | undefined;
  readonly album?: string | undefined;
  /** Number of the file among those of its book, from 1. */
  readonly track?: number | undefined;
  readonly cover?: Cover | undefined;
}

export interface Cover {
  readonly data: Uint8Array;
  readonly mimeType: 'image/jpeg' | 'image/png';
}

/** Tags and chapters of a file that is being encoded. */
export interface Marks {
  readonly tags: Tags;
  /**
   * Returns the chapters. It is called when the file begins, where times may be provisional, and when the sound is
   * complete. Their number and titles do not change.
   */
  readonly chapters: () => readonly Chapter[];
}

/** The marks of a file whose parts are joined while it is encoded. */
export class JoinedMarks implements Marks {
  readonly tags: Tags;
  readonly #titles: readonly string[];
  #starts: () => readonly number[] = () => [];

  /** @param titles the titles of the chapters, in order */
  constructor(tags: Tags, titles: readonly string[]) {
    this.tags = tags;
    this.#titles = titles;
  }

  /**
   * @param starts returns the start of each chapter in milliseconds, and then the end of the sound, as far as both are
   * known
   */
  timeBy(starts: () => readonly number[]): void {
    this.#starts = starts;
  }

  readonly chapters = (): readonly Chapter[] => {
    const starts = this.#starts();
    return this.#titles.map((title, index) => {
      // A decoder that skips its delay begins before the first sample.
      const startMs = Math.max(0, starts[index] ?? 0);
      return { title, startMs, endMs: Math.max(startMs, starts[index + 1] ?? 0) };
    });
  };
}

export const NO_MARKS: Marks = { tags: {}, chapters: () => [] };

/** Returns whether a file has neither tags nor chapters. */
export function isUnmarked({ chapters, tags }: Marks): boolean {
  return chapters().length === 0 && Object.values(tags).every((tag) => tag === undefined);
}

/** The picture type of a front cover in ID3 and FLAC. */
export const FRONT_COVER = 3;
// The number of entries in a table of contents has one byte.
const MOST_ENTRIES = 255;

/**
 * Creates the ID3v2.3 tag of an mp3 file, with chapters (ID3v2 Chapter Frame Addendum 1.0).
 * @returns an empty array if there are neither metadata nor chapters
 */
export async function id3Tag(marks: Marks): Promise<Uint8Array> {
  if (isUnmarked(marks)) return new Uint8Array(0);
  const { album, author, cover, title, track } = marks.tags;
  const chapters = marks.chapters();
  const { ID3Writer } = await import('browser-id3-writer');
  const tag = new ID3Writer(new ArrayBuffer(0));
  if (title !== undefined) tag.setFrame('TIT2', title);
  if (author !== undefined) tag.setFrame('TPE1', [author]);
  if (album !== undefined) tag.setFrame('TALB', album);
  if (track !== undefined) tag.setFrame('TRCK', String(track));
  if (cover !== undefined) {
    const { buffer: data } = Uint8Array.from(cover.data);
    tag.setFrame('APIC', { type: FRONT_COVER, data, description: '' });
  }
  const ids = chapters.map((_, index) => `chapter-${index + 1}`);
  if (ids.length > 0) {
    for (const { children, id } of tablesOfContents(ids)) {
      const isTop = id === 'toc';
      tag.setFrame('CTOC', { id, topLevel: isTop, ordered: true, childElementIds: [...children] });
    }
  }
  for (const [index, chapter] of chapters.entries()) {
    const [startTime, endTime] = [Math.round(chapter.startMs), Math.round(chapter.endMs)];
    const subFrames = { TIT2: chapter.title };
    tag.setFrame('CHAP', { id: ids[index] ?? '', startTime, endTime, subFrames });
  }
  return new Uint8Array(tag.addTag());
}

// More chapters than fit into one table of contents are listed in tables below the top one.
function tablesOfContents(
  ids: readonly string[],
): readonly { readonly id: string; readonly children: readonly string[] }[] {
  if (ids.length <= MOST_ENTRIES) return [{ id: 'toc', children: ids }];
  const count = Math.ceil(ids.length / MOST_ENTRIES);
  const parts = Array.from({ length: count }, (_, index) => ({
    id: `toc-${index + 1}`,
    children: ids.slice(index * MOST_ENTRIES, (index + 1) * MOST_ENTRIES),
  }));
  return [{ id: 'toc', children: parts.map(({ id }) => id) }, ...parts];
}

/**
 * Formats chapters as the text of a chapter file: as Podcasting 2.0 if `file` ends in `.json`, otherwise for ffmpeg.
 */
export function chapterFile(file: string, chapters: readonly Chapter[], tags: Tags): string {
  return /\.json$/i.test(file) ? podcastChapters(chapters, tags) : ffmpegMetadata(chapters, tags);
}

function podcastChapters(chapters: readonly Chapter[], { author, title }: Tags): string {
  // Version 1.2 of the podcast namespace (Podcasting 2.0).
  const rows = chapters.map((chapter) => ({
    startTime: Math.round(chapter.startMs) / 1000,
    endTime: Math.round(chapter.endMs) / 1000,
    title: chapter.title,
  }));
  return `${JSON.stringify({ version: '1.2.0', title, author, chapters: rows }, undefined, 2)}\n`;
}

function ffmpegMetadata(chapters: readonly Chapter[], { album, author, title }: Tags): string {
  // The file is for `ffmpeg -i FILE.txt`.
  const head = [field('title', title), field('artist', author), field('album', album)];
  const sections = chapters.map((chapter) => {
    const [start, end] = [Math.round(chapter.startMs), Math.round(chapter.endMs)];
    const times = `TIMEBASE=1/1000\nSTART=${start}\nEND=${end}\n`;
    return `\n[CHAPTER]\n${times}${field('title', chapter.title)}`;
  });
  return `;FFMETADATA1\n${[...head, ...sections].join('')}`;
}

function field(name: string, value: string | undefined): string {
  return value === undefined ? '' : `${name}=${value.replaceAll(/[=;#\\\n]/g, '\\$&')}\n`;
}
