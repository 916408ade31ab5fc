import type { EncodeOptions } from './target.ts';
import { mediabunnyTarget } from './target.ts';
import type { Chapter } from './tags.ts';
import { NO_MARKS } from './tags.ts';

const BITS_PER_SECOND_MAX = 96_000;
const BITS_PER_SAMPLE_MAX = 4;
// Number of samples that the encoder adds before the sound.
const ENCODER_DELAY = 1024;

/**
 * Encodes mono samples as AAC, and writes an m4a or m4b file. Writes the chapters as a QuickTime text track and also as
 * a Nero chapter list, because some players read only one of them.
 */
export async function encodeMp4(
  format: 'm4a' | 'm4b',
  sound: AsyncIterable<Float32Array>,
  { marks = NO_MARKS, output, sampleRate }: EncodeOptions,
): Promise<void> {
  const [media, { registerAacEncoder }] = await Promise.all([
    import('mediabunny'),
    import('@mediabunny/aac-encoder'),
  ]);
  registerAacEncoder();
  let index: { readonly position: number; readonly movie: Buffer } | undefined;
  // The index is written last, and replaced below.
  const target = mediabunnyTarget(output, () => index?.position ?? Infinity);
  const file = new media.Output({
    format: new media.Mp4OutputFormat({
      fastStart: false,
      onMoov: (data, position) => (index = { position, movie: Buffer.from(data) }),
    }),
    target: new media.StreamTarget(target),
  });
  const bitrate = Math.min(BITS_PER_SECOND_MAX, sampleRate * BITS_PER_SAMPLE_MAX);
  const source = new media.AudioSampleSource({ codec: 'aac', bitrate });
  file.addAudioTrack(source);
  const { album, author: artist, cover, title, track: trackNumber } = marks.tags;
  const images = cover === undefined ? [] : [{ ...cover, kind: 'coverFront' as const }];
  file.setMetadataTags({
    ...(title === undefined ? {} : { title }),
    ...(artist === undefined ? {} : { artist }),
    ...(album === undefined ? {} : { album }),
    ...(trackNumber === undefined ? {} : { trackNumber }),
    images,
  });
  let samples = 0;
  try {
    await file.start();
    for await (const data of sound) {
      if (data.length === 0) continue;
      const layout = { format: 'f32', numberOfChannels: 1, sampleRate } as const;
      const timestamp = samples / sampleRate;
      const sample = new media.AudioSample({ ...layout, data, timestamp });
      await source.add(sample);
      sample.close();
      samples += data.length;
    }
    source.close();
    await file.finalize();
  } catch (error) {
    await file.cancel();
    throw error;
  }
  if (index === undefined) throw new Error('The file has no index.');
  await output.overwrite(BRAND_OFFSET, Buffer.from(format === 'm4b' ? 'M4B ' : 'M4A '));
  const listed = fromStart(marks.chapters(), title);
  const titles = listed.map((chapter) => textSample(chapter.title));
  const position = output.bytes + BOX_HEAD_BYTES;
  if (titles.length > 0) await output.write(box('mdat', ...titles));
  const track = { samples, sampleRate, chapters: listed, titles, position };
  await output.write(withChapters(index.movie, track));
}

function fromStart(chapters: readonly Chapter[], title = ''): readonly Chapter[] {
  // In an m4b file, a chapter must begin at 0.
  const endMs = chapters[0]?.startMs ?? 0;
  return endMs === 0 ? chapters : [{ title, startMs: 0, endMs }, ...chapters];
}

// The brand, at this offset of the file type box, says which kind of MP4 file follows.
const BRAND_OFFSET = 8;
const BOX_HEAD_BYTES = 8;

interface ChapterTrack {
  readonly samples: number;
  readonly sampleRate: number;
  readonly chapters: readonly Chapter[];
  // Samples of the text track.
  readonly titles: readonly Buffer[];
  // Offset of the titles in the file, in bytes.
  readonly position: number;
}

