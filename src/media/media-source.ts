import type { FileAnswer } from '../api/audio-response.ts';
import type { ApiClient } from '../api/client.ts';
import { isNotFound } from '../api/failures.ts';
import type { MediaJob } from '../api/resources/media.ts';
import { getMediaJob, fetchMediaResult } from '../api/resources/media.ts';
import type { MediaJobKind } from '../api/resources/models.ts';
import type { Format } from '../audio/formats.ts';
import { FORMATS, formatOfMediaType, isOpaqueMediaType } from '../audio/formats.ts';
import { Failure } from '../errors/failure.ts';
import type { JobSource, MadeFile } from '../speech/jobs/job-source.ts';
import { goneFile } from '../speech/jobs/perform-job.ts';
import { sniffBody } from '../speech/jobs/speech-job.ts';

/** Jobs of one kind, and what they make: a picture or a video, told by its content. */
export function mediaSource(client: ApiClient, kind: MediaJobKind): JobSource<MediaJob> {
  return {
    get: (id, call) => getMediaJob(client, kind, id, call),
    obtain: async (job, signal) => withFormat(await resultOf(client, job, signal), kind),
  };
}

/** What jobs of a kind make. */
export function makesOf(kind: MediaJobKind): 'image' | 'video' {
  return kind === 'image' ? 'image' : 'video';
}

async function resultOf(
  client: ApiClient,
  job: MediaJob,
  signal: AbortSignal | undefined,
): Promise<FileAnswer> {
  try {
    return await fetchMediaResult(client, job, signal);
  } catch (error) {
    throw isNotFound(error) ? goneFile(error, job, makesOf(job.kind)) : error;
  }
}

/** By its first bytes; a type that promises something else is refused before they are looked at. */
async function withFormat(file: FileAnswer, kind: MediaJobKind): Promise<MadeFile> {
  const wanted = makesOf(kind);
  const named = formatOfMediaType(file.contentType);
  const essence = file.contentType.split('/', 1)[0]?.toLowerCase();
  const mayBe = essence === wanted || isOpaqueMediaType(file.contentType) || isOf(named, wanted);
  if (!mayBe) throw unusable(file, `the answer is ${file.contentType}`, wanted);
  const { body, sniffed } = await sniffBody(file.body);
  const format = FORMAT_NAMES.find((name) => name === sniffed);
  if (format !== undefined && isOf(format, wanted)) return { file: { ...file, body }, format };
  throw unusable(file, `the file is ${sniffed ?? 'of no known kind'}`, wanted);
}

const FORMAT_NAMES = Object.keys(FORMATS).filter((name): name is Format => name in FORMATS);

function isOf(format: Format | undefined, wanted: 'image' | 'video'): boolean {
  return format !== undefined && FORMATS[format].kind === wanted;
}

function unusable(file: FileAnswer, what: string, wanted: string): Failure {
  file.discard();
  return new Failure(`${what}, and not ${wanted === 'image' ? 'an image' : 'a video'}`, {
    code: 'bad_answer',
    exit: 'badAnswer',
    hint: 'If it happens again, ask the service, with the request id.',
    requestId: file.requestId,
    billed: 'yes',
  });
}
