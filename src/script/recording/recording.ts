import { dirname } from 'node:path';
import { BYTES_PER_SAMPLE } from '../../audio/encode/pcm.ts';
import { encodeFile } from '../../audio/encode/encode-file.ts';
import { requireStreamable } from '../../audio/encode/encoded-output.ts';
import { MOST_LISTED_CHAPTERS } from '../../audio/encode/mp4.ts';
import { CODEC_LEVELS, MAX_TRUE_PEAK_DB } from '../../audio/encode/peak-limiter.ts';
import { gainOf } from '../../audio/resample.ts';
import { LARGEST_WAV_LENGTH } from '../../audio/wav.ts';
import type { CaptionFiles, CaptionTarget, WrittenCaptions } from '../../captions/caption-files.ts';
import { openCaptionFiles } from '../../captions/caption-files.ts';
import type { CueShape } from '../../captions/cue-shape.ts';
import type { TimedLine, Timings } from '../../captions/timings.ts';
import { timingsOf } from '../../captions/timings.ts';
import type { Existing, Output, Published } from '../../durable/output.ts';
import { outputFailure } from '../../durable/file-failures.ts';
import type { System } from '../../system/system.ts';
import { openOutput } from '../../durable/publish.ts';
import { Failure } from '../../errors/failure.ts';
import { display } from '../../text/display.ts';
import type { FileFormat } from '../../contract/values.ts';
import { LineSounds, SAMPLE_RATE } from './line-sound.ts';
import type { Gains, MeasuredLevel } from './loudness.ts';
import { findGains, LevelMeter, limitPeaks, measureSpeakers, SpeakerMeters } from './loudness.ts';
import { mixLines } from './mix.ts';
import type { Stem } from './stems.ts';
import { STEM_SAMPLE_BYTES, stemFile, writeStem } from './stems.ts';
import type { Chapter, Tags } from '../../audio/encode/tags.ts';
import { chapterFile } from '../../audio/encode/tags.ts';
import type { LineInterval, Timing } from './timeline.ts';
import { millisecondsOf, placeLines, samplesIn } from './timeline.ts';

/** A line of a script with its audio file. All times are in milliseconds. */
export interface SpokenLine {
  /** Display name of the speaker. All lines of one speaker get the same gain. */
  readonly speaker: string;
  readonly text: string;
  /** Path of the line's audio file. */
  readonly audio: string;
  /** Word times for captions, in milliseconds from the beginning of the line. */
  readonly timings?: Pick<Timings, 'complete' | 'unplaced' | 'words'> | undefined;
  /** Start time of the line in milliseconds; undefined if the script sets none. */
  readonly startMs?: number | undefined;
  /** End time of the line in milliseconds; undefined if the script sets none. */
  readonly endMs?: number | undefined;
  /** Silence after the line, in milliseconds. Ignored after the last line, and before a line that has a start time. */
  readonly pauseAfterMs: number;
  /** Title of a chapter that begins with this line. */
  readonly chapter?: string | undefined;
}

export interface RecordingOptions {
  readonly system: System;
  /** Path of the audio file to make. */
  readonly path: string;
  readonly format: FileFormat;
  readonly existing?: Existing | undefined;
  /** Folder for temporary files, on the same disk as the recording. */
  readonly temporaryFolder: string;
  readonly timing: Timing;
  /** Silence after the last line, in milliseconds. */
  readonly endPauseMs?: number | undefined;
  /** Title, author, album and cover, for mp3, m4a, m4b and chapter files. */
  readonly tags?: Tags | undefined;
  /** Paths of chapter files: `.json` for Podcasting 2.0, `.txt` for ffmpeg. */
  readonly chapterFiles?: readonly string[] | undefined;
  readonly captions?: RecordingCaptions | undefined;
  /** The tracks to write in addition to the recording: one audio file for each speaker, as long as the recording. */
  readonly stems?: StemOptions | undefined;
  /** Target loudness in LUFS, or `off` to leave the loudness unchanged. */
  readonly loudness: number | 'off';
  readonly signal: AbortSignal;
}

interface RecordingCaptions {
  readonly targets: readonly CaptionTarget[];
  readonly shape: CueShape;
}

