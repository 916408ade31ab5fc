import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import type { SecureContext } from 'node:tls';
import { onTestFinished } from 'vitest';
import type { Certificate } from './certificate.ts';
import { serveConnection } from './connection.ts';
import { Gate } from './gate.ts';
import { answer } from './http-text.ts';
import { incomingRequest } from './recorded-request.ts';
import type { RecordedRequest, RequestHead, RequestPlace } from './recorded-request.ts';
import { Script } from './script.ts';
import type { Rule } from './script.ts';
import { IS_SPARSE } from '../sparse-service/mode.ts';
import { sparseRule } from '../sparse-service/sparse-rules.ts';
import { Watch } from '../harness/watch.ts';

export interface FaultServerOptions {
  /** Speaks TLS with this certificate. */
  readonly tls?: Certificate;
}

/**
 * Starts a server that answers by a script, on a free port of the loopback interface. When the test
 * ends it stops, and the test fails if a request came that the script does not know, or if a rule
 * that is not optional never answered.
 */
export async function startFaultServer(
  rules: readonly Rule[],
  options: FaultServerOptions = {},
): Promise<FaultServer> {
  const running = new FaultServer(rules, options.tls);
  onTestFinished(async () => running.stop());
  await running.listen();
  return running;
}

/** The address of a port without a server: connections are refused. */
export async function refusedOrigin(): Promise<string> {
  const server = createServer();
  const port = await listen(server);
  server.close();
  await once(server, 'close');
  return `http://127.0.0.1:${port}`;
}

const UNKNOWN: Rule = { answer: answer(501, {}, 'The script does not know this request.') };

/** A running fault server, with every request that it got. */
export class FaultServer {
  readonly #received = new Journal();
  readonly #abandoned = new Journal();
  /** How many TCP connections were made, those on which nothing was asked included. */
  connections = 0;
  port = 0;
  readonly #script: Script;
  readonly #gate = new Gate();
  readonly #server: Server;
  readonly #secureContext: SecureContext | undefined;
  readonly #sockets = new Set<Socket>();
  readonly #problems: string[] = [];

  constructor(rules: readonly Rule[], tls: Certificate | undefined) {
    this.#script = new Script(rules);
    this.#secureContext =
      tls === undefined ? undefined : createSecureContext({ key: tls.key, cert: tls.certificate });
    this.#server = createServer((raw) => this.#accept(raw));
  }

  /** Such as `http://127.0.0.1:41234`. */
  get origin(): string {
    return `${this.#secureContext === undefined ? 'http' : 'https'}://127.0.0.1:${this.port}`;
  }

  async listen(): Promise<void> {
    this.port = await listen(this.#server);
  }

  /** Every request so far, in order of arrival. */
  get requests(): readonly RecordedRequest[] {
    return this.#received.entries;
  }

  /** Waits for the nth request (from 1) that fits; without arguments for the first of any. */
  received(filter: RequestFilter = {}, count = 1): Promise<RecordedRequest> {
    return this.#received.wait(filter, count);
  }

  /** Waits until a client has gone away before it had the whole of its answer; the nth, from 1. */
  abandoned(count = 1): Promise<RecordedRequest> {
    return this.#abandoned.wait({}, count);
  }

  /** Lets the oldest `pause` step go, or the next to come; false when its client has gone away. */
  advance(): Promise<boolean> {
    return this.#gate.advance();
  }

  /** Resolves when an answer is at a `pause` step. */
  paused(): Promise<void> {
    return this.#gate.paused();
  }

  /** Breaks all connections, and refuses later ones. */
  async stop(): Promise<void> {
    this.#sockets.forEach((socket) => socket.destroy());
    this.#server.close();
    await once(this.#server, 'close');
    const unused = this.#script.unused().map((rule) => `never asked for: ${rule}`);
    const problems = [...this.#problems, ...unused];
    if (problems.length > 0) {
      throw new Error(`The script did not fit:\n${problems.join('\n')}`);
    }
  }

  #accept(raw: Socket): void {
    this.connections += 1;
    const connection = this.connections;
    const socket = this.#secure(raw);
    this.#sockets.add(raw);
    raw.setNoDelay(true);
    // A client that breaks the connection, or refuses the certificate, is what many tests want.
    raw.on('error', () => undefined);
    socket.on('error', () => undefined);
    const context = {
      gate: this.#gate,
      receive: (head: RequestHead, onConnection: number) =>
        this.#receive(head, { connection, onConnection }),
      abandoned: (request: RecordedRequest) => this.#abandoned.add(request),
    };
    serveConnection(socket, raw, context).catch((error: unknown) => {
      this.#problems.push(String(error));
      raw.destroy();
    });
  }

  #secure(raw: Socket): Socket {
    const secureContext = this.#secureContext;
    return secureContext === undefined
      ? raw
      : new TLSSocket(raw, { isServer: true, secureContext });
  }

  #receive(head: RequestHead, place: Omit<RequestPlace, 'number'>) {
    const request = incomingRequest({ ...place, number: this.requests.length + 1 }, head);
    const rule = this.#script.take(request);
    if (rule === undefined) {
      this.#problems.push(`not in the script: ${request.method} ${request.target}`);
    }
    this.#received.add(request);
    const answering = rule ?? UNKNOWN;
    const refused = (reason: string): void => void this.#problems.push(`refused: ${reason}`);
    return { request, rule: IS_SPARSE ? sparseRule(answering, refused) : answering };
  }
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') {
    throw new Error('The server has no port.');
  }
  return address.port;
}

type RequestFilter = Partial<Pick<RecordedRequest, 'method' | 'path'>>;

/** Requests in the order in which something happened to them, which can be waited for. */
class Journal {
  readonly entries: RecordedRequest[] = [];
  readonly #watch = new Watch();

  add(request: RecordedRequest): void {
    this.entries.push(request);
    this.#watch.changed();
  }

  /** Resolves with the nth entry (from 1) that fits, now or when it comes. */
  wait({ method, path }: RequestFilter, count: number): Promise<RecordedRequest> {
    const fits = (request: RecordedRequest): boolean =>
      (method ?? request.method) === request.method && (path ?? request.path) === request.path;
    return this.#watch.until(() => this.entries.filter(fits)[count - 1]);
  }
}
