import { DUBBING_TEMPO_RANGE } from '../../../contract/limits.ts';
import type { Connection } from '../../store/connection.ts';
import { refusalError } from '../../operations/begin-operation.ts';
import type { AudioFacts, VideoFacts } from '../inspection/inspection.ts';
import type { MediaJobs } from '../jobs/media-jobs.ts';
import { billingOf, shownSeconds } from '../lipsync/billing.ts';
import type { StoredLipSync } from '../lipsync/stored-lip-sync.ts';
import type { DubbingRecord, DubbingRefusal } from './dubbing-records.ts';
import { tempoToFit } from './fit-speech.ts';
import { SPEECH_FILE } from './speak-dubbing.ts';

/** Speech that was spoken for a video. */
export interface SpokenVideo {
  readonly accountId: string;
  readonly endpoint: 'createDubbing';
  readonly requestId: string;
  readonly fingerprint: string;
  readonly folderId: string;
  readonly video: VideoFacts;
  readonly audio: AudioFacts;
  /** Whether the speech is to end with the video. */
  readonly fits: boolean;
}

/**
 * Takes the lip sync of a dubbing in, inside the transaction that makes the charge of its speech final;
 * or says why it cannot start, and the speech stays what was paid for (spec section 7.3).
 */
export function startLipSync(
  db: Connection,
  jobs: Pick<MediaJobs, 'acceptWithin'>,
  { audio, fits, folderId, video, ...request }: SpokenVideo,
): DubbingRecord['end'] {
  const tempo = fits ? tempoToFit(audio.seconds, video.seconds) : 1;
  if (tempo === undefined) return { refusal: cannotFit(audio.seconds, video.seconds) };
  const spoken = { ...audio, seconds: audio.seconds / tempo };
  const billing = billingOf({ video, audio: spoken, extendsVideo: false });
  const order: StoredLipSync = { video, audio, audioFile: SPEECH_FILE, tempo, ...billing };
  const charge = { credits: billing.credits, quota: 0 };
  const accepted = jobs.acceptWithin(db, {
    ...request,
    id: folderId,
    // That of the speech stands for both.
    idempotencyKey: undefined,
    kind: 'video_dubbing',
    order,
    answer: {},
    charge,
  });
  if (accepted.kind === 'accepted') return { job: accepted.job };
  const { code, details = {}, message } = refusalError(accepted, { charge });
  return { refusal: { code, message: `The lip sync cannot start: ${message}`, details } };
}

function cannotFit(speech: number, video: number): DubbingRefusal {
  const { maximum, minimum } = DUBBING_TEMPO_RANGE;
  const message =
    `The speech of ${shownSeconds(speech)} s cannot be fitted to ${shownSeconds(video)} s of video: ` +
    `it can be made ${minimum} to ${maximum} times as fast`;
  return { code: 'ERR_DUBBING_FIT_IMPOSSIBLE', message, details: {} };
}
