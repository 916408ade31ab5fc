/**
 * The fields that the API names for each response, written from the API's own page and not from the contract of the
 * program under test. Where the page says that a shape is not shown, the least with which a client can work is here.
 */

/** `true`: a value as it is; a list: items of that shape; an object: these fields, and no others. */
export type Shape = true | readonly [Shape] | { readonly [field: string]: Shape };

interface ResponseShape {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: RegExp;
  readonly shape: Shape;
  /** Moves fields of the body before they are pruned. */
  readonly arrange?: (body: Fields) => Fields;
}

export type Fields = Readonly<Record<string, unknown>>;

/** Returns the JSON object in a value; an empty one for anything else. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

const MODEL: Shape = {
  id: true,
  available: true,
  maxTextLength: true,
  outputFormats: true,
  controls: true,
  supportedOperations: true,
};

const VOICE: Shape = {
  voiceId: true,
  name: true,
  isPersonal: true,
  primaryLanguage: true,
  languages: true,
  modelIds: true,
};

const PAGE = { total: true, page: true, pageSize: true, totalPages: true } as const;
const BILLING = { requestId: true, quotaRemaining: true, creditsUsed: true } as const;

const VOICE_V1: Shape = {
  voiceId: true,
  title: true,
  description: true,
  created_at: true,
  updated_at: true,
  isPersonal: true,
  id: true,
  name: true,
  provider: true,
};

const TASK_V1: Shape = {
  task: {
    id: true,
    taskId: true,
    status: true,
    audioUrl: true,
    delivery: { playbackUrl: true, downloadUrl: true, downloadReady: true },
    segments: [{ playbackUrl: true }],
  },
  record: { id: true, status: true },
  ...BILLING,
};

const LISTED_TASKS: Shape = {
  items: [
    {
      taskId: true,
      status: true,
      characters: true,
      textPreview: true,
      textFingerprint: true,
      voiceId: true,
      engineModelId: true,
      creditsUsed: true,
      createdAt: true,
      audioUrl: true,
    },
  ],
  pagination: { page: true, limit: true, hasMore: true, nextPage: true },
  requestId: true,
};

const JOB_STATE: Shape = {
  id: true,
  status: true,
  result_url: true,
  error: { code: true, message: true },
};
const PICTURE_JOB: Shape = { task_id: true, status: true, result_url: true, error_code: true };
const PROFILE: Shape = { user_id: true, api_quota_remaining: true, tier: true, credits: true };

const V1 = '^/api/open/v1';
const V3 = '^/api/open/v3';

/** The JSON responses with a status of success. The shapes that the API does not show pass as they are. */
export const RESPONSES: readonly ResponseShape[] = [
  {
    method: 'GET',
    path: new RegExp(`${V3}/speech/tts/capabilities$`),
    shape: { contractVersion: true, route: true, models: [MODEL] },
  },
  {
    method: 'GET',
    path: new RegExp(`${V3}/voices$`),
    shape: { ...PAGE, items: [VOICE], requestId: true },
  },
  { method: 'GET', path: new RegExp(`${V3}/voices/[^/]+$`), shape: VOICE },
  {
    method: 'POST',
    path: new RegExp(`${V3}/speech/tts/jobs$`),
    shape: {
      task: { taskId: true, status: true, voiceId: true, modelId: true },
      ...BILLING,
      ignoredParameters: true,
    },
  },
  {
    method: 'GET',
    path: new RegExp(`${V3}/speech/tts/jobs/[^/]+$`),
    shape: { task: { taskId: true, status: true } },
  },
  {
    method: 'GET',
    path: new RegExp(`${V3}/speech/tts/jobs$`),
    shape: LISTED_TASKS,
    arrange: listed,
  },
  { method: 'POST', path: new RegExp(`${V1}/speech/tts/jobs$`), shape: TASK_V1 },
  { method: 'GET', path: new RegExp(`${V1}/speech/tts/jobs/[^/]+$`), shape: TASK_V1 },
  { method: 'GET', path: new RegExp(`${V1}/speech/tts/jobs$`), shape: LISTED_TASKS },
  {
    method: 'POST',
    path: new RegExp(`${V1}/speech/tts$`),
    shape: { audio_url: true, credits_used: true, quota_remaining: true },
  },
  { method: 'GET', path: /^\/v1\/audio\/voices$/, shape: { voices: [{ id: true }] } },
  {
    method: 'GET',
    path: new RegExp(`${V1}/voices$`),
    shape: { ...PAGE, items: [VOICE_V1] },
    arrange: bothVoiceShapes,
  },
  {
    method: 'POST',
    path: new RegExp(`${V1}/voices$`),
    shape: { voiceId: true, title: true, description: true, createdAt: true },
  },
  { method: 'DELETE', path: new RegExp(`${V1}/voices/[^/]+$`), shape: { voiceId: true } },
  {
    method: 'POST',
    path: new RegExp(`${V1}/voice-designs$`),
    shape: {
      designId: true,
      candidates: [{ candidateId: true, previewAudioUrl: true }],
      billing: {},
    },
  },
  {
    method: 'POST',
    path: new RegExp(`${V1}/voice-designs/[^/]+/voices$`),
    shape: { voiceId: true },
  },
  {
    method: 'POST',
    path: new RegExp(`${V1}/media/lip-sync/jobs$`),
    shape: {
      success: true,
      message: true,
      data: {
        id: true,
        status: true,
        credits_used: true,
        billing_duration_seconds: true,
        video_duration_seconds: true,
        audio_duration_seconds: true,
        billing_rule: true,
      },
    },
  },
  {
    method: 'GET',
    path: new RegExp(`${V1}/media/lip-sync/jobs/[^/]+$`),
    shape: { data: JOB_STATE },
    arrange: (body) => ({ data: known(body['data']) }),
  },
  {
    method: 'GET',
    path: new RegExp(`${V1}/media/lip-sync/jobs$`),
    shape: { data: { items: [{ id: true, status: true }], pagination: true } },
  },
  {
    method: 'POST',
    path: new RegExp(`${V1}/media/video-dubbing/jobs$`),
    shape: { data: { id: true } },
  },
  {
    method: 'GET',
    path: new RegExp(`${V1}/media/video-dubbing/jobs/[^/]+$`),
    shape: { data: JOB_STATE, credits_used: { tts: true, lip_sync: true, total: true } },
    arrange: ({ credits_used: total, data }) => ({
      data: known(data),
      credits_used: fieldsOf(data)['credits_used'] ?? total,
    }),
  },
  {
    method: 'POST',
    path: new RegExp(`${V1}/media/(?:images|videos)/jobs$`),
    shape: PICTURE_JOB,
    arrange: flat,
  },
  {
    method: 'GET',
    path: new RegExp(`${V1}/media/(?:images|videos)/jobs/[^/]+$`),
    shape: PICTURE_JOB,
    arrange: flat,
  },
  { method: 'GET', path: new RegExp(`${V1}/profile$`), shape: PROFILE },
  { method: 'POST', path: new RegExp(`${V1}/profile$`), shape: PROFILE },
];

