import { createHash } from 'node:crypto';
import type { RecordedRequest } from '../../fault-server/recorded-request.ts';
import { errorAnswer } from '../../fault-server/faults/status.ts';
import { audio } from '../../fault-server/faults/wrong-answer.ts';
import { CAPABILITIES_PATH, MODELS, SPEECH_PATH } from '../../fault-server/healthy-service.ts';
import { answer } from '../../fault-server/http-text.ts';
import type { Rule } from '../../fault-server/script.ts';
import type { Step } from '../../fault-server/steps.ts';
import { partOf } from '../../audio/join/parts.ts';
import { splitParts } from '../../../src/text/parts.ts';
import { JOBS_PATH } from '../../binary/jobs/job-fixture.ts';

type Format = 'mp3' | 'wav' | 'ogg';

const TYPES = { mp3: 'audio/mpeg', wav: 'audio/wav', ogg: 'audio/ogg' } as const;

/** The longest text of one request: the model takes no more. */
export const LIMIT = 1_000;
export const MODEL = MODELS[0].id;

/** The text of five parts, each of them other sentences. */
export const TEXT = Array.from(
  { length: 60 },
  (_, index) =>
    `Sentence number ${index} of this text says something about the weather and ${index}.`,
).join(' ');

export const PART_TEXTS = splitParts(TEXT, LIMIT).map((part) => part.text);

/** What the service answers for each part: sound whose length is that of no other part. */
export async function soundsOf(
  format: Format,
  kind: 'file' | 'stream',
): Promise<ReadonlyMap<string, Buffer>> {
  const sounds = PART_TEXTS.map(async (text, index) => {
    return [text, await partOf(format, 2_003 + 1_501 * ((index * 3) % 5), kind)] as const;
  });
  return new Map(await Promise.all(sounds));
}

/** What the service was asked for, and how it answers otherwise than well. */
export interface PartsServiceOptions {
  readonly format: Format;
  /** Of each part's text. */
  readonly sounds: ReadonlyMap<string, Buffer>;
  /** What a create of this part is answered with; undefined is well. `count` is from 1. */
  readonly onCreate?: (part: number, count: number) => readonly Step[] | undefined;
  /** The status of a job; `count` polls of it came, this one included. */
  readonly statusOf?: (part: number, count: number, key: string) => string;
  /** What a poll of this part's job is answered with; undefined is its status. `count` is from 1. */
  readonly onPoll?: (part: number, count: number) => readonly Step[] | undefined;
  /** Whether the service has forgotten the job of this key. */
  readonly isGone?: (part: number, key: string) => boolean;
  /** Steps before the audio of a job; `count` is from 1. */
  readonly beforeAudio?: (part: number, count: number) => readonly Step[];
  /** What the capability record says; by default each model takes {@link LIMIT}. */
  readonly models?: readonly object[];
  /** Steps before the audio of a stream. */
  readonly beforeStream?: (part: number) => readonly Step[];
}

export interface PartsService {
  readonly rules: readonly Rule[];
  /** Which part each create asked for, and under which key, in order of arrival. */
  readonly creates: { readonly part: number; readonly key: string }[];
  /** Jobs that were charged for: one for each key. */
  readonly charged: ReadonlyMap<string, number>;
}

