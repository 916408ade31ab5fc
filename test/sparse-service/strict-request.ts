import type { RecordedRequest } from '../fault-server/recorded-request.ts';
import { fieldsOf } from './fields.ts';

/** The requests that the API describes, written from the API's own page. */

type Check = (value: unknown) => boolean;
type Checks = Readonly<Record<string, Check>>;

interface KnownRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: RegExp;
  readonly query?: Checks;
  /** The fields of a JSON body; names with `!` are required. */
  readonly body?: Checks | undefined;
  readonly needsKey?: boolean;
}

export interface GivenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** Undefined for a form. */
  readonly body: Uint8Array | undefined;
}

/**
 * Returns why the API refuses a request: an unknown query parameter or body field, a value of a wrong type or out of
 * range, a missing field or idempotency key. Returns undefined for a good request, and for an unknown path.
 */
export function refusalOf(request: GivenRequest): string | undefined {
  const { body, method, path } = request;
  const known = REQUESTS.find((one) => one.method === method && one.path.test(path));
  if (known === undefined) return undefined;
  const { query = {} } = known;
  const parameters = Object.fromEntries(request.query);
  return (
    refusedHeader(request, known) ??
    refusedField(parameters, query, 'query parameter') ??
    (body === undefined || known.body === undefined
      ? undefined
      : refusedBody(body, request, known.body))
  );
}

/** Returns a request to a fault server as one to check. */
export function givenRequest({
  body,
  headers,
  method,
  path,
  query,
}: RecordedRequest): GivenRequest {
  const all = Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]));
  const isForm = String(all['content-type']).startsWith('multipart/');
  return { method, path, query, headers: all, body: isForm ? undefined : body };
}

function refusedHeader({ headers }: GivenRequest, { needsKey }: KnownRequest): string | undefined {
  const key = headers['idempotency-key'];
  if (needsKey === true && key === undefined) return 'The request has no Idempotency-Key.';
  return key === undefined || (typeof key === 'string' && key.length <= 128)
    ? undefined
    : 'The Idempotency-Key is longer than 128 characters.';
}

function refusedBody(
  bytes: Uint8Array,
  { headers }: GivenRequest,
  checks: Checks,
): string | undefined {
  if (!String(headers['content-type']).startsWith('application/json')) {
    return 'The body is not declared as JSON.';
  }
  try {
    const body: unknown = JSON.parse(Buffer.from(bytes).toString());
    return refusedField(fieldsOf(body), checks, 'field');
  } catch {
    return 'The body is not JSON.';
  }
}

function refusedField(
  fields: Readonly<Record<string, unknown>>,
  checks: Checks,
  what: string,
): string | undefined {
  const all = new Map(
    Object.entries(checks).map(([name, check]) => [name.replace('!', ''), check]),
  );
  const missing = Object.keys(checks).find(
    (name) => name.endsWith('!') && fields[name.slice(0, -1)] === undefined,
  );
  if (missing !== undefined) return `The ${what} ${missing.slice(0, -1)} is missing.`;
  const bad = Object.entries(fields).find(([name, value]) => all.get(name)?.(value) !== true);
  return bad === undefined ? undefined : `The ${what} ${bad[0]} is unknown or not allowed.`;
}

const text =
  (longest: number): Check =>
  (value) =>
    typeof value === 'string' && value !== '' && Array.from(value).length <= longest;
const between =
  (least: number, most: number): Check =>
  (value) =>
    typeof value === 'number' && value >= least && value <= most;
const oneOf =
  (...values: readonly string[]): Check =>
  (value) =>
    values.some((one) => one === value);
const list =
  (most: number): Check =>
  (value) =>
    Array.isArray(value) &&
    value.length <= most &&
    value.every((one: unknown) => typeof one === 'string');
const count =
  (most: number): Check =>
  (value) =>
    /^[1-9]\d*$/.test(String(value)) && Number(value) <= most;
const isText: Check = (value) => typeof value === 'string' && value !== '';
const isBoolean: Check = (value) => typeof value === 'boolean';
const isTrueOrFalse: Check = oneOf('true', 'false');
const isUrl: Check = (value) => typeof value === 'string' && URL.canParse(value);
const isOneDownload: Check = oneOf('1');

const RANGES = { speed: between(0.5, 2), volume: between(-20, 20), pitch: between(-12, 12) };
const CONTROLS = {
  ...RANGES,
  // The family altF accepts 0 to 1, the others 0.5 to 1.5.
  stability: between(0, 1.5),
  similarity: between(0, 1.5),
  language: text(64),
  emotion: text(64),
  instruction: text(1_600),
  textNormalization: isBoolean,
  filterEmoji: isBoolean,
};
const FORMAT = { format: oneOf('mp3', 'wav', 'ogg') };
const SPEECH = {
  'text!': text(10_000),
  'voiceId!': isText,
  modelId: isText,
  ...FORMAT,
  ...CONTROLS,
};
const COMPAT_FORMAT = oneOf('mp3', 'wav', 'pcm');

