import type { ApiClient } from '../../api/client.ts';
import { isNotFound } from '../../api/failures.ts';
import type { JobApi, JobOptions, SpeechJob } from '../../api/resources/jobs.ts';
import {
  fetchJobAudio,
  fetchSegmentAudio,
  getSpeechJob,
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
} from '../job.ts';
import { missingResult, performJob } from '../job.ts';
import type { ReuseStore } from '../reuse/reuse-store.ts';

export interface JobOrder extends JobRunOptions<SpeechJob> {
  readonly order: SpeechOrder & { readonly format: AudioFormat };
  readonly options: JobOptions;
  /** Destination of the audio; if undefined, the audio stays on the service. */
  readonly place: ResultDestination | undefined;
  /** Where the audio is stored for later commands (`--reuse`). */
  readonly reuse?: ReuseStore | undefined;
}

export function speakAsJob(speech: JobOrder): Promise<PerformedJob<SpeechJob>> {
  const { client, options, order, place, reuse } = speech;
  const { api = 'v3' } = options;
  return performJob({
    ...speech,
    what: 'speech',
    request: speechJobRequest(client, order, options),
    create: (request) => sendSpeechJob(client, api, request),
    source: {
      ...speechSource(client, { api }),
      async obtain(job, signal) {
        const file = await obtainAudio(client, job, signal);
        const isWhole = job.phase !== 'partial';
        const copy = isWhole ? reuse?.copyOf({ surface: api, order }, file, job) : undefined;
        return { file, format: order.format, copy };
      },
    },
    placeFor: place === undefined ? undefined : () => Promise.resolve(place),
    file: place?.output,
  });
}

/**
 * Returns functions that query speech jobs and download their audio (docs/api/jobs.md#v3 and docs/api/jobs.md#v1).
 * @param options `segment` selects one segment by number, from 0
 */
export function speechSource(
  client: ApiClient,
  { api, segment }: { readonly api: JobApi; readonly segment?: number | undefined },
): JobSource<SpeechJob> {
  return {
    isPart: segment !== undefined,
    get: (id, call) => getSpeechJob(client, { id, api }, call),
    obtain: async (job, signal) => {
      const audio =
        segment === undefined
          ? await obtainAudio(client, job, signal)
          : await fetchSegmentAudio(client, job, segment, signal);
      return withFormat(audio, job.format);
    },
  };
}

async function obtainAudio(
  client: ApiClient,
  job: SpeechJob,
  signal: AbortSignal | undefined,
): Promise<AudioResponse> {
  try {
    return await fetchJobAudio(client, job, signal);
  } catch (error) {
    // A running job has no audio yet.
    const isMissing = isNotFound(error) && job.phase !== 'running';
    throw isMissing ? missingResult(error, job, 'audio') : error;
  }
}

interface SpeechDownload {
  readonly maxRetries: number;
  readonly signal: AbortSignal | undefined;
  /** Called before audio that was cut off is downloaded again. */
  readonly onCut?: ((failure: Failure) => void) | undefined;
}

const MAX_RETRIES = 4;

/**
 * Downloads the audio of a job, and downloads it again if it was cut off: the job is paid for, and a download is free.
 * The client has already retried a download without a response.
 * @param save writes and verifies the audio
 * @throws the error of the last download, or the abort reason of the signal
 */
export async function downloadSpeech<Saved>(
  client: ApiClient,
  job: Pick<SpeechJob, 'api' | 'id'>,
  save: (audio: AudioResponse) => Promise<Saved>,
  { maxRetries, onCut, signal }: SpeechDownload,
): Promise<Saved> {
  for (let retries = 0; ; retries += 1) {
    try {
      return await save(await fetchJobAudio(client, job, signal));
    } catch (error) {
      signal?.throwIfAborted();
      const isCut = error instanceof Failure && error.exit === 'badAnswer';
      if (!isCut || retries >= Math.min(maxRetries, MAX_RETRIES)) throw error;
      onCut?.(error);
    }
  }
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
