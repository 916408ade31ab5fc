import { connect } from 'node:net';
import type { Socket } from 'node:net';
import type { Gate } from './gate.ts';
import { parseHead } from './recorded-request.ts';
import type { IncomingRequest, RequestHead } from './recorded-request.ts';
import type { Rule } from './script.ts';
import type { Step } from './steps.ts';
import { allBytesRead } from './unread-bytes.ts';
import type { Readable } from 'node:stream';

export interface ConnectionContext {
  readonly gate: Gate;
  /** Notes the connection's nth request (from 1) and says how it is answered. */
  readonly receive: (
    head: RequestHead,
    onConnection: number,
  ) => { readonly request: IncomingRequest; readonly rule: Rule };
  /** Notes that the client went away before it had its answer. */
  readonly abandoned: (request: IncomingRequest) => void;
}

/**
 * Serves the requests of one connection, one after the other. `socket` carries the bytes and `raw`
 * is the TCP connection under it, which is the same without TLS.
 */
export async function serveConnection(
  socket: Socket,
  raw: Socket,
  context: ConnectionContext,
): Promise<void> {
  const reader = new ByteReader(socket);
  const gone = closed(socket);
  for (let onConnection = 1; ; onConnection += 1) {
    const bytes = await reader.readThrough('\r\n\r\n');
    if (bytes === undefined) {
      return;
    }
    const { request, rule } = context.receive(parseHead(bytes), onConnection);
    const body = readBody(reader, request);
    if (rule.answerAt !== 'head') {
      await body;
    }
    await runAnswer({ socket, raw, gone, request, ...context }, rule);
    await body;
  }
}

async function readBody(reader: ByteReader, request: IncomingRequest): Promise<void> {
  const keep = (bytes: Buffer): void => request.append(bytes);
  if (request.header('transfer-encoding') === 'chunked') {
    request.isComplete = await readChunks(reader, keep);
    return;
  }
  const length = Number(request.header('content-length') ?? 0);
  request.isComplete = (await reader.readExactly(length, keep)) === true;
}

async function readChunks(reader: ByteReader, keep: (bytes: Buffer) => void): Promise<boolean> {
  for (;;) {
    const line = await reader.readThrough('\r\n');
    if (line === undefined) {
      return false;
    }
    const size = Number.parseInt(line.toString('latin1'), 16);
    await reader.readExactly(size, keep);
    if ((await reader.readThrough('\r\n')) === undefined) {
      return false;
    }
    if (size === 0) {
      return true;
    }
  }
}

interface Exchange extends ConnectionContext {
  readonly socket: Socket;
  readonly raw: Socket;
  readonly gone: Promise<void>;
  readonly request: IncomingRequest;
}

async function runAnswer(exchange: Exchange, { answer }: Rule): Promise<void> {
  const { socket, request, gate } = exchange;
  const steps = typeof answer === 'function' ? answer(request) : answer;
  request.answer.state = 'running';
  for (const step of steps) {
    const isDone = !socket.destroyed && (await runStep(step, exchange));
    if (!isDone) {
      request.answer.state = 'client gone';
      gate.clientGone();
      exchange.abandoned(request);
      return;
    }
  }
  request.answer.state = 'finished';
}

/** Gives false when the client went away before the step was done. */
async function runStep(step: Step, exchange: Exchange): Promise<boolean> {
  if (step.kind === 'write') {
    return send(exchange, step.bytes);
  }
  if (step.kind === 'repeat') {
    return sendAgain(exchange, step.bytes, step.times);
  }
  if (step.kind === 'pause') {
    return exchange.gate.pause(exchange.gone);
  }
  if (step.kind === 'tunnel') {
    return tunnel(exchange.socket, step.port);
  }
  if (step.kind === 'fin') {
    exchange.socket.end();
  } else {
    await allBytesRead(exchange.raw);
    exchange.raw.resetAndDestroy();
  }
  return true;
}

async function sendAgain(exchange: Exchange, bytes: Uint8Array, times: number): Promise<boolean> {
  for (let time = 0; time < times; time += 1) {
    if (!(await send(exchange, bytes))) {
      return false;
    }
  }
  return true;
}

/** Resolves when the bytes are handed to the system, which a slow reader delays. */
async function send({ socket, request }: Exchange, bytes: Uint8Array): Promise<boolean> {
  return new Promise((resolve) => {
    socket.write(bytes, (error) => {
      // Null in some versions of Node, undefined in others.
      const isSent = !(error instanceof Error);
      request.answer.bytesWritten += isSent ? bytes.byteLength : 0;
      resolve(isSent);
    });
  });
}

/** Resolves when a connection is closed, for whatever reason. */
async function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    socket.on('close', () => resolve());
  });
}

async function tunnel(socket: Socket, port: number): Promise<boolean> {
  const other = connect(port, '127.0.0.1');
  const end = closed(socket);
  other.on('error', () => socket.destroy());
  socket.on('close', () => other.destroy());
  socket.removeAllListeners('data');
  socket.pipe(other).pipe(socket);
  await end;
  return true;
}

/** Reads a connection by the byte. Every method gives undefined once the other side has ended. */
class ByteReader {
  #buffer: Buffer = Buffer.alloc(0);
  #isEnded = false;
  #wake: () => void = () => undefined;

  constructor(stream: Readable) {
    stream.on('data', (bytes: Buffer) => {
      this.#buffer = Buffer.concat([this.#buffer, bytes]);
      this.#wake();
    });
    stream.on('close', () => {
      this.#isEnded = true;
      this.#wake();
    });
  }

  /** Up to and with the delimiter. */
  async readThrough(delimiter: string): Promise<Buffer | undefined> {
    return this.#take(() => {
      const at = this.#buffer.indexOf(delimiter);
      return at < 0 ? undefined : at + Buffer.byteLength(delimiter);
    });
  }

  /** Exactly so many bytes; `onBytes` sees each part as it comes. */
  async readExactly(count: number, onBytes: (bytes: Buffer) => void): Promise<true | undefined> {
    let left = count;
    while (left > 0) {
      const part = await this.#take(() => Math.min(left, this.#buffer.length) || undefined);
      if (part === undefined) {
        return undefined;
      }
      left -= part.length;
      onBytes(part);
    }
    return true;
  }

  async #take(wanted: () => number | undefined): Promise<Buffer | undefined> {
    for (;;) {
      const count = wanted();
      if (count !== undefined) {
        const taken = this.#buffer.subarray(0, count);
        this.#buffer = this.#buffer.subarray(count);
        return taken;
      }
      if (this.#isEnded) {
        return undefined;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
