import { Type } from 'typebox';
import { Check } from 'typebox/schema';
import { HEADERS } from '../../contract/headers.ts';
import type { ImageJob, VideoJob } from '../../contract/schemas/picture-job.ts';
import type { MediaJob } from '../media/jobs/media-job-records.ts';
import { hasEnded } from '../media/jobs/lifecycle.ts';
import { titleOf } from '../media/pictures/lettering/title.ts';
import type { StoredImage, StoredVideo } from '../media/pictures/picture-works.ts';

/** How far the job of a picture is. */
export type PictureState = Pick<
  MediaJob,
  'id' | 'status' | 'progress' | 'credits' | 'finishedAt' | 'error'
>;

/** What is told of an image. @param resultUrl where it is, once it is */
export function imageData(
  stored: StoredImage,
  state: PictureState,
  resultUrl: string | undefined,
): ImageJob['data'] {
  const { aspect_ratio, resolution, output_format } = stored;
  return { ...taskData(stored, state, resultUrl), aspect_ratio, resolution, output_format };
}

/** What is told of a video. @param resultUrl where it is, once it is */
export function videoData(
  stored: StoredVideo,
  state: PictureState,
  resultUrl: string | undefined,
): VideoJob['data'] {
  const { size, seconds } = stored;
  return { ...taskData(stored, state, resultUrl), size, seconds };
}

function taskData(
  { createdAt, model, seed, width, height, references, prompt }: StoredImage | StoredVideo,
  { id, status, progress, credits, finishedAt, error }: PictureState,
  resultUrl: string | undefined,
) {
  return {
    id,
    task_id: id,
    status,
    progress,
    model,
    seed,
    width,
    height,
    reference_count: references.length,
    credits_used: credits,
    created_at: new Date(createdAt).toISOString(),
    finished_at: finishedAt === undefined ? null : new Date(finishedAt).toISOString(),
    result_url: resultUrl ?? null,
    error: error === undefined ? null : { ...error },
    notices: noticesOf(prompt),
  };
}

const SANDBOX_NOTICE =
  'Sandbox rendering: drawn from the words of the prompt, made by no image or video model';

/** What the picture is not, and what of the prompt cannot be written on it. */
function noticesOf(prompt: string): string[] {
  const { lacking } = titleOf(prompt);
  if (lacking === 0) return [SANDBOX_NOTICE];
  const some = lacking === 1 ? '1 character' : `${lacking} characters`;
  return [SANDBOX_NOTICE, `The title leaves out ${some} of the prompt that its font does not have`];
}

const MESSAGES: Readonly<Record<PictureState['status'], string>> = {
  pending: 'The job was accepted',
  processing: 'The job is worked on',
  completed: 'The job is done',
  failed: 'The job failed and was refunded',
};

/** The status in a sentence. */
export function messageOf({ status }: Pick<PictureState, 'status'>): string {
  return MESSAGES[status];
}

/** When to ask again, in seconds; nothing for what has ended. */
export function pollHeaders(
  { status }: Pick<PictureState, 'status'>,
  kind: 'image' | 'video',
): Record<string, string> {
  return hasEnded(status) ? {} : { 'Retry-After': kind === 'image' ? '1' : '2' };
}

/** What the headers of a create are taken from. */
const Created = Type.Object({
  quotaRemaining: Type.Integer(),
  data: Type.Object({ credits_used: Type.Integer() }),
});

/**
 * The answer of a create, as it was when the job was accepted, also when that was before; with headers
 * as jobs of speech have them.
 */
export function createdAnswer(
  { id, answer }: Pick<MediaJob, 'id' | 'answer'>,
  location: string,
  kind: 'image' | 'video',
): Response {
  if (!Check(Created, answer)) throw new TypeError(`the answer of job ${id} cannot be read`);
  const headers = {
    Location: location,
    ...pollHeaders({ status: 'pending' }, kind),
    [HEADERS.quotaRemaining]: String(answer.quotaRemaining),
    [HEADERS.creditsUsed]: String(answer.data.credits_used),
  };
  return Response.json(answer, { status: 202, headers });
}
