import type { Static } from 'typebox';
import { Type } from 'typebox';
import { MEDIA_RESULT_MAX_BYTES, MEDIA_RESULT_MAX_PICTURES } from '../../../contract/limits.ts';
import type { LipSyncResult } from '../../../contract/lip-sync.ts';
import { BILLING_RULES } from '../../../contract/lip-sync.ts';
import { importFailure } from '../import/import-failure.ts';
import type { MediaImport } from '../import/imports.ts';
import type { AlignParameters, InspectedVideo } from '../inspection/inspection.ts';
import { Aligned, AudioMetadata, VideoMetadata } from '../inspection/inspection.ts';
import { storedOrder } from '../../jobs/job-records.ts';
import type { MediaWork } from '../media-jobs.ts';

/** Imports the video at a URL. @throws ServiceError when the import fails (docs/api/errors.md) */
export async function fetchVideo(arrival: MediaImport, url: string): Promise<InspectedVideo> {
  const order = { url, field: 'video_url', kind: 'video', name: VIDEO_FILE } as const;
  const { video } = await arrival.fetchTrack(order);
  if (video === null) throw new TypeError('The inspected video has no track');
  return video;
}

/** Imports the audio at a URL. @throws ServiceError when the import fails (docs/api/errors.md) */
export async function fetchAudio(arrival: MediaImport, url: string): Promise<AudioMetadata> {
  const order = { url, field: 'audio_url', kind: 'audio', name: AUDIO_FILE } as const;
  const { audio } = await arrival.fetchTrack(order);
  if (audio === null) throw new TypeError('The inspected audio has no track');
  return audio;
}

const RESULT = 'result.mp4';

// Half an hour of media takes about half a minute.
const DEADLINE_MS = 600_000;

/** Makes the result video of a lip sync job or a dubbing job. */
export const lipSyncWork: MediaWork = async (job, { draftOf, pathOf, progress, run, signal }) => {
  const { audio, audioFile, seconds, tempo, video } = storedOrder(StoredLipSync, job);
  const order: AlignParameters = {
    video: pathOf(VIDEO_FILE),
    audio: pathOf(audioFile),
    audioFacts: audio,
    seconds,
    tempo,
    output: draftOf(RESULT),
  };
  const options = { result: Aligned, deadlineMs: DEADLINE_MS, signal, onProgress: progress };
  const { audioCodec, bytes } = await run('align-sound', order, options);
  const metadata: LipSyncResult = {
    duration_seconds: roundSeconds(seconds),
    width: video.width,
    height: video.height,
    video_codec: video.codec,
    audio_codec: audioCodec,
    size_bytes: bytes,
  };
  return { name: RESULT, contentType: 'video/mp4', metadata };
};

/**
 * Refuses a video that would become too large when it is repeated to last `seconds`. Limits apply to bytes and frames.
 * @throws ServiceError 413; nothing is charged
 */
export function limitRepeatedSize(
  { bytes, pictures, seconds: length }: InspectedVideo,
  seconds: number,
): void {
  const times = Math.ceil(seconds / length);
  const isLarge = times * bytes > MEDIA_RESULT_MAX_BYTES;
  if (!isLarge && times * pictures <= MEDIA_RESULT_MAX_PICTURES) return;
  const limit = isLarge
    ? `${MEDIA_RESULT_MAX_BYTES} bytes`
    : `${MEDIA_RESULT_MAX_PICTURES} pictures`;
  const what = `would be repeated ${times} times to last as long as the audio; the result would exceed ${limit}`;
  const subject = { kind: 'video', field: 'video_url' } as const;
  const code = 'ERR_MEDIA_TOO_LARGE';
  throw importFailure(subject, { code, what, stage: 'inspection' });
}

const CREDITS_PER_SECOND = 10;

/**
 * Computes the duration and the price of a lip sync (docs/api/lip-sync.md). With `extendsVideo`, the length of the
 * audio is billed; otherwise the length of the shorter input. Silence that an encoder added to the audio is not billed.
 */
export function billingOf(videoSeconds: number, audio: AudioMetadata, extendsVideo: boolean) {
  const heard = audio.seconds - audio.paddingSeconds;
  const counted = extendsVideo ? heard : Math.min(videoSeconds, heard);
  const billedSeconds = Math.max(1, Math.ceil(roundSeconds(counted)));
  return {
    seconds: extendsVideo ? audio.seconds : Math.min(videoSeconds, audio.seconds),
    billedSeconds,
    credits: billedSeconds * CREDITS_PER_SECOND,
    rule: extendsVideo ? 'audio_rounded_up' : 'shorter_input_rounded_up',
  } as const;
}

/** Rounds seconds to milliseconds, the precision of times in media files. */
export function roundSeconds(seconds: number): number {
  return Math.round(seconds * 1_000) / 1_000;
}

export const StoredLipSync = Type.Object({
  video: VideoMetadata,
  audio: AudioMetadata,
  audioFile: Type.String(),
  seconds: Type.Number({ exclusiveMinimum: 0 }),
  tempo: Type.Number({ exclusiveMinimum: 0 }),
  billedSeconds: Type.Integer({ minimum: 1 }),
  credits: Type.Integer({ minimum: 0 }),
  rule: Type.Enum([...BILLING_RULES]),
});
export type StoredLipSync = Static<typeof StoredLipSync>;

const VIDEO_FILE = 'video';
export const AUDIO_FILE = 'audio';
