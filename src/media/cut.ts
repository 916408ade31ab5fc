import type { MediaJob } from '../api/resources/media.ts';
import type { MediaJobKind } from '../api/resources/models.ts';
import { firstNumber, firstRecord } from '../api/response.ts';
import { describeDuration } from '../audio/verify.ts';

/** An input of a lip sync that the result contains only in part. All lengths are in seconds. */
export interface Cut {
  /** The input that is cut. */
  readonly part: 'audio' | 'video';
  readonly videoSeconds: number;
  readonly audioSeconds: number;
}

// Nobody notices a shorter cut: frames of video and audio have lengths of their own.
const NOTICED_SECONDS = 0.1;
const EXTENDED = 'audio_rounded_up';

/**
 * Returns which input of a lip sync or dubbing is cut: the result is as long as the shorter input, or with
 * `video_extension` as long as the audio (docs/api/lip-sync.md). Returns undefined if nothing is cut, or if the service
 * does not report the lengths.
 */
export function cutOf({ billing, data }: MediaJob): Cut | undefined {
  const videoSeconds = billing?.videoSeconds ?? firstNumber(data['video_duration_seconds']);
  const audioSeconds = billing?.audioSeconds ?? firstNumber(data['audio_duration_seconds']);
  if (videoSeconds === undefined || audioSeconds === undefined) return undefined;
  const shorter = Math.min(videoSeconds, audioSeconds);
  const resultSeconds =
    firstNumber(firstRecord(data['result'])?.['duration_seconds']) ??
    (billing?.rule === EXTENDED ? audioSeconds : shorter);
  const lengths = { videoSeconds, audioSeconds };
  if (videoSeconds - resultSeconds > NOTICED_SECONDS) return { part: 'video', ...lengths };
  return audioSeconds - resultSeconds > NOTICED_SECONDS ? { part: 'audio', ...lengths } : undefined;
}

/** Formats a warning about an input that is cut, with both lengths and what keeps the whole input. */
export function describeCut(kind: MediaJobKind, cut: Cut): string {
  const audio = kind === 'dub' ? 'speech' : 'audio';
  const lengths = { video: cut.videoSeconds, [audio]: cut.audioSeconds };
  const [part, other] = cut.part === 'video' ? ['video', audio] : [audio, 'video'];
  const hint = HINTS[kind]?.[cut.part];
  return (
    `foley: the ${part} of ${secondsOf(lengths[part])} is cut to ` +
    `the ${secondsOf(lengths[other])} of the ${other}${hint === undefined ? '' : `; ${hint}`}`
  );
}

const HINTS: Readonly<
  Partial<Record<MediaJobKind, Readonly<Partial<Record<Cut['part'], string>>>>>
> = {
  dub: {
    video: '--extend keeps the whole video',
    audio: '--extend keeps the whole speech, and --fit speaks faster',
  },
  lipsync: { audio: '--extend repeats the video until the audio ends' },
};

function secondsOf(seconds = 0): string {
  return describeDuration(seconds * 1_000);
}
