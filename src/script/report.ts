import type { CaptionFileDocument, WrittenCaptions } from '../captions/caption-files.ts';
import { captionFileDocument } from '../captions/caption-files.ts';
import { warnOfViolations } from '../captions/violations.ts';
import type { RecordingReport } from './memory.ts';
import { counted } from '../text/display.ts';
import type { PlannedText } from './plan-lines.ts';
import { MOST_LISTED_CHAPTERS } from '../audio/encode/mp4.ts';
import type { Recording } from './recording/recording.ts';

/** A recording, as `--json` describes it. */
export interface RecordingFields {
  readonly output: string;
  readonly bytes: number;
  readonly durationMs: number;
  /** Integrated loudness in LUFS; null if it was not changed. */
  readonly loudness: number | null;
  readonly truePeakDb: number | null;
  /** Whether the recording could not be made as loud as wanted. */
  readonly isTooQuiet: boolean;
  readonly captions: readonly CaptionFileDocument[];
  /** Whether every word of the captions has a time. */
  readonly isTimed: boolean;
  /** Lines that begin later than their time. */
  readonly late: readonly (ReportedLine & { readonly lateMs: number })[];
  /** Lines that are longer than their time. */
  readonly tooLong: readonly (ReportedLine & { readonly excessMs: number })[];
  /** Lines that were sped up. */
  readonly stretched: readonly (ReportedLine & { readonly tempo: number })[];
}

interface ReportedLine {
  /** Number of the line in the script. */
  readonly line: number;
  readonly id: string | null;
}

/** Creates the report of a recording. The report names the lines that begin late, end late or are sped up. */
export function reportOf(
  recording: Recording,
  plan: readonly PlannedText[],
  wanted: number | 'off',
): RecordingReport {
  const {
    bytes,
    captions,
    durationMs,
    isTimed,
    isTooQuiet,
    loudness,
    truePeakDb,
    unlistedChapters,
  } = recording;
  const output = recording.path;
  const lines = recording.lines.map((line, index) => {
    return { ...line, number: plan[index]?.line.number ?? 0, id: plan[index]?.line.id ?? null };
  });
  const late = lines.filter(({ lateMs }) => lateMs > 0);
  const long = lines.filter(({ excessMs }) => excessMs > 0);
  const faster = lines.filter(({ tempo }) => tempo > 1);
  const fastest = faster.reduce((most, { tempo }) => Math.max(most, tempo), 1);
  const level = loudness === undefined ? '' : `, ${loudness.toFixed(1)} LUFS`;
  const event: RecordingFields = {
    output,
    bytes,
    durationMs: Math.round(durationMs),
    loudness: loudness === undefined ? null : rounded(loudness),
    truePeakDb: truePeakDb === undefined ? null : rounded(truePeakDb),
    isTooQuiet,
    captions: captions.map(captionFileDocument),
    isTimed,
    late: late.map(({ id, lateMs, number }) => ({
      line: number,
      id,
      lateMs: Math.round(lateMs),
    })),
    tooLong: long.map(({ excessMs, id, number }) => ({
      line: number,
      id,
      excessMs: Math.round(excessMs),
    })),
    stretched: faster.map(({ id, number, tempo }) => ({
      line: number,
      id,
      tempo: rounded(tempo),
    })),
  };
  return {
    event: { ...event },
    human: `${output}: ${clock(durationMs)}${level}`,
    warnings: [
      ...listed(
        late.map(({ lateMs, number }) => `line ${number} begins ${Math.round(lateMs)} ms late`),
      ),
      ...listed(
        long.map(
          ({ excessMs, number }) =>
            `line ${number} is ${Math.round(excessMs)} ms too long for its time`,
        ),
      ),
      ...(faster.length === 0
        ? []
        : [
            `${counted(faster.length, 'line')} sped up to fit, at most ${fastest.toFixed(2)} times`,
          ]),
      ...(isTooQuiet
        ? [`the peaks allow only${level.slice(1)}, not ${wanted}: true peaks stay below -1 dBTP`]
        : []),
      ...unlisted(unlistedChapters),
      ...(isTimed ? [] : [UNTIMED]),
      ...violationsIn(captions),
    ],
    isPartial: long.length > 0 || !isTimed,
  };
}

const UNTIMED =
  'some words of the captions have no times, because foley did not find them in the speech';

function unlisted(chapters: number): readonly string[] {
  const shown = `${MOST_LISTED_CHAPTERS} of ${MOST_LISTED_CHAPTERS + chapters} chapters`;
  return chapters === 0
    ? []
    : [`a player that reads only the Nero chapter list of the m4b shows ${shown}`];
}

function violationsIn(captions: readonly WrittenCaptions[]): readonly string[] {
  const sentences: string[] = [];
  warnOfViolations(captions, (sentence) => sentences.push(sentence.replace(/^foley: /, '')));
  return sentences;
}

const MOST_LISTED = 10;

function listed(problems: readonly string[]): readonly string[] {
  const more = problems.length - MOST_LISTED;
  if (more <= 0) return problems;
  return [
    ...problems.slice(0, MOST_LISTED),
    `${counted(more, 'more line')} likewise; --json lists them`,
  ];
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

/** Formats a length, such as `1:02:03`. */
export function clock(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const rest = String(seconds % 60).padStart(2, '0');
  return hours === 0
    ? `${minutes}:${rest}`
    : `${hours}:${String(minutes).padStart(2, '0')}:${rest}`;
}
