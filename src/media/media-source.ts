import type { FileResponse } from '../api/resources/speech.ts';
import type { ApiClient } from '../api/client.ts';
import type { MediaJob } from '../api/resources/media.ts';
import { getMediaJob, fetchMediaResult } from '../api/resources/media.ts';
import type { MediaJobKind } from '../api/resources/models.ts';
import type { Format } from '../audio/formats.ts';
import { FORMATS, formatNamed, formatOfMediaType, isOpaqueMediaType } from '../audio/formats.ts';
import { Failure } from '../errors/failure.ts';
import type { JobSource, JobResultFile } from '../paid/job.ts';
import { sniffBody } from '../paid/speakers/speech-job.ts';

/** Returns functions that poll a media job and download its result. The format is detected from the content. */
export function mediaSource(client: ApiClient, kind: MediaJobKind): JobSource<MediaJob> {
  return {
    result: resultKindOf(kind),
    get: (id, call) => getMediaJob(client, kind, id, call),
    obtain: async (job, signal) => withFormat(await fetchMediaResult(client, job, signal), kind),
  };
}

/** Returns whether media jobs of this kind create an image or a video. */
export function resultKindOf(kind: MediaJobKind): 'image' | 'video' {
  return kind === 'image' ? 'image' : 'video';
}

async function withFormat(file: FileResponse, kind: MediaJobKind): Promise<JobResultFile> {
  const wanted = resultKindOf(kind);
  const named = formatOfMediaType(file.contentType);
  const essence = file.contentType.split('/', 1)[0]?.toLowerCase();
  const mayBe = essence === wanted || isOpaqueMediaType(file.contentType) || isOf(named, wanted);
  if (!mayBe) throw unusable(file, file.contentType, wanted);
  const { body, sniffed } = await sniffBody(file.body);
  const format = formatNamed(sniffed ?? '');
  if (format !== undefined && isOf(format, wanted)) return { file: { ...file, body }, format };
  throw unusable(file, sniffed ?? 'of an unknown format', wanted);
}

function isOf(format: Format | undefined, wanted: 'image' | 'video'): boolean {
  return format !== undefined && FORMATS[format].kind === wanted;
}

function unusable(file: FileResponse, receivedType: string, wanted: string): Failure {
  file.discard();
  const expected = wanted === 'image' ? 'an image' : 'a video';
  return new Failure(`the file from the service is ${receivedType}, not ${expected}`, {
    code: 'bad_answer',
    exit: 'badAnswer',
    hint: 'If this error happens again, report the request id to the service.',
    requestId: file.requestId,
    billed: 'yes',
  });
}
