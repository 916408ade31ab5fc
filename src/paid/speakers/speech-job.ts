import type { ApiClient } from '../../api/client.ts';
import type { PollDeps } from '../../api/poll.ts';
import type { JobApi, JobOptions, SpeechJob } from '../../api/resources/jobs.ts';
import {
  createSpeechJob,
  fetchJobAudio,
  fetchSegmentAudio,
  getSpeechJob,
  pollPace,
  sendSpeechJob,
  speechJobRequest,
} from '../../api/resources/jobs.ts';
import type { AudioResponse, SpeechOrder } from '../../api/resources/speech.ts';
import { formatOfMediaType } from '../../audio/formats.ts';
import type { SniffedFormat } from '../../audio/sniff.ts';
import { sniff, SNIFF_BYTES_MAX } from '../../audio/sniff.ts';
import type { AudioFormat } from '../../contract/values.ts';
import { AUDIO_FORMATS } from '../../contract/values.ts';
import { Failure } from '../../errors/failure.ts';
import type {
  JobRunOptions,
  JobSource,
  JobResultFile,
  PerformedJob,
  ResultDestination,
  ResultFetch,
} from '../job.ts';
import { failedJob, fetchResult, performJob } from '../job.ts';
import type { PurchaseMetadata } from '../purchase.ts';
import type { ReuseStore } from '../reuse/reuse-store.ts';

export interface JobOrder extends JobRunOptions<SpeechJob> {
  readonly order: SpeechOrder & { readonly format: AudioFormat };
  readonly options: JobOptions;
  /** Destination of the audio; if undefined, the audio stays on the service. */
  readonly place: ResultDestination | undefined;
  /** Where the audio is stored for later commands (`--reuse`). */
  readonly reuse?: ReuseStore | undefined;
}

/** Buys a speech job for a command that makes one job, and records it in the journal of billed requests. */
export function speakAsJob(speech: JobOrder): Promise<PerformedJob<SpeechJob>> {
  const { client, options, order, place, reuse } = speech;
  const { api = 'v3' } = options;
  return performJob({
    ...speech,
    what: 'speech',
    request: speechJobRequest(client, order, options),
    create: (request) => sendSpeechJob(client, api, request),
    source: speechSource(client, { api, format: order.format, order, reuse }),
    placeFor: place === undefined ? undefined : () => Promise.resolve(place),
    file: place?.output,
  });
}

/** A job that speaks a part of a long text or an item of a batch. Its purchase is recorded by the caller. */
export interface JobPurchase extends Omit<
  ResultFetch<SpeechJob>,
  'onState' | 'polling' | 'signal' | 'source'
> {
  readonly client: ApiClient;
  readonly order: SpeechOrder;
  readonly format: AudioFormat;
  readonly options: JobOptions;
  readonly polling: Omit<PollDeps<SpeechJob>, 'pace' | 'signal'>;
  readonly reuse: ReuseStore | undefined;
  /** What is recorded about the purchase. If it has the id of a job, no job is created. */
  readonly recorded: PurchaseMetadata;
  /** Records a created job. */
  readonly onCreated: (job: SpeechJob) => Promise<void>;
}

/**
 * Buys a speech job, or continues with the recorded one, and saves its audio.
 * @throws Failure, also if the job failed; on abort, the abort reason of the signal
 */
export async function buyJob(purchase: JobPurchase) {
  const { client, format, options, order, polling, recorded, reuse } = purchase;
  const { api = 'v3', signal } = options;
  const { jobId } = recorded;
  const known = jobId === undefined ? await createSpeechJob(client, order, options) : undefined;
  if (known !== undefined) await purchase.onCreated(known);
  const { job, saved } = await fetchResult(
    { id: known?.id ?? jobId ?? '', known, recorded: known ?? recorded },
    {
      ...purchase,
      source: speechSource(client, { api, format, order, reuse }),
      polling: { ...polling, pace: pollPace(client, api) },
      signal,
    },
  );
  if (saved === undefined) throw failedJob(job);
  return { job, saved };
}

interface SpeechSourceOptions {
  readonly api: JobApi;
  /** Selects one segment by number, from 0. */
  readonly segment?: number | undefined;
  /** The format of the audio; by default, the one that the service reports or that the audio shows. */
  readonly format?: AudioFormat | undefined;
  /** The request that created the job; undefined if unknown. */
  readonly order?: SpeechOrder | undefined;
  /** Where the audio of the order is stored for later commands (`--reuse`). */
  readonly reuse?: ReuseStore | undefined;
}

/** Returns functions that query speech jobs and download their audio (docs/api/jobs.md#v3 and docs/api/jobs.md#v1). */
export function speechSource(
  client: ApiClient,
  { api, format, order, reuse, segment }: SpeechSourceOptions,
): JobSource<SpeechJob> {
  return {
    result: 'audio',
    isPart: segment !== undefined,
    get: (id, call) => getSpeechJob(client, { id, api }, call),
    obtain: async (job, signal) => {
      const audio =
        segment === undefined
          ? await fetchJobAudio(client, job, signal)
          : await fetchSegmentAudio(client, job, segment, signal);
      const isWhole = job.phase !== 'partial';
      return {
        ...(await withFormat(audio, format ?? job.format)),
        text: order?.text,
        copy: order && isWhole ? reuse?.copyOf({ surface: api, order }, audio, job) : undefined,
      };
    },
  };
}

/**
 * Determines the format of audio: `known`, if given; otherwise from the media type or the first bytes.
 * @throws Failure of kind `bad_answer` if the audio has none of the speech formats
 */
export async function withFormat(
  audio: AudioResponse,
  known: AudioFormat | undefined,
): Promise<JobResultFile> {
  const named = known ?? audioFormat(formatOfMediaType(audio.contentType));
  if (named !== undefined) return { file: audio, format: named };
  const { body, sniffed } = await sniffBody(audio.body);
  const format = audioFormat(sniffed);
  if (format !== undefined) return { file: { ...audio, body }, format };
  audio.discard();
  throw new Failure(`the audio is ${audio.contentType}, which is not a speech format`, {
    code: 'bad_answer',
    exit: 'badAnswer',
    hint: 'If this error happens again, report the request id to the service.',
    requestId: audio.requestId,
    billed: 'yes',
  });
}

function audioFormat(format: string | undefined): AudioFormat | undefined {
  return AUDIO_FORMATS.find((known) => known === format);
}

/**
 * Detects the format of a file from its first bytes; undefined if unknown. The returned `body` still contains these
 * bytes.
 */
export async function sniffBody(body: AsyncIterable<Uint8Array>): Promise<{
  readonly sniffed: SniffedFormat | undefined;
  readonly body: AsyncIterable<Uint8Array>;
}> {
  const rest = body[Symbol.asyncIterator]();
  let leading = new Uint8Array();
  let found = sniff(leading);
  while (found.kind === 'more' && leading.length < SNIFF_BYTES_MAX) {
    const next = await rest.next();
    if (next.done === true) break;
    leading = new Uint8Array(Buffer.concat([leading, next.value]));
    found = sniff(leading);
  }
  return {
    sniffed: found.kind === 'known' ? found.format : undefined,
    body: {
      async *[Symbol.asyncIterator]() {
        if (leading.length > 0) yield leading;
        yield* { [Symbol.asyncIterator]: () => rest };
      },
    },
  };
}
