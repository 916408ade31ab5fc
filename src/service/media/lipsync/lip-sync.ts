import { Type } from 'typebox';
import type { Static } from 'typebox';
import type { EndpointId } from '../../../contract/generated/endpoints.ts';
import { MEDIA_RESULT_MAX_BYTES, MEDIA_RESULT_MAX_PICTURES } from '../../../contract/limits.ts';
import type { LipSyncRequest, LipSyncResult, BillingRule } from '../../../contract/lip-sync.ts';
import { BILLING_RULES } from '../../../contract/lip-sync.ts';
import { fingerprintOf } from '../../operations/operations.ts';
import { importFailure } from '../import/import-failure.ts';
import type { Imports, MediaArrival } from '../import/imports.ts';
import type { InspectedVideo } from '../inspection/inspection.ts';
import { AudioFacts, VideoFacts } from '../inspection/inspection.ts';
import type { Job } from '../../jobs/job-records.ts';
import { storedOrder } from '../../jobs/job-records.ts';
import type { Jobs } from '../../jobs/jobs.ts';
import type { MediaWork } from '../media-jobs.ts';
import type { AlignOrder } from './align-order.ts';
import { Aligned } from './align-order.ts';

/** A lip sync that is asked for. */
interface LipSyncOrder {
  readonly accountId: string;
  readonly endpoint: EndpointId;
  readonly requestId: string;
  readonly body: LipSyncRequest;
  /** Aborted when the client goes: nothing is made or charged then. */
  readonly signal: AbortSignal;
}

/**
 * Imports both files, and takes a job in when they are good (docs/api/lip-sync.md and docs/api/errors.md).
 * @throws ServiceError of section 7.3, and 402 when there is too little
 */
export async function acceptLipSync(
  { accountId, body, endpoint, requestId, signal }: LipSyncOrder,
  { jobs, media }: { readonly jobs: Jobs; readonly media: { readonly imports: Imports } },
): Promise<Job> {
  const { audio_url: audioUrl, video_extension: extendsVideo = false, video_url: videoUrl } = body;
  return media.imports.within(signal, async (arrival) => {
    const [video, audio] = await bothOf(
      arrival,
      fetchVideo(arrival, videoUrl),
      fetchAudio(arrival, audioUrl),
    );
    const { billedSeconds, credits, rule, seconds } = billingOf({ video, audio, extendsVideo });
    if (extendsVideo) requireRoomToRepeat(video, seconds);
    const length = { seconds, billedSeconds, credits, rule, tempo: 1 };
    const order: StoredLipSync = { video, audio, audioFile: AUDIO_FILE, ...length };
    signal.throwIfAborted();
    return jobs.accept({
      id: arrival.id,
      accountId,
      endpoint,
      // It documents none: each create is a job of its own.
      idempotencyKey: undefined,
      fingerprint: fingerprintOf({ ...body }),
      requestId,
      kind: 'lip_sync',
      order,
      charge: { credits, quota: 0 },
    });
  });
}

/** Fetches the video of a request and says what is in it. @throws ServiceError of section 7.3 */
export async function fetchVideo(arrival: MediaArrival, url: string): Promise<InspectedVideo> {
  const order = { url, field: 'video_url', kind: 'video', name: VIDEO_FILE } as const;
  const { video } = await arrival.fetchTrack(order);
  if (video === null) throw new TypeError('a video without a track');
  return video;
}

async function fetchAudio(arrival: MediaArrival, url: string): Promise<AudioFacts> {
  const order = { url, field: 'audio_url', kind: 'audio', name: AUDIO_FILE } as const;
  const { audio } = await arrival.fetchTrack(order);
  if (audio === null) throw new TypeError('sound without a track');
  return audio;
}

/**
 * Waits for both. When one fails the other is ended, and waited for too: their folder is removed then, and
 * nothing may write there any more.
 */
async function bothOf<One, Other>(
  arrival: MediaArrival,
  one: Promise<One>,
  other: Promise<Other>,
): Promise<readonly [One, Other]> {
  const abandon = (reason: unknown): void => arrival.abandon(reason);
  one.catch(abandon);
  other.catch(abandon);
  await Promise.allSettled([one, other]);
  return [await one, await other];
}

const RESULT = 'result.mp4';

/** Half an hour of video takes a few seconds to copy, and half an hour of sound half a minute to encode. */
const DEADLINE_MS = 600_000;

/** Makes a lip sync, also that of a dubbing. */
export const lipSyncWork: MediaWork = async (job, { draftOf, pathOf, progress, run, signal }) => {
  const { audio, audioFile, seconds, tempo, video } = storedOrder(StoredLipSync, job);
  const order: AlignOrder = {
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
    duration_seconds: shownSeconds(seconds),
    width: video.width,
    height: video.height,
    video_codec: video.codec,
    audio_codec: audioCodec,
    size_bytes: bytes,
  };
  return { name: RESULT, contentType: 'video/mp4', metadata };
};

/**
 * Lets a video be shown again and again up to a length, unless what comes of it is more than a disk is to be
 * filled with: a small file may be as short as one picture.
 * @throws ServiceError 413; nothing is charged then
 */
export function requireRoomToRepeat(
  { bytes, pictures, seconds: length }: Pick<InspectedVideo, 'bytes' | 'pictures' | 'seconds'>,
  seconds: number,
): void {
  const times = Math.ceil(seconds / length);
  const isLarge = times * bytes > MEDIA_RESULT_MAX_BYTES;
  if (!isLarge && times * pictures <= MEDIA_RESULT_MAX_PICTURES) return;
  const limit = isLarge
    ? `${MEDIA_RESULT_MAX_BYTES} bytes`
    : `${MEDIA_RESULT_MAX_PICTURES} pictures`;
  const what = `would be shown ${times} times to last as long as the audio, which is more than ${limit}`;
  const subject = { kind: 'video', field: 'video_url' } as const;
  const code = 'ERR_MEDIA_TOO_LARGE';
  throw importFailure(subject, { code, what, stage: 'inspection', retryable: false });
}

/** What a second of lip sync costs. */
const CREDITS_PER_SECOND = 10;

/** How long a lip sync is, and what it costs (docs/api/lip-sync.md). */
interface LipSyncBilling {
  /** Length of the result. */
  readonly seconds: number;
  readonly billedSeconds: number;
  readonly credits: number;
  readonly rule: BillingRule;
}

interface LipSyncInputs {
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

/** What is stored of a lip sync that was asked for; its files are in the folder of the job. */
export const StoredLipSync = Type.Object({
  video: VideoFacts,
  audio: AudioFacts,
  /** The name of the file with the sound. */
  audioFile: Type.String(),
  /** How long the result is. */
  seconds: Type.Number({ exclusiveMinimum: 0 }),
  /** How much faster the sound is to be, at the same pitch. */
  tempo: Type.Number({ exclusiveMinimum: 0 }),
  billedSeconds: Type.Integer({ minimum: 1 }),
  /** What was set aside for it. */
  credits: Type.Integer({ minimum: 0 }),
  rule: Type.Enum([...BILLING_RULES]),
});
export type StoredLipSync = Static<typeof StoredLipSync>;

/** Names of the files that came in, in the folder of their job. */
const VIDEO_FILE = 'video';
const AUDIO_FILE = 'audio';
