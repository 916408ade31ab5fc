import type { AudioResponse, SpeechOrder } from '../../api/resources/speech.ts';
import type { ApiClient } from '../../api/client.ts';
import { isNotFound } from '../../api/failures.ts';
import type { JobOptions, SpeechJob, JobApi } from '../../api/resources/jobs.ts';
import {
  createSpeechJob,
  speechJobRequest,
  fetchJobAudio,
  fetchSegmentAudio,
  getSpeechJob,
} from '../../api/resources/jobs.ts';
import { formatOfMediaType } from '../../audio/formats.ts';
import type { SniffedFormat } from '../../audio/sniff.ts';
import { SNIFF_BYTES_MAX, sniff } from '../../audio/sniff.ts';
import type { AudioFormat } from '../../contract/values.ts';
import { AUDIO_FORMATS } from '../../contract/values.ts';
import { Failure } from '../../errors/failure.ts';
import type { JobSource, MadeFile, Place } from './job-source.ts';
import type { JobRunOptions, PerformedJob } from './perform-job.ts';
import { performJob, goneFile } from './perform-job.ts';

/** What is ordered, where its audio goes, and who is told. */
export interface JobOrder extends JobRunOptions<SpeechJob> {
  readonly order: SpeechOrder & { readonly format: AudioFormat };
  readonly options: JobOptions;
  /** Where the audio goes once it is there; without it the job is left to itself. */
  readonly place: Place | undefined;
}

/** What became of an order. */
export type JobOutcome = PerformedJob<SpeechJob, AudioResponse>;

/**
 * Has a text spoken as a job and, where that is wanted, waits for it and saves its audio
 * (docs/billing.md).
 * @throws Failure when there is no job; or the reason of the signal
 */
export function speakAsJob(speech: JobOrder): Promise<JobOutcome> {
  const { client, options, order, place } = speech;
  return performJob({
    ...speech,
    what: 'speech',
    request: speechJobRequest(client, order, options),
    create: (onNewKey) => createSpeechJob(client, order, { ...options, onNewKey }),
    source: {
      ...speechSource(client, { api: options.api ?? 'v3' }),
      obtain: async (job, signal) => ({
        file: await obtainAudio(client, job, signal),
        format: order.format,
      }),
    },
    placeFor: place === undefined ? undefined : () => Promise.resolve(place),
    file: place?.output,
  });
}

interface SpeechSourceOptions {
  readonly api: JobApi;
  /** Only this segment, from 0, whatever becomes of the others. */
  readonly segment?: number | undefined;
}

/** Speech jobs, and their audio or that of one segment (docs/api/jobs.md#v3 and docs/api/jobs.md#v1). */
export function speechSource(
  client: ApiClient,
  { api, segment }: SpeechSourceOptions,
): JobSource<SpeechJob, AudioResponse> {
  return {
    isPart: segment !== undefined,
    get: (id, call) => getSpeechJob(client, { id, api }, call),
    obtain: async (job, signal) =>
      withFormat(await audioOf(client, job, { segment, signal }), job.format),
  };
}

/** Of a job that runs it is the service that says that there is no audio yet. */
function audioOf(
  client: ApiClient,
  job: SpeechJob,
  { segment, signal }: { segment: number | undefined; signal: AbortSignal | undefined },
): Promise<AudioResponse> {
  if (segment !== undefined) return fetchSegmentAudio(client, job, segment, signal);
  return job.phase === 'running'
    ? fetchJobAudio(client, job, signal)
    : obtainAudio(client, job, signal);
}

/**
 * The audio of a job that has ended with some.
 * @throws Failure, `lost` when the service does not have it
 */
async function obtainAudio(
  client: ApiClient,
  job: SpeechJob,
  signal: AbortSignal | undefined,
): Promise<AudioResponse> {
  try {
    return await fetchJobAudio(client, job, signal);
  } catch (error) {
    throw isNotFound(error) ? goneFile(error, job, 'audio') : error;
  }
}

/**
 * What audio is, by what was told of it, by its media type, or else by its first bytes.
 * @throws Failure (bad_answer) for what no speech comes as
 */
export async function withFormat(
  audio: AudioResponse,
  told: AudioFormat | undefined,
): Promise<MadeFile<AudioResponse> & { readonly format: AudioFormat }> {
  const named = told ?? audioFormat(formatOfMediaType(audio.contentType));
  if (named !== undefined) return { file: audio, format: named };
  const { body, sniffed } = await sniffBody(audio.body);
  const format = audioFormat(sniffed);
  if (format !== undefined) return { file: { ...audio, body }, format };
  audio.discard();
  throw new Failure(`the audio is ${audio.contentType}, which speech does not come as`, {
    code: 'bad_answer',
    exit: 'badAnswer',
    hint: 'If it happens again, ask the service, with the request id.',
    requestId: audio.requestId,
    billed: 'yes',
  });
}

function audioFormat(format: string | undefined): AudioFormat | undefined {
  return AUDIO_FORMATS.find((known) => known === format);
}

/** A body of which it was found out what it is, and the whole body again. */
interface SniffedBody {
  /** Undefined for what is none of the known kinds. */
  readonly sniffed: SniffedFormat | undefined;
  readonly body: AsyncIterable<Uint8Array>;
}

/** What a body is, by its first bytes; no more of it is read than that takes. */
export async function sniffBody(body: AsyncIterable<Uint8Array>): Promise<SniffedBody> {
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