interface StemOptions {
  readonly folder: string;
  readonly speakers: readonly string[];
}

/** The position of a line in the recording. Times are in milliseconds. */
export interface RecordedLine extends Pick<LineInterval, 'excessMs' | 'lateMs' | 'tempo'> {
  readonly startMs: number;
  readonly endMs: number;
}

/** A finished recording: its files have their final names, and its loudness was measured. */
export interface Recording extends Published, MeasuredLevel {
  readonly durationMs: number;
  /** The lines, in the order in which `make` received them. */
  readonly lines: readonly RecordedLine[];
  /** Paths of all files that were written. The last one is the recording itself. */
  readonly files: readonly string[];
  readonly captions: readonly WrittenCaptions[];
  /** True if all words have times, or no captions were requested. */
  readonly isTimed: boolean;
  /** True if the recording is quieter than requested, because a higher gain would raise its peaks too far. */
  readonly isTooQuiet: boolean;
  /** Number of chapters that the Nero chapter list of an m4a or m4b file leaves out, because it can contain only 255. */
  readonly unlistedChapters: number;
}

/** A recording in progress. Its files are open, under temporary names. */
export interface OpenRecording {
  /**
   * Makes the recording. Mixes the lines and writes all files; then gives the files their final names, the recording
   * last. The same lines always produce identical files.
   * @throws Failure of kind `output` or `exists` if a file cannot be written
   * @throws Failure of kind `state` if the audio of a line cannot be read
   * @throws the signal's abort reason on abort
   */
  make(lines: readonly SpokenLine[]): Promise<Recording>;
  /** Deletes all files that do not have their final names yet. Never throws. */
  abandon(): Promise<void>;
}

/**
 * Opens all files of a recording, so that an invalid path fails before any request is billed.
 * @throws Failure of kind `output`, `exists` or `usage`
 */
export async function openRecording(options: RecordingOptions): Promise<OpenRecording> {
  const { chapterFiles = [], format, path, stems } = options;
  const outputs: Output[] = [];
  let captions: CaptionFiles | undefined;
  let createdFolder: string | undefined;
  const abandon = async (): Promise<void> => {
    await captions?.abandon();
    for (const output of outputs) await output.abandon();
    // Fails if the folder has files.
    if (createdFolder !== undefined)
      await options.system.files.rmdir(createdFolder).catch(() => undefined);
  };
  const open = async (file: string, flag?: string): Promise<Output> => {
    const temporaryFolder = await temporaryFolderFor(file, options);
    const output = await openOutput(options.system, {
      existing: options.existing,
      signal: options.signal,
      path: file,
      flag,
      temporaryFolder,
    });
    outputs.push(output);
    return output;
  };
  try {
    const recording = await open(path);
    if (recording.temporary === undefined) {
      requireStreamable(format, `${display(path)} is a pipe or a device`);
    }
    const chapters: Output[] = [];
    for (const file of chapterFiles) chapters.push(await open(file, '--chapters'));
    const { targets = [] } = options.captions ?? {};
    const folders = await Promise.all(targets.map((one) => temporaryFolderFor(one.path, options)));
    const temporaryFolder = folders.includes(undefined) ? undefined : options.temporaryFolder;
    captions = await openCaptionFiles({
      system: options.system,
      existing: options.existing,
      signal: options.signal,
      targets,
      temporaryFolder,
    });
    const tracks: Stem[] = [];
    if (stems !== undefined) {
      const { folder, speakers } = stems;
      const isNew = (await options.system.files.stat(folder).catch(() => undefined)) === undefined;
      await options.system.files.mkdir(folder, { recursive: true }).catch((error: unknown) => {
        throw outputFailure(folder, error, 'opening', '--stems');
      });
      if (isNew) createdFolder = folder;
      for (const speaker of new Set(speakers)) {
        tracks.push({ speaker, output: await open(stemFile(folder, speaker), '--stems') });
      }
    }
    const files = { recording, chapters, captions, stems: tracks };
    return {
      abandon,
      async make(lines) {
        const sounds = new LineSounds(options);
        try {
          return await makeRecording(lines, files, options, sounds);
        } finally {
          await sounds.close();
        }
      },
    };
  } catch (error) {
    await abandon();
    throw error;
  }
}