const CHAPTER_TRACK_ID = 2;

function withChapters(movie: Buffer, track: ChapterTrack): Buffer {
  // Also sets the exact duration of the sound.
  const [moov] = boxesIn(movie);
  const boxes = boxesIn(moov?.body ?? Buffer.alloc(0));
  const head = boxes.find(({ type }) => type === 'mvhd')?.body ?? Buffer.alloc(0);
  const timescale = head.readUInt32BE(12);
  const duration = Math.round((track.samples / track.sampleRate) * timescale);
  const hasChapters = track.chapters.length > 0;
  const parts = boxes.flatMap(({ body, type }) => {
    if (type === 'mvhd') {
      const next = u32(hasChapters ? CHAPTER_TRACK_ID + 1 : CHAPTER_TRACK_ID);
      const times = [body.subarray(0, 4), u32(0, 0, timescale, duration)];
      return box(type, ...times, body.subarray(20, -4), next);
    }
    if (type !== 'trak') return [];
    const audio = audioTrack(body, track, duration);
    return hasChapters ? [audio, textTrack(track, duration)] : [audio];
  });
  const metadata = boxes.filter(({ type }) => type === 'udta').map(({ body }) => body);
  const list = hasChapters ? [chapterList(track.chapters)] : [];
  return box('moov', ...parts, box('udta', ...metadata, ...list));
}

function audioTrack(body: Buffer, track: ChapterTrack, duration: number): Buffer {
  // The edit list skips the samples that the encoder added before the sound.
  const edits = box('edts', box('elst', u32(0, 1, duration, ENCODER_DELAY, ONE)));
  const reference =
    track.chapters.length > 0 ? [box('tref', box('chap', u32(CHAPTER_TRACK_ID)))] : [];
  const parts = boxesIn(body).flatMap(({ body: content, type }) => {
    if (type === 'edts') return [];
    if (type === 'mdia') return box(type, ...boxesIn(content).map((one) => dated(one, track)));
    if (type !== 'tkhd') return box(type, content);
    const head = [content.subarray(0, 4), u32(0, 0), content.subarray(12, 20), u32(duration)];
    return [box(type, ...head, content.subarray(24)), edits, ...reference];
  });
  return box('trak', ...parts);
}

function dated({ body, type }: BuiltBox, { sampleRate, samples }: ChapterTrack): Buffer {
  if (type !== 'mdhd') return box(type, body);
  // Without the time of creation, the same sound gives the same bytes. Readers that do not know edit lists take the
  // duration from here, which would otherwise include the padding of the last packet.
  const timescale = body.readUInt32BE(12);
  const duration = Math.round(((ENCODER_DELAY + samples) / sampleRate) * timescale);
  return box(type, body.subarray(0, 4), u32(0, 0, timescale, duration), body.subarray(20));
}

const MILLISECONDS = 1000;

function textTrack({ chapters, position, titles }: ChapterTrack, duration: number): Buffer {
  // QuickTime File Format, "Chapter Lists".
  const starts = chapters.map(({ startMs }) => Math.round(startMs));
  const end = Math.round(chapters.at(-1)?.endMs ?? 0);
  const lengths = starts.map((start, index) => (starts[index + 1] ?? end) - start);
  const inMovie = 2;
  const trackHead = box(
    'tkhd',
    u32(inMovie, 0, 0, CHAPTER_TRACK_ID, 0, duration, 0, 0, 0, 0),
    MATRIX,
    u32(0, 0),
  );
  const table = box(
    'stbl',
    box('stsd', u32(0, 1), box('text', u16(0, 0, 0, 1), TEXT_DESCRIPTION)),
    box('stts', u32(0, lengths.length, ...lengths.flatMap((ms) => [1, ms]))),
    box('stsc', u32(0, 1, 1, titles.length, 1)),
    box('stsz', u32(0, 0, titles.length, ...titles.map(({ length }) => length))),
    box('stco', u32(0, 1, position)),
  );
  const genericHead = box('gmin', u32(0), u16(0x40, 0x8000, 0x8000, 0x8000, 0, 0));
  const here = box('url ', u32(1));
  const media = box(
    'mdia',
    box('mdhd', u32(0, 0, 0, MILLISECONDS, end), u16(UNDETERMINED, 0)),
    box('hdlr', u32(0), Buffer.from('mhlrtext'), Buffer.alloc(12), Buffer.of(0)),
    box(
      'minf',
      box('gmhd', genericHead, box('text', MATRIX)),
      box('dinf', box('dref', u32(0, 1), here)),
      table,
    ),
  );
  return box('trak', trackHead, media);
}

