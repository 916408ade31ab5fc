import type { EncodedPacket } from 'mediabunny';
import type { AacDescription } from './aac.ts';
import { encodeAac, PACKET_SAMPLES, PacketTable } from './aac.ts';
import type { Box } from './mp4-box.ts';
import { box, BOX_HEAD_BYTES, boxesIn, largeBoxHead, u16, u32, u64 } from './mp4-box.ts';
import type { Chapter, Tags } from './tags.ts';
import { NO_MARKS } from './tags.ts';
import type { EncodeOptions } from './target.ts';

/**
 * Encodes mono samples as AAC, and writes an m4a or m4b file. Writes the chapters as a QuickTime text track and also as
 * a Nero chapter list, because some players read only one of them.
 */
export async function encodeMp4(
  format: 'm4a' | 'm4b',
  sound: AsyncIterable<Float32Array>,
  { marks = NO_MARKS, output, sampleRate }: EncodeOptions,
): Promise<void> {
  const brand = Buffer.from(format === 'm4b' ? 'M4B ' : 'M4A ');
  await output.write(box('ftyp', brand, u32(VERSION), Buffer.from('isommp41')));
  const start = output.bytes;
  await output.write(largeBoxHead('mdat', 0));
  const packets = new PacketTable();
  let movie: Buffer | undefined;
  let samples = 0;
  const counted = countSamples(sound, (count) => (samples += count));
  for await (const chunk of encodeAac(counted, sampleRate)) {
    movie ??= await movieOf(chunk.packets[0], chunk.description, marks.tags);
    packets.addChunk(output.bytes, chunk.packets);
    await output.write(Buffer.concat(chunk.packets.map(({ data }) => data)));
  }
  await output.overwrite(start, largeBoxHead('mdat', output.bytes - start));
  movie ??= await movieOf(undefined, undefined, marks.tags);
  const listed = fromStart(marks.chapters(), marks.tags.title);
  const titles = listed.map((chapter) => textSample(chapter.title));
  const position = output.bytes + BOX_HEAD_BYTES;
  if (titles.length > 0) await output.write(box('mdat', ...titles));
  const track = { samples, sampleRate, packets, chapters: listed, titles, position };
  await output.write(withTracks(movie, track));
}

// The version of the specification of the brand.
const VERSION = 0x200;

async function* countSamples(
  sound: AsyncIterable<Float32Array>,
  count: (samples: number) => void,
): AsyncGenerator<Float32Array> {
  for await (const data of sound) {
    count(data.length);
    yield data;
  }
}

// Returns the index of a file that has only the first packet.
async function movieOf(
  packet: EncodedPacket | undefined,
  description: AacDescription,
  { album, author: artist, cover, title, track: trackNumber }: Tags,
): Promise<Buffer> {
  const media = await import('mediabunny');
  let movie: Buffer | undefined;
  const file = new media.Output({
    format: new media.Mp4OutputFormat({
      fastStart: false,
      onMoov: (data) => (movie = Buffer.from(data)),
    }),
    target: new media.NullTarget(),
  });
  const source = new media.EncodedAudioPacketSource('aac');
  file.addAudioTrack(source);
  const images = cover === undefined ? [] : [{ ...cover, kind: 'coverFront' as const }];
  file.setMetadataTags({
    ...(title === undefined ? {} : { title }),
    ...(artist === undefined ? {} : { artist }),
    ...(album === undefined ? {} : { album }),
    ...(trackNumber === undefined ? {} : { trackNumber }),
    images,
  });
  await file.start();
  if (packet !== undefined) await source.add(packet, description);
  await file.finalize();
  if (movie === undefined) throw new Error('The file has no index.');
  const [moov] = boxesIn(movie);
  return moov?.body ?? Buffer.alloc(0);
}

function fromStart(chapters: readonly Chapter[], title = ''): readonly Chapter[] {
  // In an m4b file, a chapter must begin at 0.
  const endMs = chapters[0]?.startMs ?? 0;
  return endMs === 0 ? chapters : [{ title, startMs: 0, endMs }, ...chapters];
}

interface Tracks {
  // The length of the sound.
  readonly samples: number;
  readonly sampleRate: number;
  readonly packets: PacketTable;
  readonly chapters: readonly Chapter[];
  // Samples of the text track.
  readonly titles: readonly Buffer[];
  // Offset of the titles in the file, in bytes.
  readonly position: number;
}

const CHAPTER_TRACK_ID = 2;

