import type { SpeechFormat } from '../../contract/speech.ts';
import type { WholeJob } from './job-records.ts';

/** Names of a job's files in its folder. */

/** One segment in the job's format. */
export function segmentFile(index: number, format: SpeechFormat): string {
  return `segment-${index}.${format}`;
}

/** The samples of one segment, kept until the whole is made of them. */
export function samplesFile(index: number): string {
  return `segment-${index}.f32`;
}

/** The whole: of a job with one segment, that segment. */
export function wholeFile({ segments, format }: Pick<WholeJob, 'segments' | 'format'>): string {
  return segments.length === 1 ? segmentFile(0, format) : `audio.${format}`;
}