async function temporaryFolderFor(
  file: string,
  { system: { files }, temporaryFolder }: RecordingOptions,
): Promise<string | undefined> {
  // Publishing renames the file, which works within one disk only.
  const [own, other] = await Promise.all(
    [dirname(file), temporaryFolder].map((folder) => files.stat(folder).catch(() => undefined)),
  );
  return own?.dev === other?.dev ? temporaryFolder : undefined;
}

interface Files {
  readonly recording: Output;
  readonly chapters: readonly Output[];
  readonly captions: CaptionFiles;
  readonly stems: readonly Stem[];
}

// A larger difference from the target loudness is reported.
const LOUDNESS_TOLERANCE_LU = 0.5;

async function makeRecording(
  lines: readonly SpokenLine[],
  files: Files,
  options: RecordingOptions,
  sounds: LineSounds,
): Promise<Recording> {
  const { captions, format, loudness, tags = {}, timing } = options;
  const { lengths, meters } = await measureLines(lines, sounds);
  const places = placeLines(
    lines.map((line, index) => ({ ...line, samples: lengths[index]?.samples ?? 0 })),
    timing,
  );
  const end = places.reduce((latest, place) => Math.max(latest, place.start + place.samples), 0);
  const total = end + samplesIn(options.endPauseMs ?? 0);
  checkLength(total, format, files.stems.length > 0);
  const placed = lines.map(({ audio, speaker }, index) => {
    const { samples = 0, start = 0, tempo = 1 } = places[index] ?? {};
    const isCutHard = lengths[index]?.isCutHard ?? false;
    return { speaker, audio, start, samples, tempo, isCutHard };
  });
  const mix = (gains: Gains, speaker?: string): AsyncIterable<Float32Array> => {
    const own = placed.filter((line) => speaker === undefined || line.speaker === speaker);
    const mixed = own.map((line) => ({ ...line, gain: gains.get(line.speaker) ?? 1 }));
    return mixLines(mixed, { sounds, total });
  };
  const peakDb = loudness === 'off' ? 0 : MAX_TRUE_PEAK_DB - CODEC_LEVELS[format].riseDb;
  const limited = (gains: Gains): AsyncIterable<Float32Array> =>
    limitPeaks(mix(gains), gainOf(peakDb));
  const gains: Gains =
    loudness === 'off'
      ? new Map()
      : await findGains(meters, loudness, (some) => measureSpeakers(limited(some), placed));
  const chapters = chaptersOf(lines, places, total);
  const meter = new LevelMeter();
  const sound = measured(limited(gains), meter);
  await encodeFile(format, sound, {
    output: files.recording,
    sampleRate: SAMPLE_RATE,
    marks: { tags, chapters: () => chapters },
  });
  for (const stem of files.stems) {
    await writeStem(stem, mix(gains, stem.speaker), total);
  }
  for (const output of files.chapters) {
    await output.write(Buffer.from(chapterFile(output.path, chapters, tags)));
  }
  const timings = timingsOfLines(lines, places, total);
  if (captions !== undefined) await files.captions.prepare({ timings, shape: captions.shape });
  const level = meter.finish();
  const outputs = [...files.stems.map(({ output }) => output), ...files.chapters];
  const paths: string[] = [];
  for (const output of outputs) paths.push((await output.publish()).path);
  const written = await files.captions.publish();
  const published = await files.recording.publish();
  return {
    ...published,
    ...level,
    durationMs: millisecondsOf(total),
    lines: places.map(({ samples, start, ...place }) => ({
      startMs: millisecondsOf(start),
      endMs: millisecondsOf(start + samples),
      ...place,
    })),
    files: [...paths, ...written.map(({ path }) => path), published.path],
    captions: written,
    isTimed: captions === undefined || timings.complete,
    isTooQuiet:
      loudness !== 'off' && (level.loudness ?? loudness) < loudness - LOUDNESS_TOLERANCE_LU,
    unlistedChapters:
      format === 'm4a' || format === 'm4b'
        ? Math.max(0, chapters.length - MOST_LISTED_CHAPTERS)
        : 0,
  };
}

