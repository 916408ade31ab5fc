import type { BillingRule } from '../../../contract/schemas/lip-sync.ts';
import type { AudioFacts, VideoFacts } from '../inspection/inspection.ts';

/** What a second of lip sync costs. */
const CREDITS_PER_SECOND = 10;

/** How long a lip sync is, and what it costs (spec section 2.6). */
export interface LipSyncBilling {
  /** Length of the result. */
  readonly seconds: number;
  readonly billedSeconds: number;
  readonly credits: number;
  readonly rule: BillingRule;
}

export interface LipSyncInputs {
  readonly video: Pick<VideoFacts, 'seconds'>;
  readonly audio: Pick<AudioFacts, 'seconds' | 'paddingSeconds'>;
  /** The video is shown again up to the end of the audio. */
  readonly extendsVideo: boolean;
}

/**
 * The shorter input gives the length, or the audio where the video is extended. It is billed in whole
 * seconds, rounded up; what an encoder may have added to the sound does not count.
 */
export function billingOf({ audio, extendsVideo, video }: LipSyncInputs): LipSyncBilling {
  const heard = audio.seconds - audio.paddingSeconds;
  const counted = extendsVideo ? heard : Math.min(video.seconds, heard);
  const billedSeconds = Math.max(1, Math.ceil(toMilliseconds(counted) / 1_000));
  return {
    seconds: extendsVideo ? audio.seconds : Math.min(video.seconds, audio.seconds),
    billedSeconds,
    credits: billedSeconds * CREDITS_PER_SECOND,
    rule: extendsVideo ? 'audio_rounded_up' : 'shorter_input_rounded_up',
  };
}

/** Seconds as they are told: clocks of media round at the fourth digit. */
export function shownSeconds(seconds: number): number {
  return toMilliseconds(seconds) / 1_000;
}

function toMilliseconds(seconds: number): number {
  return Math.round(seconds * 1_000);
}