const STATES = oneOf('pending', 'processing', 'success', 'partial_fail', 'fail');
const JOB_LIST = { page: count(Infinity), limit: count(100) };
const VOICE_LIST = { page: count(Infinity), pageSize: count(100), includePersonal: isTrueOrFalse };

const PICTURE = { 'prompt!': isText, 'model!': isText, image_url: isUrl, image_urls: list(4) };

const V1 = '/api/open/v1';
const V3 = '/api/open/v3';
const TTS = `${V3}/speech/tts`;

const get = (path: string, query: Checks = {}): KnownRequest => ({
  method: 'GET',
  path: new RegExp(`^${path}$`),
  query,
});
const post = (path: string, body?: Checks, needsKey = false): KnownRequest => ({
  method: 'POST',
  path: new RegExp(`^${path}$`),
  body,
  needsKey,
});

const REQUESTS: readonly KnownRequest[] = [
  get(`${V3}/(?:speech/tts/capabilities|openapi.json)`),
  get(`${V3}/voices`, VOICE_LIST),
  get(`${V3}/voices/[^/]+`),
  post(`${TTS}(?:/aligned|/jobs)?`, SPEECH),
  get(`${TTS}/jobs`, { ...JOB_LIST, status: STATES }),
  get(`${TTS}/jobs/[^/]+`),
  get(`${TTS}/jobs/[^/]+/audio`, { download: isOneDownload }),
  get(`${TTS}/jobs/[^/]+/segments/\\d+`),
  post('/api/open/v2/speech/tts', SPEECH),
  post(`${V1}/speech/tts`, { ...SPEECH, cache: isBoolean }),
  post(`${V1}/speech/tts/jobs`, SPEECH),
  get(`${V1}/speech/tts/jobs`, {
    ...JOB_LIST,
    status: STATES,
    createdAfter: (value) => Number.isFinite(Date.parse(String(value))),
  }),
  get(`${V1}/speech/tts/jobs/[^/]+`),
  get('/api/open/tts/jobs/[^/]+/audio', { download: isOneDownload }),
  post('/v1/tts', {
    'text!': isText,
    'reference_id!': isText,
    format: COMPAT_FORMAT,
    prosody: (value) => between(0.5, 2)(fieldsOf(value)['speed'] ?? 1),
    speed: RANGES.speed,
    temperature: between(0, 1.5),
    top_p: between(0, 1.5),
    normalize: isBoolean,
    chunk_length: between(0, Infinity),
    latency: isText,
  }),
  post('/v1/audio/speech', {
    'model!': isText,
    'input!': isText,
    'voice!': (value) => isText(value) || isText(fieldsOf(value)['id']),
    response_format: COMPAT_FORMAT,
    speed: RANGES.speed,
  }),
  get('/v1/audio/voices'),
  get(`${V1}/voices`, {
    ...VOICE_LIST,
    modelType: oneOf('public', 'personal', 'all'),
    language: isText,
    supportsLanguage: isText,
    search: isText,
    provider: isText,
    limit: count(Infinity),
    offset: isText,
  }),
  post(`${V1}/voices`),
  { method: 'DELETE', path: new RegExp(`^${V1}/voices/[^/]+$`) },
  post(
    `${V1}/voice-designs`,
    { 'prompt!': isText, 'previewText!': isText, providers: list(Infinity) },
    true,
  ),
  post(
    `${V1}/voice-designs/[^/]+/voices`,
    {
      'candidateId!': isText,
      'name!': isText,
      visibility: oneOf('private', 'public'),
      language: isText,
    },
    true,
  ),
  post(`${V1}/media/lip-sync/jobs`, {
    'video_url!': isUrl,
    'audio_url!': isUrl,
    video_extension: isBoolean,
  }),
  get(`${V1}/media/lip-sync/jobs`, { ...JOB_LIST, status: isText }),
  get(`${V1}/media/[^/]+/jobs/[^/]+`),
  post(`${V1}/media/video-dubbing/jobs`, {
    'video_url!': isUrl,
    'text!': isText,
    'reference_id!': isText,
    model_id: isText,
    speed: RANGES.speed,
    language: isText,
    fit_audio_to_video: isBoolean,
  }),
  get(`${V1}/media/models`, { mediaType: oneOf('image', 'video') }),
  post(
    `${V1}/media/images/jobs`,
    {
      ...PICTURE,
      aspect_ratio: isText,
      resolution: oneOf('1k', '2k', '4k'),
    },
    true,
  ),
  post(
    `${V1}/media/videos/jobs`,
    { ...PICTURE, seconds: between(0, Infinity), size: isText },
    true,
  ),
  get(`${V1}/profile`),
  post(`${V1}/profile`, { webhookUrl: isText }),
];
