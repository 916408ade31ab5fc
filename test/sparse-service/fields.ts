import FIELDS from './fields.json' with { type: 'json' };

/**
 * The fields that the API names for each response, written from the API's own page and not from the contract of the
 * program under test. Where the page says that a shape is not shown, the least with which a client can work is here.
 */

/** `true`: a value as it is; a list: items of that shape; an object: these fields, and no others. */
export type Shape = boolean | readonly Shape[] | { readonly [field: string]: Shape };

interface ResponseShape {
  readonly method: string;
  readonly path: RegExp;
  readonly shape: Shape;
  /** Moves fields of the body before they are pruned. */
  readonly arrange: (body: Fields) => Fields;
}

export type Fields = Readonly<Record<string, unknown>>;

/** Returns the JSON object in a value; an empty one for anything else. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

const ARRANGE = new Map(
  Object.entries<(body: Fields) => Fields>({
    listed,
    bothVoiceShapes,
    flat,
    fieldsOfLipSync: (body) => ({ data: known(body['data']) }),
    fieldsOfDubbing: ({ credits_used: total, data }) => ({
      data: known(data),
      credits_used: fieldsOf(data)['credits_used'] ?? total,
    }),
  }),
);

/** The JSON responses with a status of success. The shapes that the API does not show pass as they are. */
export const RESPONSES: readonly ResponseShape[] = FIELDS.responses.map(
  ({ method, path, shape, arrange = '' }) => ({
    method,
    path: new RegExp(path),
    shape,
    arrange: ARRANGE.get(arrange) ?? ((body) => body),
  }),
);

/** The fields of an error. An error of a dubbing whose speech was billed names that speech. */
export const ERROR: Shape = FIELDS.error;

/** The fields of each event of an aligned stream. */
export const ALIGNED_EVENTS: Readonly<Record<string, Shape>> = FIELDS.alignedEvents;

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