function withTracks(movie: Buffer, track: Tracks): Buffer {
  const boxes = boxesIn(movie);
  const head = boxes.find(({ type }) => type === 'mvhd')?.body ?? Buffer.alloc(0);
  const timescale = head.readUInt32BE(12);
  const duration = Math.round((track.samples / track.sampleRate) * timescale);
  const hasChapters = track.chapters.length > 0;
  const parts = boxes.flatMap(({ body, type }) => {
    if (type === 'mvhd') {
      const next = u32(hasChapters ? CHAPTER_TRACK_ID + 1 : CHAPTER_TRACK_ID);
      return box(type, ...timesHead(timescale, duration), body.subarray(20, -4), next);
    }
    if (type !== 'trak') return [];
    const audio = audioTrack(body, track, duration);
    return hasChapters ? [audio, textTrack(track, duration)] : [audio];
  });
  const metadata = boxes.filter(({ type }) => type === 'udta').map(({ body }) => body);
  const list = hasChapters ? [chapterList(track.chapters)] : [];
  return box('moov', ...parts, box('udta', ...metadata, ...list));
}

function audioTrack(body: Buffer, track: Tracks, duration: number): Buffer {
  // The edit list skips the samples that the encoder added before the sound.
  const times = Buffer.concat([duration, PACKET_SAMPLES].map((time) => timeField(duration, time)));
  const edits = box('edts', box('elst', headOf(duration), u32(1), times, u32(ONE)));
  const reference =
    track.chapters.length > 0 ? [box('tref', box('chap', u32(CHAPTER_TRACK_ID)))] : [];
  const parts = boxesIn(body).flatMap(({ body: content, type }) => {
    if (type === 'edts') return [];
    if (type === 'mdia') return box(type, ...boxesIn(content).map((one) => mediaBox(one, track)));
    if (type !== 'tkhd') return box(type, content);
    const identity = content.subarray(12, 20);
    const flags = content.readUInt32BE(0);
    return [
      box(type, trackTimes(flags, identity, duration), content.subarray(24)),
      edits,
      ...reference,
    ];
  });
  return box('trak', ...parts);
}

function mediaBox({ body, type }: Box, track: Tracks): Buffer {
  const { packets, sampleRate, samples } = track;
  const inner = (): readonly Buffer[] => boxesIn(body).map((one) => mediaBox(one, track));
  switch (type) {
    case 'mdhd': {
      // Without the time of creation, the same sound gives the same bytes. Readers that do not know edit lists take the
      // duration from here, which would otherwise include the padding of the last packet.
      const duration = PACKET_SAMPLES + samples;
      return box(type, ...timesHead(sampleRate, duration), body.subarray(20));
    }
    case 'minf':
      return box(type, ...inner());
    case 'stbl':
      return box(type, ...inner().slice(0, 1), ...packets.boxes());
    case 'stsd':
      return box(type, withBitRates(body, packets.bitRates(sampleRate)));
    default:
      return box(type, body);
  }
}

// The bit rates are after the types of object and stream and the size of the buffer (ISO/IEC 14496-1), and in `btrt`.
function withBitRates(description: Buffer, rates: Buffer): Buffer {
  const copy = Buffer.from(description);
  rates.copy(copy, copy.indexOf(Buffer.of(0x40, 0x15, 0, 0, 0)) + 5);
  const at = copy.indexOf('btrt', 0, 'latin1');
  if (at !== -1) rates.copy(copy, at + 8);
  return copy;
}

// Boxes of version 1 have times of 64 bits, which a sound of more than about 20 hours requires. All others have version 0,
// which more readers know.
function headOf(longest: number, flags = 0): Buffer {
  return u32((longest > LARGEST_U32 ? 1 << 24 : 0) | flags);
}

function timeField(longest: number, time: number): Buffer {
  return longest > LARGEST_U32 ? u64(time) : u32(time);
}

const LARGEST_U32 = 2 ** 32 - 1;

// Times of creation and modification, which are 0, the timescale and the duration.
function timesHead(timescale: number, duration: number): readonly Buffer[] {
  const [zero, last] = [timeField(duration, 0), timeField(duration, duration)];
  return [headOf(duration), zero, zero, u32(timescale), last];
}

function trackTimes(flags: number, identity: Buffer, duration: number): Buffer {
  const [zero, last] = [timeField(duration, 0), timeField(duration, duration)];
  return Buffer.concat([headOf(duration, flags), zero, zero, identity, last]);
}

const MILLISECONDS = 1000;

function textTrack({ chapters, position, titles }: Tracks, duration: number): Buffer {
  // QuickTime File Format, "Chapter Lists".
  const starts = chapters.map(({ startMs }) => Math.round(startMs));
  const end = Math.round(chapters.at(-1)?.endMs ?? 0);
  const lengths = starts.map((start, index) => (starts[index + 1] ?? end) - start);
  const inMovie = 2;
  const trackHead = box(
    'tkhd',
    trackTimes(inMovie, u32(CHAPTER_TRACK_ID, 0), duration),
    u32(0, 0, 0, 0),
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
    box('mdhd', ...timesHead(MILLISECONDS, end), u16(UNDETERMINED, 0)),
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
