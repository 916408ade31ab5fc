import { DUBBING_TEMPO_RANGE } from '../../contract/limits.ts';
import type { DubbingRequest } from '../../contract/lip-sync.ts';
import type { ServiceErrorCode } from '../../contract/service-errors.ts';
import type { OperationRequest } from '../operations/operations.ts';
import { beginOperation, refusalError, fingerprintOf } from '../operations/operations.ts';
import type { ServiceContext } from '../service-context.ts';
import { writeSpeech } from '../speech/audio-files.ts';
import type { Connection, Row } from '../store/connection.ts';
import { integer, optionalText, text as textOf } from '../store/connection.ts';
import type { SpeechPlanOptions } from '../speech/plan-speech.ts';
import { planSpeech } from '../speech/plan-speech.ts';
import type { Speaking } from '../speech/speak.ts';
import { requireSettled, generate, speechOf } from '../speech/speak.ts';
import { writeMediaFile } from './media-files.ts';
import type { AudioMetadata, VideoMetadata } from './inspection/inspection.ts';
import type { StoredJob, Json } from '../jobs/job-records.ts';
import { jsonOf, readJob, requireErrorCode } from '../jobs/job-records.ts';
import type { Jobs } from '../jobs/job-service.ts';
import type { StoredLipSync } from './lipsync/sync-lips.ts';
import { fetchVideo, billingOf, roundSeconds } from './lipsync/sync-lips.ts';

interface DubbingOrder {
  readonly accountId: string;
  readonly requestId: string;
  readonly idempotencyKey: string | undefined;
  readonly body: DubbingRequest;
  /** Aborted when the client disconnects. If the speech is incomplete at that time, nothing is charged. */
  readonly signal: AbortSignal;
}

// Error messages name the fields of this endpoint.
const NAMES: NonNullable<SpeechPlanOptions['names']> = {
  voiceId: 'reference_id',
  modelId: 'model_id',
};

/**
 * Imports the video, speaks the text, charges for the speech, and accepts a lip sync job (docs/api/lip-sync.md). A
 * retry with the same idempotency key returns the first dubbing and is not charged.
 * @throws ServiceError if a step before the charge fails
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

async function makeDubbing(
  { accountId, body, idempotencyKey, requestId, signal }: DubbingOrder,
  fingerprint: string,
  context: ServiceContext,
): Promise<DubbingRecord> {
  const { catalogue, encode, jobs, media, operations } = context;
  const { language, model_id: modelId, reference_id: voiceId, speed, text } = body;
  const speech = { text, voiceId, modelId, speed, language };
  const plan = planSpeech(speech, catalogue.of(accountId), { names: NAMES });
  const { charge, gainDb } = plan;
  return media.imports.within(signal, async (arrival) => {
    const video = await fetchVideo(arrival, body.video_url);
    const { id: folder } = arrival;
    jobs.requireOpen();
    const key = { accountId, endpoint: 'createDubbing', idempotencyKey, fingerprint } as const;
    const request = { ...key, requestId, charge };
    const operation = beginOperation(operations, request);
    const { id } = operation;
    const speaking: Speaking = { context, account: accountId, plan, operation, signal, requestId };
    return generate(speaking, plan.textField, async (generation) => {
      const output = await media.folder.create(folder, SPEECH_FILE);
      try {
        const chunks = speechOf(speaking, generation.signal);
        const length = await writeSpeech({ output, encode, format: 'wav', gainDb }, chunks);
        generation.signal.throwIfAborted();
        const seconds = length.samples / length.sampleRate;
        const audio = { codec: 'pcm-s16', seconds, start: 0, paddingSeconds: 0 };
        const fits = body.fit_audio_to_video ?? false;
        requireSettled(operation.commit());
        let record: DubbingRecord | undefined;
        const isComplete = operation.complete((db) => {
          writeMediaFile(db, { id, folder, name: SPEECH_FILE, contentType: 'audio/wav' });
          const end = startLipSync(db, jobs, request, { id: folder, video, audio, fits });
          record = { operationId: id, speechFileId: id, speechCredits: charge.credits, end };
          writeDubbing(db, record);
        });
        const dubbing = requireSettled(isComplete ? record : undefined);
        if ('job' in dubbing.end) jobs.enqueue(dubbing.end.job);
        generation.end();
        return dubbing;
      } catch (error) {
        await output.abandon();
        throw error;
      }
    });
  });
}

interface SpokenVideo {
  /** Id of the job, whose folder contains both files. */
  readonly id: string;
  readonly video: VideoMetadata;
  readonly audio: AudioMetadata;
  /** True to change the tempo of the speech, so that the speech lasts as long as the video. */
  readonly fits: boolean;
}

