/** How far the answer to a request has come. */
export interface AnswerProgress {
  /** Bytes that were handed to the connection; a slow reader is seen here. */
  bytesWritten: number;
  state: 'waiting' | 'running' | 'finished' | 'client gone';
}

/** A request exactly as it came. */
export interface RecordedRequest {
  /** Its place in the order of arrival over all connections, from 1. */
  readonly number: number;
  /** The connection it came on, from 1, and its place on that connection, from 1. */
  readonly connection: number;
  readonly onConnection: number;
  readonly method: string;
  /** The target as it was written, with its query; absolute when the client speaks to a proxy. */
  readonly target: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** Every header line in order, names in the case in which they came. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The bytes of the head, the empty line included. */
  readonly head: Buffer;
  /** The body without its chunk framing; what has come so far while `isComplete` is false. */
  readonly body: Buffer;
  readonly isComplete: boolean;
  readonly answer: AnswerProgress;
  /** The value of a header, whatever its case; values of several lines are joined by `, `. */
  header(name: string): string | undefined;
}

/** A request whose body may still come. */
export interface IncomingRequest extends RecordedRequest {
  append(bytes: Buffer): void;
  isComplete: boolean;
}

/** Which request it is, of the server and of its connection. */
export type RequestPlace = Pick<RecordedRequest, 'number' | 'connection' | 'onConnection'>;

/** Begins the record of a request of which the head has come. */
export function incomingRequest(place: RequestPlace, head: RequestHead): IncomingRequest {
  const parts: Buffer[] = [];
  return {
    ...place,
    ...head,
    answer: { bytesWritten: 0, state: 'waiting' },
    isComplete: false,
    append: (bytes) => void parts.push(bytes),
    get body() {
      return Buffer.concat(parts);
    },
  };
}

/** What the first bytes of a request say. */
export type RequestHead = Pick<
  RecordedRequest,
  'method' | 'target' | 'path' | 'query' | 'headers' | 'head' | 'header'
>;

/** Reads the bytes up to and with the empty line. Throws when they are not a request. */
export function parseHead(bytes: Buffer): RequestHead {
  const [first = '', ...lines] = bytes.toString('latin1').slice(0, -4).split('\r\n');
  const match = /^([A-Z]+) (\S+) HTTP\/1\.1$/.exec(first);
  const [, method, target] = match ?? [];
  if (method === undefined || target === undefined) {
    throw new Error(`Not a request: ${JSON.stringify(first)}`);
  }
  const headers = lines.map((line) => parseHeaderLine(line));
  const { path, query } = split(method, target);
  return {
    method,
    target,
    path,
    query,
    headers,
    head: bytes,
    header: (name) => valueOf(headers, name),
  };
}

function parseHeaderLine(line: string): readonly [string, string] {
  const at = line.indexOf(':');
  if (at < 1) {
    throw new Error(`Not a header: ${JSON.stringify(line)}`);
  }
  return [line.slice(0, at), line.slice(at + 1).trim()];
}

function split(method: string, target: string): { path: string; query: URLSearchParams } {
  if (method === 'CONNECT') {
    return { path: target, query: new URLSearchParams() };
  }
  const relative = target.replace(/^https?:\/\/[^/?]*/, '');
  const at = relative.indexOf('?');
  return at < 0
    ? { path: relative, query: new URLSearchParams() }
    : { path: relative.slice(0, at), query: new URLSearchParams(relative.slice(at + 1)) };
}

function valueOf(headers: RequestHead['headers'], wanted: string): string | undefined {
  const values = headers
    .filter(([name]) => name.toLowerCase() === wanted.toLowerCase())
    .map(([, value]) => value);
  return values.length === 0 ? undefined : values.join(', ');
}
