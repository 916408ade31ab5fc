import type { EndpointId } from '../../../contract/endpoints.ts';
import type { LipSyncRequest } from '../../../contract/schemas/lip-sync.ts';
import { fingerprintOf } from '../../operations/fingerprint.ts';
import type { MediaArrival } from '../import/imports.ts';
import type { AudioFacts, InspectedVideo } from '../inspection/inspection.ts';
import type { MediaJob } from '../jobs/media-job-records.ts';
import type { Media } from '../media.ts';
import { billingOf } from './billing.ts';
import { requireRoomToRepeat } from './repetition.ts';
import type { StoredLipSync } from './stored-lip-sync.ts';
import { AUDIO_FILE, VIDEO_FILE } from './stored-lip-sync.ts';

/** A lip sync that is asked for. */
export interface LipSyncOrder {
  readonly accountId: string;
  readonly endpoint: EndpointId;
  readonly requestId: string;
  readonly body: LipSyncRequest;
  /** Aborted when the client goes: nothing is made or charged then. */
  readonly signal: AbortSignal;
}

/**
 * Imports both files, and takes a job in when they are good (spec sections 4.7 and 7.3).
 * @throws ServiceError of section 7.3, and 402 when there is too little
 */
export async function acceptLipSync(
  { accountId, body, endpoint, requestId, signal }: LipSyncOrder,
  { media }: { readonly media: Media },
): Promise<MediaJob> {
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
    return media.jobs.accept({
      id: arrival.id,
      accountId,
      endpoint,
      // It documents none: each create is a job of its own.
      idempotencyKey: undefined,
      fingerprint: fingerprintOf({ ...body }),
      requestId,
      kind: 'lip_sync',
      order,
      answer: {},
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
