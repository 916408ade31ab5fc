import {
  ALIGNED_EVENTS,
  ERROR,
  fieldsOf,
  HTTP_HEADERS,
  namedHeaders,
  RESPONSES,
} from './fields.ts';
import type { Shape } from './fields.ts';

export interface SparseAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Record<string, string | string[]>;
  readonly body: Buffer;
}

interface Request {
  readonly method: string;
  readonly path: string;
}

/** Headers and fields that no client knows. */
const LATER_HEADER = { 'x-later-header': 'from a later version' };
const LATER_FIELD = { laterField: { from: 'a later version' } };

/** Returns a response with nothing but the headers and fields that the API names, and with unknown ones. */
export function sparseAnswer(request: Request, answer: SparseAnswer): SparseAnswer {
  const { status } = answer;
  const body = isJson(answer) ? sparseJson(request, status, answer.body) : answer.body;
  const headers = sparseHeaders(request, answer);
  return { status, body, headers: { ...headers, 'content-length': `${body.byteLength}` } };
}

/** Whether the body of a response is JSON. Other bodies are passed on while they arrive. */
export function isJson({ headers }: Pick<SparseAnswer, 'headers'>): boolean {
  return /^application\/json\b/.test(String(headers['content-type'] ?? ''));
}

/** Returns the headers of HTTP, those that the API names for the request, and an unknown one. */
export function sparseHeaders(
  { method, path }: Request,
  { headers, status }: Pick<SparseAnswer, 'headers' | 'status'>,
): SparseAnswer['headers'] {
  const isSuccess = status >= 200 && status < 300;
  const named = isSuccess
    ? namedHeaders(method, path)
    : ['location', 'retry-after', 'x-request-id'];
  const kept = Object.entries(headers).filter(
    ([name]) => HTTP_HEADERS.has(name) || named.includes(name),
  );
  return { ...Object.fromEntries(kept), ...LATER_HEADER };
}

function sparseJson({ method, path }: Request, status: number, bytes: Buffer): Buffer {
  const body = parsed(bytes);
  if (body === undefined) return bytes;
  if (status >= 400) return written(pruned(body, ERROR));
  const found = RESPONSES.find((one) => one.method === method && one.path.test(path));
  if (found === undefined) return bytes;
  return written(pruned(found.arrange(fieldsOf(body)), found.shape));
}

/** Returns an event of an aligned stream with nothing but the fields that the API names, and with an unknown one. */
export function sparseEvent(text: string): string {
  const name = /^event: (.*)$/m.exec(text)?.[1] ?? '';
  const shape = ALIGNED_EVENTS[name];
  if (shape === undefined) return text;
  return text.replace(/^data: (.*)$/m, (line, data: string) => {
    const value = parsed(Buffer.from(data));
    return value === undefined ? line : `data: ${written(pruned(value, shape)).toString()}`;
  });
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}

function written(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function pruned(value: unknown, shape: Shape): unknown {
  if (typeof shape === 'boolean' || value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) {
    const [item = true] = Array.isArray(shape) ? shape : [];
    return value.map((one: unknown) => pruned(one, item));
  }
  const fields = Object.entries(value).flatMap(([name, one]: [string, unknown]) => {
    const inner = Object.entries(shape).find(([known]) => known === name)?.[1];
    return inner === undefined || one === undefined ? [] : [[name, pruned(one, inner)] as const];
  });
  return { ...Object.fromEntries(fields), ...LATER_FIELD };
}
