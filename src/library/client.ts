import { version } from '../../package.json';
import { createApiClient } from '../api/client.ts';
import type { PollPace } from '../api/poll.ts';
import { checkApiKey } from '../api/request.ts';
import { listSpeechJobs, pollPace } from '../api/resources/jobs.ts';
import { mediaPace } from '../api/resources/media.ts';
import { MEDIA_JOB_KINDS } from '../api/resources/models.ts';
import { deleteVoice, getVoice, listVoices } from '../api/resources/voices.ts';
import { parseBaseUrl, parseRealtimeUrl, withWebSocket } from '../config/target.ts';
import { PAGE_SIZE_MAX } from '../contract/limits.ts';
import { VOICE_VISIBILITIES } from '../contract/reference-audio.ts';
import { Failure } from '../errors/failure.ts';
import { mediaSource } from '../media/media-source.ts';
import { orderMedia } from '../media/order-media.ts';
import type { JobSource, WaitedJob } from '../paid/job.ts';
import { failedJob, fetchResult } from '../paid/job.ts';
import { speakAsJob, speechSource } from '../paid/speakers/speech-job.ts';
import { cloneVoice } from '../voices/create.ts';
import { checkRecordings } from '../voices/recordings.ts';
import type { Rules } from './call.ts';
import { checkOptions, checkValue, publicError } from './call.ts';
import type {
  BilledOptions,
  CallOptions,
  Client,
  ClientOptions,
  CreatedVoice,
  DownloadedFile,
  DownloadOptions,
  Job,
  JobQuery,
  JobRequest,
  MediaBody,
  MediaKind,
  VoiceQuery,
  VoiceRequest,
  WaitOptions,
} from './client-types.ts';
import type { ClientSession } from './session.ts';
import { joinFile, runBilled, runFree } from './session.ts';
import {
  BILLED_RULES,
  createSpeech,
  JOB_RULES,
  speakAligned,
  speakLive,
  speechPlan,
} from './client-speech.ts';
import { system } from '../system/system.ts';

export type * from './client-types.ts';
export { FoleyError } from './foley-error.ts';

const DEFAULT_MAX_RETRIES = 4;

/**
 * Creates a client of the API. The client reads no environment variables and no foley configuration, and uses no proxy.
 * @throws {FoleyError} with exit code 2 for an invalid option, or 4 for an invalid API key
 */
export function createClient(options: ClientOptions): Client {
  try {
    return clientOf(openSession(options));
  } catch (error) {
    throw publicError(error);
  }
}

const TEXT = { type: 'string', minLength: 1 } as const;
const REQUIRED = { ...TEXT, isRequired: true } as const;
const COUNT = { type: 'number', isInteger: true, minimum: 1 } as const;
const MS = { type: 'number', minimum: 1 } as const;
const FUNCTION = { type: 'function' } as const;
const SIGNAL = { signal: { type: 'signal' } } as const;

const CLIENT_RULES: Rules = {
  baseUrl: REQUIRED,
  realtimeUrl: TEXT,
  apiKey: { type: 'string', isRequired: true },
  journal: TEXT,
  maxRetries: { ...COUNT, minimum: 0 },
  responseTimeoutMs: MS,
  idleTimeoutMs: MS,
  // Ignored. They allow callers to pass the result of `startService` as options.
  requests: FUNCTION,
  setFaults: FUNCTION,
  close: FUNCTION,
};

function openSession(options: ClientOptions): ClientSession {
  checkOptions('createClient', options, CLIENT_RULES);
  const { idleTimeoutMs, maxRetries = DEFAULT_MAX_RETRIES, responseTimeoutMs } = options;
  const { clock, random } = system;
  const baseUrl = parseBaseUrl({ source: 'baseUrl', value: options.baseUrl });
  const realtimeUrl =
    options.realtimeUrl === undefined
      ? withWebSocket(baseUrl)
      : parseRealtimeUrl({ source: 'realtimeUrl', value: options.realtimeUrl });
  const apiKey = checkApiKey(options.apiKey, 'apiKey');
  const api = createApiClient({
    address: { kind: 'hosted', baseUrl, realtimeUrl, apiKey },
    clock,
    random,
    version,
    env: {},
    limits: { maxRetries, idleTimeoutMs, responseTimeoutMs },
  });
  // An unused prepared connection would keep the process running after the last call.
  const closing = new AbortController();
  const close = (): Promise<void> => {
    closing.abort(
      new Failure('the client was closed; the service may have processed and billed the request', {
        code: 'unknown_outcome',
        exit: 'unknownOutcome',
        billed: 'unknown',
      }),
    );
    return api.close();
  };
  return { api: { ...api, close, prepare: () => undefined }, options, closed: closing.signal };
}

