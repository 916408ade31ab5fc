import { runThread } from '../system/thread.ts';
import type { AssStyle } from './ass-style.ts';
import type { Cue, CueShape, SubtitleFormat } from './cue-shape.ts';
import type { Subtitles } from './subtitles.ts';
import { subtitlesOf } from './subtitles.ts';
import type { Timings } from './timings.ts';

/** The subtitles that the thread creates. */
export interface SubtitlesTask {
  readonly timings: Timings;
  readonly shape: CueShape;
  readonly format: SubtitleFormat;
  /** The cues to write; default: cues with the words of the timings. */
  readonly cues?: readonly Cue[] | undefined;
  /** The styles of a file of Advanced SubStation Alpha; default: styles of foley. */
  readonly assStyle?: AssStyle | undefined;
}

/** Script of the worker thread. The relative path is valid both in the sources and in the build. */
const WORKER_FILE = new URL('../../dist/subtitles-worker.cjs', import.meta.url);

// Starting a thread takes longer than creating the subtitles of a short text.
const SHORT_TEXT = 5_000;

/**
 * Creates subtitles, as `subtitlesOf` does. A thread creates those of long texts, so that the signal stops this at once.
 * @throws on abort, the signal's abort reason
 */
export async function subtitlesUntil(
  task: SubtitlesTask,
  signal: AbortSignal | undefined,
): Promise<Subtitles> {
  const { assStyle, cues, format, shape, timings } = task;
  if (timings.text.length <= SHORT_TEXT) return subtitlesOf(timings, shape, format, cues, assStyle);
  return runThread<Subtitles>(WORKER_FILE, { name: 'subtitles', data: task, signal });
}
