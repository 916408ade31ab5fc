import { readFile } from 'node:fs/promises';
import { execa } from 'execa';
import { ALL_FORMATS, FilePathSource, Input } from 'mediabunny';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { NO_MARKS, id3Tag } from '../../../src/audio/encode/tags.ts';
import { decodeAudio } from '../../harness/decode-audio.ts';
import { requireTool } from '../../harness/require-tool.ts';
import { listedChapters } from '../../script/recording/listed-chapters.ts';
import { make } from '../../script/recording/make.ts';

const COVER = {
  data: Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYPhfDwACggF/oOa5jQAAAABJRU5ErkJggg==',
    'base64',
  ),
  mimeType: 'image/png',
} as const;
const TAGS = { title: 'Gespräche', author: 'Ada & Bob', album: 'Series', cover: COVER };
const LINES = [
  { seconds: 0.8, chapter: 'Größe – „ü“', pauseAfterMs: 200 },
  { seconds: 0.5, pauseAfterMs: 500 },
  { seconds: 0.7, chapter: 'Two', pauseAfterMs: 100 },
];
const CHAPTERS = [
  { title: 'Größe – „ü“', startMs: 0, endMs: 2000 },
  { title: 'Two', startMs: 2000, endMs: 2700 },
];

describe.each(['mp3', 'm4b'] as const)('chapters and tags in %s', (format) => {
  test('are shown by players', async () => {
    const ffprobe = requireTool('ffprobe');
    const { file } = await make(LINES, { format, tags: TAGS });
    const args = ['-v', 'error', '-show_chapters', '-show_format', '-show_streams', '-of', 'json'];
    const { stdout } = await execa(ffprobe, [...args, file]);
    const shown = JSON.parse(stdout);
    expect(shown.chapters.map(titleAndTimes)).toEqual(CHAPTERS);
    expect(shown.format.tags).toMatchObject({
      title: 'Gespräche',
      artist: 'Ada & Bob',
      album: 'Series',
    });
    expect(shown.streams).toContainEqual(expect.objectContaining({ codec_name: 'png' }));
  });

  test('are read by a parser', async () => {
    const { file } = await make(LINES, { format, tags: TAGS });
    const input = new Input({ source: new FilePathSource(file), formats: ALL_FORMATS });
    const { album, artist, images, title } = await input.getMetadataTags();
    expect({ album, artist, title }).toEqual({
      album: 'Series',
      artist: 'Ada & Bob',
      title: 'Gespräche',
    });
    expect(Buffer.from(images?.[0]?.data ?? [])).toEqual(COVER.data);
    input.dispose();
  });

  test('have the same bytes whenever they are written', async () => {
    const before = await make(LINES, { format, tags: TAGS });
    onTestFinished(() => void vi.useRealTimers());
    vi.setSystemTime(Date.UTC(2001, 1, 1));
    const after = await make(LINES, { format, tags: TAGS });
    expect(await readFile(before.file)).toEqual(await readFile(after.file));
  });
});

test('an m4b has the exact length of its sound', async () => {
  const { durationMs, file } = await make([{ seconds: 1.2345 }], { format: 'm4b' });
  const input = new Input({ source: new FilePathSource(file), formats: ALL_FORMATS });
  const track = await input.getPrimaryAudioTrack();
  expect(durationMs).toBeCloseTo(1234.5, 1);
  const ffprobe = requireTool('ffprobe');
  const args = ['-v', 'error', '-show_entries', 'stream=duration', '-of', 'csv=p=0', file];
  const { stdout } = await execa(ffprobe, args);
  expect(Number(stdout) * 1000).toBeCloseTo(durationMs, 1);
  expect(await track?.getFirstTimestamp()).toBeLessThanOrEqual(0);
  input.dispose();
});

test('an mp3 with a tag keeps its exact length', async () => {
  const { durationMs, file } = await make([{ seconds: 1.2345 }], { format: 'mp3', tags: TAGS });
  const decoded = await decodeAudio(await readFile(file));
  expect(decoded.durationMs).toBeCloseTo(durationMs, 1);
});

test('a recording without tags and chapters has no ID3 tag', async () => {
  expect(await id3Tag(NO_MARKS)).toHaveLength(0);
});

test('an mp3 has more chapters than its table of contents can count', async () => {
  const lines = Array.from({ length: 300 }, (_, at) => ({
    seconds: 0.05,
    chapter: `Kapitel ${at} – ü`,
  }));
  const { file } = await make(lines, { format: 'mp3' });
  const args = ['-v', 'error', '-show_chapters', '-of', 'json', file];
  const { stdout } = await execa(requireTool('ffprobe'), args);
  const { chapters } = Object(JSON.parse(stdout));
  expect([chapters.length, chapters[299].tags.title]).toEqual([300, 'Kapitel 299 – ü']);
});

test.each([255, 256, 600])('the tables of contents of an mp3 list %d chapters', async (count) => {
  const chapters = Array.from({ length: count }, (_, at) => {
    return { title: `Chapter ${at}`, startMs: at * 100, endMs: at * 100 + 100 };
  });
  const tag = Buffer.from(await id3Tag({ tags: {}, chapters: () => chapters }));
  expect(listedChapters(tag)).toEqual(chapters.map((_, at) => `chapter-${at + 1}`));
});

test('an m4b reports the chapters that its Nero list leaves out', async () => {
  const lines = Array.from({ length: 257 }, (_, at) => ({ seconds: 0.02, chapter: `${at}` }));
  expect(await make(lines, { format: 'm4b' })).toMatchObject({ unlistedChapters: 2 });
});

test('an m4b has the beginning of a chapter title that is longer than 64 KiB', async () => {
  const lines = [
    { seconds: 0.1, chapter: `a${'é'.repeat(70_000)}` },
    { seconds: 0.1, chapter: '🎉'.repeat(80) },
  ];
  const { file } = await make(lines, { format: 'm4b' });
  const bytes = await readFile(file);
  // In the chapter track, a title follows its length in two bytes; in the Nero list, its length in one byte.
  const title = `a${'é'.repeat(32_767)}`;
  expect(bytes.indexOf(Buffer.concat([Buffer.of(0xff, 0xff), Buffer.from(title)]))).toBeGreaterThan(
    0,
  );
  expect(
    bytes.indexOf(Buffer.concat([Buffer.of(252), Buffer.from('🎉'.repeat(63))])),
  ).toBeGreaterThan(0);
});

function titleAndTimes(chapter: {
  readonly start_time: string;
  readonly end_time: string;
  readonly tags: { readonly title: string };
}) {
  const [startMs, endMs] = [chapter.start_time, chapter.end_time].map(
    (time) => Number(time) * 1000,
  );
  return { title: chapter.tags.title, startMs, endMs };
}