function clientOf(session: ClientSession): Client {
  const { api } = session;
  const speechJobs = jobCalls(
    'jobs',
    (segment) => speechSource(api, { api: 'v3', segment }),
    pollPace(api, 'v3'),
  );
  const mediaJobs = (name: string, kind: MediaKind) => {
    checkValue(`media.${name}: kind`, kind, {
      type: 'string',
      isRequired: true,
      values: MEDIA_JOB_KINDS,
    });
    return jobCalls('media', () => mediaSource(api, kind), mediaPace());
  };
  return {
    speech: {
      create: (request) => createSpeech(session, request),
      aligned: (request) => speakAligned(session, request),
      live: (request) => speakLive(session, request),
    },
    jobs: {
      ...speechJobs,
      create: (request) => createJob(session, request),
      list: (query = {}) => runFree(() => listJobs(session, query)),
    },
    voices: {
      list: (query = {}) => runFree(() => listVoicePage(session, query)),
      get: (id, options = {}) =>
        runFree(async () => {
          checkCall('voices.get', id, options);
          return (await getVoice(api, id, options.signal)).value;
        }),
      create: (request) => createVoice(session, request),
      delete: (id, options = {}) =>
        runFree(async () => {
          checkCall('voices.delete', id, options);
          await deleteVoice(api, id, options.signal);
        }),
    },
    media: {
      create: (kind, body, options = {}) => createMedia(session, kind, body, options),
      get: (kind, id, options) => runFree(async () => mediaJobs('get', kind).get(id, options)),
      wait: (kind, id, options) => runFree(async () => mediaJobs('wait', kind).wait(id, options)),
      download: (kind, id, options) =>
        runFree(async () => mediaJobs('download', kind).download(id, options)),
    },
    close: () => api.close(),
  };
}

function checkCall(call: string, id: string, options: object, rules: Rules = SIGNAL): void {
  checkValue(`${call}: the id`, id, REQUIRED);
  checkOptions(call, options, rules);
}

// `noun` is the name of the calls in messages.
function jobCalls<
  State extends WaitedJob & { readonly quotaRemaining: number | undefined; readonly raw: unknown },
>(noun: string, sourceOf: (segment?: number) => JobSource<State>, pace: PollPace) {
  const source = sourceOf();
  return {
    get: (id: string, options: CallOptions = {}): Promise<Job> =>
      runFree(async () => {
        checkCall(`${noun}.get`, id, options);
        return jobOf(await source.get(id, options));
      }),
    wait: (id: string, options: WaitOptions = {}): Promise<Job> =>
      runFree(async () => {
        checkCall(`${noun}.wait`, id, options, { ...SIGNAL, timeoutMs: { ...MS, minimum: 0 } });
        const { signal, timeoutMs } = options;
        const { clock, random } = system;
        const deadlineAt = timeoutMs === undefined ? undefined : clock.monotonic() + timeoutMs;
        const polling = { clock, random, pace, deadlineAt };
        const fetch = { source, polling, signal, placeFor: undefined };
        const { job } = await fetchResult({ id }, fetch);
        if (job.phase === 'failed') throw failedJob(job);
        return jobOf(job);
      }),
    download: (id: string, options: DownloadOptions = {}): Promise<DownloadedFile> =>
      runFree(async () => {
        checkCall(`${noun}.download`, id, options, {
          ...SIGNAL,
          segment: { ...COUNT, minimum: 0 },
        });
        return download(sourceOf(options.segment), id, options.signal);
      }),
  };
}