// Runs inside the transaction that completes the speech. The speech stays charged if the job is refused
// (docs/api/errors.md).
function startLipSync(
  db: Connection,
  jobs: Jobs,
  request: OperationRequest,
  { id, audio, fits, video }: SpokenVideo,
): DubbingRecord['end'] {
  const tempo = fits ? tempoToFit(audio.seconds, video.seconds) : 1;
  if (tempo === undefined) return { refusal: cannotFit(audio.seconds, video.seconds) };
  const spoken = { ...audio, seconds: audio.seconds / tempo };
  const billing = billingOf(video.seconds, spoken, false);
  const order: StoredLipSync = { video, audio, audioFile: SPEECH_FILE, tempo, ...billing };
  const charge = { credits: billing.credits, quota: 0 };
  const accepted = jobs.acceptWithin(db, {
    ...request,
    id,
    // The idempotency key of the speech also covers the job.
    idempotencyKey: undefined,
    kind: 'video_dubbing',
    order,
    charge,
  });
  if (accepted.kind === 'accepted') return { job: accepted.job };
  const { code, details = {}, message } = refusalError(accepted, charge);
  return { refusal: { code, message: `The lip sync cannot start: ${message}`, details } };
}

function cannotFit(speech: number, video: number): DubbingRefusal {
  const { maximum, minimum } = DUBBING_TEMPO_RANGE;
  const message =
    `The speech of ${roundSeconds(speech)} s cannot be fitted to ${roundSeconds(video)} s of video: ` +
    `it can be made ${minimum} to ${maximum} times as fast`;
  return { code: 'ERR_DUBBING_FIT_IMPOSSIBLE', message, details: {} };
}

// The speech at its original tempo, in the folder of the job.
const SPEECH_FILE = 'speech.wav';

interface DubbingRefusal {
  readonly code: ServiceErrorCode;
  readonly message: string;
  readonly details: Json;
}

/** A dubbing whose speech is complete and charged. */
export interface DubbingRecord {
  readonly operationId: string;
  readonly speechFileId: string;
  readonly speechCredits: number;
  /** The lip sync job that was started, or the reason why no job could be started. */
  readonly end: { readonly job: StoredJob } | { readonly refusal: DubbingRefusal };
}

function writeDubbing(db: Connection, record: DubbingRecord): void {
  const { end, operationId, speechCredits, speechFileId } = record;
  const jobId = 'job' in end ? end.job.id : null;
  const refusal = 'refusal' in end ? JSON.stringify(end.refusal) : null;
  db.run(
    `INSERT INTO dubbing (operation_id, speech_file_id, speech_credits, job_id, refusal)
     VALUES (?, ?, ?, ?, ?)`,
    [operationId, speechFileId, speechCredits, jobId, refusal],
  );
}

function findDubbing(db: Connection, operationId: string): DubbingRecord | undefined {
  const row = db.get('SELECT * FROM dubbing WHERE operation_id = ?', [operationId]);
  return row === undefined ? undefined : recordOf(db, row);
}

/** Returns the dubbing to which a lip sync job belongs. @throws TypeError when the job belongs to no dubbing */
export function requireDubbing(db: Connection, jobId: string): DubbingRecord {
  const row = db.get('SELECT * FROM dubbing WHERE job_id = ?', [jobId]);
  if (row === undefined) throw new TypeError(`Job ${jobId} has no dubbing`);
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
 * Returns the tempo factor that makes the speech last as long as the video. Returns undefined if the factor is out of
 * range (docs/api/lip-sync.md).
 */
export function tempoToFit(speechSeconds: number, videoSeconds: number): number | undefined {
  const tempo = speechSeconds / videoSeconds;
  const { maximum, minimum } = DUBBING_TEMPO_RANGE;
  return tempo >= minimum && tempo <= maximum ? tempo : undefined;
}
