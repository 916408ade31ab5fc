import { Failure } from '../errors/failure.ts';
import type { Answer } from './answer.ts';
import { badAnswer } from './answer.ts';
import { answeredUrl } from './answered-url.ts';
import { notEmpty } from './audio-answer.ts';
import type { ApiClient } from './client.ts';
import type { AskForFile } from './download.ts';
import { download } from './download.ts';
import type { FileAnswer } from './file-answer.ts';
import type { MediaJob } from './media-job.ts';
import { getMediaJob } from './media-jobs.ts';

/**
 * What a job made, from where it says that it is (spec sections 2.6, 2.7 and 2.10): with the key on the
 * service's own origin, without it elsewhere. It costs nothing, and can be had again.
 * @throws Failure: rejected for a job that has nothing yet, bad_answer for one that names no place
 */
export async function fetchMediaResult(
  client: ApiClient,
  job: MediaJob,
  signal?: AbortSignal,
): Promise<FileAnswer> {
  if (job.phase === 'running') throw notYet(job);
  const target = answeredUrl(client, job.resultUrl);
  if (target === undefined) {
    throw badAnswer(`job ${job.id} is ${job.status}, but names no place where its result is`, {
      requestId: job.requestId,
    });
  }
  return fetchFile(client, signal, async (headers, isAgain) => {
    const { resultUrl } = isAgain ? await getMediaJob(client, job.kind, job.id, { signal }) : job;
    const url = answeredUrl(client, resultUrl) ?? target;
    return client.send({ ...FILE_REQUEST, target: url, headers, signal });
  });
}

/**
 * A file of the service, or of where it stores files.
 * @throws Failure
 */
export async function fetchMediaFile(
  client: ApiClient,
  target: URL,
  signal?: AbortSignal,
): Promise<FileAnswer> {
  return fetchFile(client, signal, (headers) =>
    client.send({ ...FILE_REQUEST, target, headers, signal }),
  );
}

const FILE_REQUEST = {
  method: 'GET',
  accept: 'image/*, video/*, audio/*, application/octet-stream',
  billed: false,
  retry: 'safe',
} as const;

async function fetchFile(
  client: ApiClient,
  signal: AbortSignal | undefined,
  ask: AskForFile,
): Promise<FileAnswer> {
  return { ...fileAnswer(await download(client, ask, signal)), maxBytes: client.maxBytes };
}

function notYet({ id, kind, requestId, status }: MediaJob): Failure {
  return new Failure(`job ${id} has made nothing yet (its status is ${status})`, {
    code: 'ERR_MEDIA_NOT_FOUND',
    exit: 'rejected',
    hint: `\`foley ${kind} wait ${id} -o …\` waits for it.`,
    requestId,
  });
}

function fileAnswer(answer: Answer): FileAnswer {
  const { contentLength, framing, headers, requestId, status } = answer;
  if (status !== 200 || contentLength === 0) {
    answer.discard();
    throw badAnswer(`the answer (${status}) has no file in it`, answer);
  }
  return {
    body: { [Symbol.asyncIterator]: () => notEmpty(answer) },
    contentType: headers.get('content-type') ?? '',
    contentLength,
    pcm: undefined,
    framing,
    requestId,
    // What a download says of credits is not what the job cost.
    creditsUsed: undefined,
    discard: () => answer.discard(),
  };
}