// The language code `und`: three letters of five bits each.
const UNDETERMINED = 0x55c4;
// 1.0 as a fixed-point number with 16 fractional bits.
const ONE = 0x0001_0000;
// The identity matrix.
const MATRIX = u32(ONE, 0, 0, 0, ONE, 0, 0, 0, 0x4000_0000);
// Display flags, position, style and font of the titles. Players do not use them, but QuickTime requires them.
const TEXT_DESCRIPTION = Buffer.concat([
  u16(0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0),
  box('ftab', u16(1, 1), Buffer.of(0)),
]);

function textSample(title: string): Buffer {
  const text = shortened(title, MOST_SAMPLE_BYTES);
  const utf8 = 0x100;
  return Buffer.concat([u16(text.length), text, box('encd', u32(utf8))]);
}

/** Maximum number of chapters in a Nero chapter list: their number has one byte. Chapter tracks have no limit. */
export const MOST_LISTED_CHAPTERS = 255;
const MOST_TITLE_BYTES = 255;
// The length of a text sample has two bytes.
const MOST_SAMPLE_BYTES = 65_535;
const TICKS_PER_MS = 10_000;

function chapterList(chapters: readonly Chapter[]): Buffer {
  const listed = chapters.slice(0, MOST_LISTED_CHAPTERS).map(({ startMs, title }) => {
    const text = shortened(title, MOST_TITLE_BYTES);
    return Buffer.concat([u64(Math.round(startMs) * TICKS_PER_MS), Buffer.of(text.length), text]);
  });
  return box('chpl', u32(0x0100_0000, 0), Buffer.of(listed.length), ...listed);
}

// Returns a text in UTF-8, without the characters at its end that exceed `maxBytes`.
function shortened(text: string, maxBytes: number): Buffer {
  const bytes = new Uint8Array(maxBytes);
  const { written } = new TextEncoder().encodeInto(text, bytes);
  return Buffer.from(bytes.subarray(0, written));
}

interface BuiltBox {
  readonly type: string;
  readonly body: Buffer;
}

function boxesIn(bytes: Buffer): readonly BuiltBox[] {
  // All boxes of an index have a 32-bit length.
  const boxes: BuiltBox[] = [];
  for (let at = 0; at + BOX_HEAD_BYTES <= bytes.length; at += bytes.readUInt32BE(at)) {
    const type = bytes.toString('latin1', at + 4, at + BOX_HEAD_BYTES);
    boxes.push({ type, body: bytes.subarray(at + BOX_HEAD_BYTES, at + bytes.readUInt32BE(at)) });
  }
  return boxes;
}

function box(type: string, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([u32(BOX_HEAD_BYTES + body.length), Buffer.from(type, 'latin1'), body]);
}

function u16(...values: readonly number[]): Buffer {
  return Buffer.from(Uint16Array.from(values).buffer).swap16();
}

function u32(...values: readonly number[]): Buffer {
  return Buffer.from(Uint32Array.from(values).buffer).swap32();
}

function u64(value: number): Buffer {
  return u32(Math.floor(value / 2 ** 32), value % 2 ** 32);
}