async function download<State extends WaitedJob>(
  source: JobSource<State>,
  id: string,
  signal: AbortSignal | undefined,
): Promise<DownloadedFile> {
  const chunks: Uint8Array[] = [];
  const stream = {
    write: async (chunk: Uint8Array) => void chunks.push(chunk),
    end: () => Promise.resolve(),
  };
  const placeFor = () => Promise.resolve({ stream });
  const fetch = { source, polling: undefined, signal, placeFor };
  const { job, saved } = await fetchResult({ id }, fetch);
  if (saved === undefined) throw failedJob(job);
  const { corrections, durationMs, format } = saved.verdict;
  return { data: joinFile(chunks, corrections), format, durationMs };
}

function jobOf({ creditsUsed, id, phase, quotaRemaining, raw, requestId, status }: Job): Job {
  return { id, status, phase, requestId, creditsUsed, quotaRemaining, raw };
}

function creation(session: ClientSession, pace: PollPace) {
  return {
    client: session.api,
    waits: false,
    polling: { clock: system.clock, random: system.random, pace },
    onCreated: () => Promise.resolve(),
    resume: () => '',
  };
}

function createJob(session: ClientSession, request: JobRequest): Promise<Job> {
  return runBilled(session, async (tools) => {
    checkOptions('jobs.create', request, JOB_RULES);
    const { body: order, speech: options } = speechPlan(request);
    const { job } = await speakAsJob({
      ...tools,
      ...creation(session, pollPace(session.api, 'v3')),
      order,
      options,
      place: undefined,
    });
    return jobOf(job);
  });
}

function createMedia(
  session: ClientSession,
  kind: MediaKind,
  order: MediaBody,
  options: BilledOptions,
): Promise<Job> {
  return runBilled(session, async (tools) => {
    checkValue('media.create: kind', kind, {
      type: 'string',
      isRequired: true,
      values: MEDIA_JOB_KINDS,
    });
    checkValue('media.create: the body', order, { type: 'object', isRequired: true });
    checkOptions('media.create', options, BILLED_RULES);
    const { idempotencyKey, requestId, signal = new AbortController().signal } = options;
    const madeByTool = idempotencyKey === undefined;
    // Lip sync does not recognize repeated keys.
    const hasKey = !madeByTool || kind !== 'lipsync';
    const key = hasKey ? { value: idempotencyKey ?? system.random.uuid(), madeByTool } : undefined;
    const { job } = await orderMedia({
      ...tools,
      ...creation(session, mediaPace()),
      kind,
      order,
      options: { idempotencyKey: key, requestId, signal },
      placeFor: undefined,
      file: undefined,
      continueCommand: undefined,
    });
    return jobOf(job);
  });
}

async function listJobs({ api }: ClientSession, query: JobQuery) {
  const size = { ...COUNT, maximum: PAGE_SIZE_MAX };
  checkOptions('jobs.list', query, { page: COUNT, limit: size, status: TEXT, ...SIGNAL });
  const { signal, ...filters } = query;
  return (await listSpeechJobs(api, 'v3', filters, signal)).value;
}

async function listVoicePage({ api }: ClientSession, query: VoiceQuery) {
  const size = { ...COUNT, maximum: PAGE_SIZE_MAX };
  const includePersonal = { type: 'boolean' } as const;
  checkOptions('voices.list', query, { page: COUNT, pageSize: size, includePersonal, ...SIGNAL });
  return (await listVoices(api, query)).value;
}

const VOICE_RULES: Rules = {
  name: REQUIRED,
  files: { type: 'array', minLength: 1, isRequired: true },
  description: TEXT,
  referenceText: TEXT,
  visibility: { type: 'string', values: VOICE_VISIBILITIES },
  languages: { type: 'array' },
  ...SIGNAL,
};

function createVoice(session: ClientSession, request: VoiceRequest): Promise<CreatedVoice> {
  return runBilled(session, async (tools) => {
    checkOptions('voices.create', request, VOICE_RULES);
    const { files, signal, ...form } = request;
    const audioFiles = await checkRecordings(files, system.files, signal);
    return cloneVoice({
      ...tools,
      client: session.api,
      form: { ...form, audioFiles },
      boundary: `foley-${system.random.uuid()}`,
      options: { signal },
      onSent: () => undefined,
    });
  });
}
