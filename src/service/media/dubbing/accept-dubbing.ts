import type { DubbingRequest } from '../../../contract/schemas/dubbing.ts';
import { beginOperation } from '../../operations/begin-operation.ts';
import { fingerprintOf } from '../../operations/fingerprint.ts';
import type { ServiceContext } from '../../service-context.ts';
import type { Connection } from '../../store/connection.ts';
import type { PlanOptions, SpeechPlan } from '../../synthesis/plan.ts';
import { planSpeech } from '../../synthesis/plan.ts';
import { requireSettled } from '../../synthesis/speak.ts';
import type { MediaArrival } from '../import/imports.ts';
import { writeMediaFile } from '../files/media-file-records.ts';
import type { AudioFacts, VideoFacts } from '../inspection/inspection.ts';
import { fetchVideo } from '../lipsync/accept-lip-sync.ts';
import type { DubbingRecord } from './dubbing-records.ts';
import { findDubbing, writeDubbing } from './dubbing-records.ts';
import { SPEECH_FILE, speakDubbing } from './speak-dubbing.ts';
import { startLipSync } from './start-lip-sync.ts';

/** A dubbing that is asked for. */
export interface DubbingOrder {
  readonly accountId: string;
  readonly requestId: string;
  readonly idempotencyKey: string | undefined;
  readonly body: DubbingRequest;
  /** Aborted when the client disconnects: until the speech is whole, nothing is charged then. */
  readonly signal: AbortSignal;
}

/** What the fields of a body are called that are not called as in v3. */
const NAMES: NonNullable<PlanOptions['names']> = { voiceId: 'reference_id', modelId: 'model_id' };

/**
 * Imports the video, speaks the text, which is charged when it is whole, and takes a job of lip sync in
 * (spec section 4.7). The same create under the same key comes to the same, and costs nothing again.
 * @throws ServiceError of sections 7.1 to 7.3; nothing is charged then
 */
export async function acceptDubbing(
  order: DubbingOrder,
  context: ServiceContext,
): Promise<DubbingRecord> {
  const { accountId, body, idempotencyKey, signal } = order;
  const fingerprint = fingerprintOf({ ...body });
  const key = { accountId, endpoint: 'createDubbing', idempotencyKey, fingerprint } as const;
  return context.creates.once({
    key,
    signal,
    find: findDubbing,
    make: (shared) => makeDubbing({ ...order, signal: shared }, fingerprint, context),
  });
}

/** Plans the speech, imports the video, and makes the dubbing. */
async function makeDubbing(
  order: DubbingOrder,
  fingerprint: string,
  context: ServiceContext,
): Promise<DubbingRecord> {
  const { accountId, body, signal } = order;
  const { language, model_id: modelId, reference_id: voiceId, speed, text } = body;
  const speech = { text, voiceId, modelId, speed, language };
  const plan = planSpeech(speech, context.catalogue.of(accountId), { names: NAMES });
  return context.media.imports.within(signal, async (arrival) => {
    const video = await fetchVideo(arrival, body.video_url);
    return dub({ order, arrival, fingerprint, plan, video }, context);
  });
}

interface Dubbing {
  readonly order: DubbingOrder;
  readonly arrival: MediaArrival;
  readonly fingerprint: string;
  readonly plan: SpeechPlan;
  readonly video: VideoFacts;
}

async function dub(
  { arrival, fingerprint, order, plan, video }: Dubbing,
  context: ServiceContext,
): Promise<DubbingRecord> {
  const { accountId, body, idempotencyKey, requestId, signal } = order;
  const { charge } = plan;
  context.media.jobs.requireOpen();
  const request = { accountId, endpoint: 'createDubbing', requestId, fingerprint } as const;
  const operation = beginOperation(context.operations, { ...request, idempotencyKey, charge });
  const { id: folderId } = arrival;
  let record: DubbingRecord | undefined;
  const settle = (db: Connection, audio: AudioFacts): void => {
    const { id: speechFileId } = operation;
    const file = {
      id: speechFileId,
      folder: folderId,
      name: SPEECH_FILE,
      contentType: 'audio/wav',
    };
    writeMediaFile(db, file);
    const fits = body.fit_audio_to_video ?? false;
    const end = startLipSync(db, context.media.jobs, { ...request, folderId, video, audio, fits });
    const speechCredits = charge.credits;
    record = { operationId: operation.id, speechFileId, speechCredits, end };
    writeDubbing(db, record);
  };
  const speaking = { context, account: accountId, plan, operation, signal, requestId };
  const onSettled = (): void => {
    const { end } = requireSettled(record);
    if ('job' in end) context.media.jobs.enqueue(end.job);
  };
  await speakDubbing({ speaking, folderId, settle, onSettled });
  return requireSettled(record);
}