/**
 * Checks that no WAV file of a recording exceeds 4 GiB. Stems are always WAV files.
 * @param total length in samples
 * @throws Failure of kind `output`
 */
export function checkLength(total: number, format: FileFormat, hasStems: boolean): void {
  const bytes = total * (hasStems ? STEM_SAMPLE_BYTES : format === 'wav' ? BYTES_PER_SAMPLE : 0);
  if (bytes + HEADERS_BYTES <= LARGEST_WAV_LENGTH) return;
  throw new Failure('the recording is longer than a WAV file can be (4 GiB)', {
    code: 'output',
    exit: 'output',
    hint: 'Choose mp3, ogg, opus, flac, m4a or m4b, and leave out --stems.',
  });
}

const HEADERS_BYTES = 100;

function timingsOfLines(
  lines: readonly SpokenLine[],
  places: readonly LineInterval[],
  total: number,
): Timings {
  const parts = lines.map((line, index) => {
    const { samples = 0, start = 0, tempo = 1 } = places[index] ?? {};
    const { complete = false, words = [] } = line.timings ?? {};
    const startMs = Math.round(millisecondsOf(start));
    const text = line.text.replaceAll(/\s+/g, ' ').trim();
    const faster = words.map((word) => {
      return { ...word, startMs: word.startMs / tempo, endMs: word.endMs / tempo };
    });
    const own = { text, durationMs: millisecondsOf(samples), complete, words: faster };
    return { ...timingsOf(own), startMs, line };
  });
  const durationMs = Math.ceil(millisecondsOf(total));
  let before = 0;
  const unplaced = parts.flatMap(({ line, words }) => {
    const first = before;
    before += words.length;
    return (line.timings?.unplaced ?? []).map((word) => ({ ...word, index: first + word.index }));
  });
  return {
    version: 1,
    text: parts.map(({ text }) => text).join('\n'),
    durationMs,
    complete: parts.every(({ complete }) => complete),
    ...(unplaced.length === 0 ? {} : { unplaced }),
    words: parts.flatMap(({ startMs, words }) =>
      words.map(({ text, ...word }) => {
        return {
          text,
          startMs: word.startMs + startMs,
          endMs: Math.min(word.endMs + startMs, durationMs),
        };
      }),
    ),
    lines: parts.map(
      ({ durationMs: lineMs, line: { speaker }, startMs, text, words }): TimedLine => ({
        speaker,
        text,
        startMs,
        endMs: Math.min(startMs + lineMs, durationMs),
        words: words.length,
      }),
    ),
  };
}

function chaptersOf(
  lines: readonly SpokenLine[],
  places: readonly LineInterval[],
  total: number,
): readonly Chapter[] {
  // A chapter that begins with the first line begins at 0, even if silence comes first.
  const begun = lines.flatMap(({ chapter: title }, index) =>
    title === undefined ? [] : [{ title, start: index === 0 ? 0 : (places[index]?.start ?? 0) }],
  );
  return begun.map(({ start, title }, index) => ({
    title,
    startMs: millisecondsOf(start),
    endMs: millisecondsOf(begun[index + 1]?.start ?? total),
  }));
}

// 54 dB below full scale. A line that begins or ends louder than this gets short fades.
const CLICK_LEVEL = 0.002;

async function measureLines(lines: readonly SpokenLine[], sounds: LineSounds) {
  const meters = new SpeakerMeters();
  const lengths: { readonly samples: number; readonly isCutHard: boolean }[] = [];
  for (const { audio, speaker } of lines) {
    let samples = 0;
    let edge = 0;
    let last = 0;
    for await (const piece of sounds.read(audio)) {
      if (samples === 0) edge = Math.abs(piece[0] ?? 0);
      samples += piece.length;
      last = Math.abs(piece.at(-1) ?? last);
      meters.write(speaker, piece);
    }
    lengths.push({ samples, isCutHard: Math.max(edge, last) > CLICK_LEVEL });
  }
  return { lengths, meters };
}

async function* measured(
  sound: AsyncIterable<Float32Array>,
  meter: LevelMeter,
): AsyncGenerator<Float32Array> {
  for await (const samples of sound) {
    meter.write(samples);
    yield samples;
  }
}
