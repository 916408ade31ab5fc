import { DUBBING_TEMPO_RANGE } from '../../contract/limits.ts';
import type { DubbingRequest } from '../../contract/lip-sync.ts';
import type { ServiceErrorCode } from '../../contract/service-errors.ts';
import { beginOperation, refusalError, fingerprintOf } from '../operations/operations.ts';
import type { ServiceContext } from '../service-context.ts';
import { writeSpeech } from '../speech/audio-files.ts';
import type { Connection, Row } from '../store/connection.ts';
import { integer, optionalText, text as textOf } from '../store/connection.ts';
import type { PlanOptions, SpeechPlan } from '../speech/plan.ts';
import { planSpeech } from '../speech/plan.ts';
import type { Speaking } from '../speech/speak.ts';
import { requireSettled, generate, speechOf } from '../speech/speak.ts';
import { writeMediaFile } from './media-files.ts';
import type { MediaArrival } from './import/imports.ts';
import type { AudioFacts, VideoFacts } from './inspection/inspection.ts';
import type { Job, Json } from '../jobs/job-records.ts';
import { jsonOf, readJob, requireErrorCode } from '../jobs/job-records.ts';
import type { Jobs } from '../jobs/jobs.ts';
import type { StoredLipSync } from './lipsync/lip-sync.ts';
import { fetchVideo, billingOf, shownSeconds } from './lipsync/lip-sync.ts';

/** A dubbing that is asked for. */
interface DubbingOrder {
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
 * (docs/api/lip-sync.md). The same create under the same key comes to the same, and costs nothing again.
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
  context.jobs.requireOpen();
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
    const end = startLipSync(db, context.jobs, { ...request, folderId, video, audio, fits });
    const speechCredits = charge.credits;
    record = { operationId: operation.id, speechFileId, speechCredits, end };
    writeDubbing(db, record);
  };
  const speaking = { context, account: accountId, plan, operation, signal, requestId };
  const onSettled = (): void => {
    const { end } = requireSettled(record);
    if ('job' in end) context.jobs.enqueue(end.job);
  };
  await speakDubbing({ speaking, folderId, settle, onSettled });
  return requireSettled(record);
}

/** Speech that was spoken for a video. */
interface SpokenVideo {
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
 * or says why it cannot start, and the speech stays what was paid for (docs/api/errors.md).
 */
function startLipSync(
  db: Connection,
  jobs: Pick<Jobs, 'acceptWithin'>,
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

/** The speech of a dubbing, in the folder of its job: whole and as it was spoken. */
const SPEECH_FILE = 'speech.wav';

interface DubbingSpeech {
  readonly speaking: Speaking & { readonly context: Pick<ServiceContext, 'media'> };
  /** The folder. */
  readonly folderId: string;
  /** What becomes of the speech, in the transaction in which its charge is final. */
  readonly settle: (db: Connection, speech: AudioFacts) => void;
  /** Called when that is written; a service that closes waits for it. */
  readonly onSettled: () => void;
}

/**
 * Speaks the text of a dubbing into a file, and charges for it when it is whole (docs/api/lip-sync.md).
 * @throws ServiceError 400 for a text that cannot be spoken, 500 for anything else, refunded
 */
function speakDubbing({ folderId, onSettled, settle, speaking }: DubbingSpeech): Promise<void> {
  const { context, operation, plan } = speaking;
  return generate(speaking, async (generation) => {
    const output = await context.media.folder.create(folderId, SPEECH_FILE);
    try {
      const { encode } = context;
      const { gainDb } = plan;
      const chunks = speechOf(speaking, generation.signal);
      const length = await writeSpeech({ output, encode, format: 'wav', gainDb }, chunks);
      generation.signal.throwIfAborted();
      const seconds = length.samples / length.sampleRate;
      const speech = { codec: 'pcm-s16', seconds, start: 0, paddingSeconds: 0 };
      requireSettled(operation.commit());
      requireSettled(operation.complete((db) => settle(db, speech)) || undefined);
      onSettled();
      generation.end();
    } catch (error) {
      await output.abandon();
      throw error;
    }
  });
}

/** Why lip sync could not start, though the speech was spoken and billed. */
interface DubbingRefusal {
  readonly code: ServiceErrorCode;
  readonly message: string;
  readonly details: Json;
}

/** A dubbing whose speech was spoken and billed. */
export interface DubbingRecord {
  readonly operationId: string;
  readonly speechFileId: string;
  readonly speechCredits: number;
  /** What came of it: a job of lip sync, or none. */
  readonly end: { readonly job: Job } | { readonly refusal: DubbingRefusal };
}

/** Notes what came of a dubbing, inside the caller's transaction. */
function writeDubbing(db: Connection, record: DubbingRecord): void {
  const { end, operationId, speechCredits, speechFileId } = record;
  db.run(
    `INSERT INTO dubbing (operation_id, speech_file_id, speech_credits, job_id, refusal)
     VALUES (?, ?, ?, ?, ?)`,
    [
      operationId,
      speechFileId,
      speechCredits,
      'job' in end ? end.job.id : null,
      'refusal' in end ? JSON.stringify(end.refusal) : null,
    ],
  );
}

/** The dubbing that this operation paid for; `undefined` until it is whole. */
function findDubbing(db: Connection, operationId: string): DubbingRecord | undefined {
  const row = db.get('SELECT * FROM dubbing WHERE operation_id = ?', [operationId]);
  return row === undefined ? undefined : recordOf(db, row);
}

/** The dubbing that this job is of. @throws TypeError when it is of none */
export function requireDubbing(db: Connection, jobId: string): DubbingRecord {
  const row = db.get('SELECT * FROM dubbing WHERE job_id = ?', [jobId]);
  if (row === undefined) throw new TypeError(`there is no dubbing of job ${jobId}`);
  return recordOf(db, row);
}

function recordOf(db: Connection, row: Row): DubbingRecord {
  const jobId = optionalText(row, 'job_id');
  const job = jobId === undefined ? undefined : readJob(db, jobId);
  return {
    operationId: textOf(row, 'operation_id'),
    speechFileId: textOf(row, 'speech_file_id'),
    speechCredits: integer(row, 'speech_credits'),
    end: job === undefined ? { refusal: refusalOf(textOf(row, 'refusal')) } : { job },
  };
}

function refusalOf(stored: string): DubbingRefusal {
  const { code, details, message } = jsonOf(stored);
  return {
    code: requireErrorCode(String(code)),
    message: String(message),
    details: typeof details === 'object' && details !== null ? { ...details } : {},
  };
}

/**
 * How much faster speech has to be to end with its video (docs/api/lip-sync.md); `undefined` when that is
 * more than can be done without making it something else.
 */
export function tempoToFit(speechSeconds: number, videoSeconds: number): number | undefined {
  const tempo = speechSeconds / videoSeconds;
  const { maximum, minimum } = DUBBING_TEMPO_RANGE;
  return tempo >= minimum && tempo <= maximum ? tempo : undefined;
}