/** A service that takes 1,000 characters at most and speaks jobs of one text each, once for each key. */
export function partsService(options: PartsServiceOptions): PartsService {
  const creates: { part: number; key: string }[] = [];
  const jobs = new Map<string, number>();
  const polls = new Map<number, number>();
  const downloads = new Map<number, number>();
  const create = (request: RecordedRequest): readonly Step[] => {
    const part = partIn(request);
    const key = request.header('idempotency-key') ?? '';
    creates.push({ part, key });
    const count = creates.filter((one) => one.part === part).length;
    const other = options.onCreate?.(part, count);
    if (other !== undefined) return other;
    jobs.set(key, part);
    return jobAnswer(202, part, key, 'pending');
  };
  const poll = (request: RecordedRequest): readonly Step[] => {
    const key = keyIn(request, jobs);
    const part = jobs.get(key);
    if (part === undefined || options.isGone?.(part, key) === true) {
      return errorAnswer(404, NO_JOB);
    }
    if (request.path.endsWith('/audio')) {
      downloads.set(part, (downloads.get(part) ?? 0) + 1);
      const before = options.beforeAudio?.(part, downloads.get(part) ?? 0) ?? [];
      return [...before, ...audio(soundOf(part, options))];
    }
    polls.set(part, (polls.get(part) ?? 0) + 1);
    const other = options.onPoll?.(part, polls.get(part) ?? 0);
    if (other !== undefined) return other;
    const status = options.statusOf?.(part, polls.get(part) ?? 0, key) ?? 'success';
    return jobAnswer(200, part, key, status);
  };
  const stream = (request: RecordedRequest): readonly Step[] => {
    const part = partIn(request);
    creates.push({ part, key: request.header('idempotency-key') ?? '' });
    const other = options.onCreate?.(part, creates.filter((one) => one.part === part).length);
    return other ?? [...(options.beforeStream?.(part) ?? []), ...audio(soundOf(part, options))];
  };
  const optional = true;
  return {
    creates,
    charged: jobs,
    rules: [
      {
        method: 'GET',
        path: CAPABILITIES_PATH,
        answer: () => capabilities(options.models),
        optional,
      },
      { method: 'POST', path: JOBS_PATH, answer: create, optional },
      { method: 'GET', path: new RegExp(`^${JOBS_PATH}/`), answer: poll, optional },
      { method: 'POST', path: SPEECH_PATH, answer: stream, optional },
    ],
  };
}

const NO_JOB = { code: 'ERR_JOB_NOT_FOUND', message: 'There is no such job.', requestId: 'r-0' };
const JSON_TYPE = { 'Content-Type': 'application/json' };

function capabilities(
  models: readonly object[] = MODELS.map((model) => ({ ...model, maxTextLength: LIMIT })),
): Step[] {
  return answer(
    200,
    JSON_TYPE,
    JSON.stringify({ contractVersion: '3.0', route: '/', models: models.map(withFormats) }),
  );
}

const withFormats = (model: object): object => ({
  ...model,
  outputFormats: ['mp3', 'wav', 'ogg'],
});

/** Returns the index of the part with the text of a request; -1 for another text. */
function partIn(request: RecordedRequest): number {
  const body: unknown = JSON.parse(request.body.toString());
  const text: unknown = Object(body).text;
  return PART_TEXTS.findIndex((one) => one === text);
}

function soundOf(part: number, { format, sounds }: PartsServiceOptions) {
  const headers = { 'X-OpenAPI-Credits-Used': '10', 'X-OpenAPI-Quota-Remaining': '90' };
  const bytes = sounds.get(PART_TEXTS[part] ?? '') ?? Buffer.alloc(0);
  return { type: TYPES[format], bytes, headers };
}

function idOf(key: string): string {
  return `job-${createHash('sha256').update(key).digest('hex').slice(0, 12)}`;
}

function keyIn(request: RecordedRequest, jobs: ReadonlyMap<string, number>): string {
  const id = request.path.split('/')[7];
  return Array.from(jobs.keys()).find((key) => idOf(key) === id) ?? '';
}

function jobAnswer(code: number, part: number, key: string, status: string): Step[] {
  return answer(
    code,
    { ...JSON_TYPE, 'Retry-After': '0' },
    JSON.stringify({
      task: { taskId: idOf(key), status, voiceId: 'v', modelId: 'm' },
      requestId: `r-${part}`,
      quotaRemaining: 100 - part,
      creditsUsed: 10,
      ignoredParameters: [],
    }),
  );
}