/** The fields of an error. An error of a dubbing whose speech was billed names that speech. */
export const ERROR: Shape = {
  code: true,
  message: true,
  requestId: true,
  details: true,
  tts_audio_url: true,
  tts_credits_used: true,
};

/** The fields of each event of an aligned stream. */
export const ALIGNED_EVENTS: Readonly<Record<string, Shape>> = {
  audio: { audioBase64: true },
  alignment_snapshot: {
    chunkSeq: true,
    units: true,
    words: [{ text: true, startMs: true, endMs: true }],
  },
  alignment_invalidated: { chunkSeq: true },
  completed: {
    requestId: true,
    generationId: true,
    alignmentStatus: true,
    quotaRemaining: true,
    creditsUsed: true,
  },
  error: { requestId: true, code: true },
};

/** The response headers that the API names for a request; HTTP's own are always sent. */
export function namedHeaders(method: string, path: string): readonly string[] {
  if (method !== 'POST') return [];
  if (/^\/api\/open\/v3\/speech\/tts\/aligned$/.test(path)) return ['x-request-id'];
  if (/^\/api\/open\/v3\/speech\/tts\/jobs$/.test(path)) {
    return ['x-request-id', 'location', 'retry-after'];
  }
  if (/^\/api\/open\/v3\/speech\/tts$/.test(path)) return ['x-request-id', ...COSTS, IGNORED];
  if (/^\/api\/open\/v2\/speech\/tts$/.test(path)) return ['x-request-id', ...COSTS];
  return /^\/v1\/(?:tts|audio\/speech)$/.test(path) ? COSTS : [];
}

const COSTS = ['x-openapi-quota-remaining', 'x-openapi-credits-used'];
const IGNORED = 'x-openapi-ignored-parameters';

/** The headers of HTTP itself. */
export const HTTP_HEADERS: ReadonlySet<string> = new Set([
  'accept-ranges',
  'cache-control',
  'connection',
  'content-disposition',
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'date',
  'etag',
  'keep-alive',
  'last-modified',
  'proxy-authenticate',
  'transfer-encoding',
]);

// The API describes list items for v1 only, with this name.
function listed(body: Fields): Fields {
  const { items } = body;
  if (!Array.isArray(items)) return body;
  const renamed = items.map((item: unknown) => {
    const { modelId, ...fields } = fieldsOf(item);
    return { engineModelId: modelId, ...fields };
  });
  return { ...body, items: renamed };
}

// The API shows two shapes: every second voice has the other one.
function bothVoiceShapes(body: Fields): Fields {
  const { items } = body;
  if (!Array.isArray(items)) return body;
  const arranged = items.map((item: unknown, index) => {
    const { id, name, provider, ...first } = fieldsOf(item);
    const { title = name, voiceId = id } = first;
    return index % 2 === 0
      ? { ...first, voiceId, title }
      : { id: voiceId, name: title, provider: provider ?? 'vendor' };
  });
  return { ...body, items: arranged };
}

// The API names no wrapper for jobs of images and videos, and calls their id a task id.
function flat(body: Fields): Fields {
  const { error, id, taskId, ...job } = fieldsOf(body['data'] ?? body['task'] ?? body);
  return known({ task_id: id ?? taskId, error_code: fieldsOf(error)['code'], ...job });
}

// A job has a result URL when it succeeded, and an error when it failed.
function known(job: unknown): Fields {
  const fields = Object.entries(fieldsOf(job));
  return Object.fromEntries(fields.filter(([, value]) => value !== null && value !== undefined));
}
