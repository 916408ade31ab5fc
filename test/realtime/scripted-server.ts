import { once } from 'node:events';
import { createServer, STATUS_CODES } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { WebSocketServer } from 'ws';
import type { WebSocket } from 'ws';
import { Gate } from '../fault-server/gate.ts';
import { Arrivals } from './arrivals.ts';
import { answerHandshake, answerHttp, errorBody, Tickets } from './http-answers.ts';
import type { FullAnswer, HttpRequest } from './http-answers.ts';
import { SUBPROTOCOLS } from './messages.ts';
import type { Version } from './messages.ts';
import { playSteps } from './play-steps.ts';
import { PlayedConnection } from './played-connection.ts';
import type { ConnectionContext } from './played-connection.ts';
import { RequestBook } from './request-book.ts';
import { serve } from './script.ts';
import type { ConnectionScript, HttpAnswer, ServerScript } from './script.ts';
import { DEFAULT_SHAPE, segmentFrames } from './segment-audio.ts';

const TIMEOUT_MS = 20_000;
const QUOTA = 1_000_000;

/**
 * Starts a realtime service that plays a script, on a free loopback port, until the test ends. The test fails if a client
 * message violates the tables or a step times out, unless it takes these problems with `takeProblems`.
 */
export async function startScriptedServer(script: ServerScript = {}): Promise<ScriptedServer> {
  const server = new ScriptedServer(script);
  onTestFinished(async () => server.stop());
  await server.listen();
  return server;
}

export class ScriptedServer {
  /** The valid API key. */
  readonly key = 'a-key-of-the-scripted-server';
  /** Every connection with an accepted handshake, in order. */
  readonly connections: PlayedConnection[];
  /** Every handshake, with refused ones. */
  readonly handshakes: IncomingMessage[] = [];
  /** Every HTTP request that is not a handshake. */
  readonly requests: HttpRequest[] = [];
  readonly book: RequestBook;
  port = 0;
  readonly #script: ServerScript;
  readonly #http: Server;
  /** Where connections wait at `pause` steps. */
  readonly gate = new Gate();
  readonly #tickets = new Tickets();
  readonly #arrivals: Arrivals<PlayedConnection>;
  readonly #sockets = new Set<Duplex>();
  #problems: string[] = [];

  constructor(script: ServerScript) {
    this.#script = script;
    const { timeoutMs = TIMEOUT_MS, afterDrop = 'failed_retryable' } = script;
    this.#arrivals = new Arrivals(timeoutMs, () => 'a connection');
    this.connections = this.#arrivals.all;
    this.book = new RequestBook({
      framesOf: (spoken) => segmentFrames(spoken, { ...DEFAULT_SHAPE, ...script.audio }),
      numbering: 'request',
      afterDrop,
      interrupted: script.interrupted ?? 'failed',
    });
    this.#http = createServer((request, response) => void this.#answer(request, response));
    this.#http.on('connection', (socket) => this.#sockets.add(socket));
    this.#http.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
  }

  /** Such as `http://127.0.0.1:41234`. */
  get baseUrl(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get realtimeUrl(): string {
    return `ws://127.0.0.1:${this.port}`;
  }

  /** Waits for the nth accepted connection, from 1. */
  async connected(count = 1): Promise<PlayedConnection> {
    await this.#arrivals.until(() => this.connections.length >= count, `connection ${count}`);
    const connection = this.connections[count - 1];
    if (connection === undefined) {
      throw new Error(`There is no connection ${count}.`);
    }
    return connection;
  }

  /** Takes the recorded violations, which then do not fail the test. */
  takeProblems(): string[] {
    return this.#problems.splice(0);
  }

  async listen(): Promise<void> {
    this.#http.listen(0, '127.0.0.1');
    await once(this.#http, 'listening');
    const address = this.#http.address();
    if (address === null || typeof address === 'string') {
      throw new Error('The server has no port.');
    }
    this.port = address.port;
  }

  async stop(): Promise<void> {
    const problems = this.takeProblems();
    this.#sockets.forEach((socket) => socket.destroy());
    this.#http.close();
    await once(this.#http, 'close');
    if (problems.length > 0) {
      throw new Error(`The script did not fit:\n${problems.join('\n')}`);
    }
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = 'GET', url = '/', headers } = request;
    const { authorization } = headers;
    const body = await text(request);
    const asked: HttpRequest = { method, path: url.split('?')[0] ?? url, authorization, body };
    this.requests.push(asked);
    const answer = this.#script.http?.[`${method} ${asked.path}`] ?? this.#spoken(asked);
    response.writeHead(answer.status, headersOf(answer));
    response.end(bodyOf(answer));
  }

  #spoken(asked: HttpRequest): FullAnswer {
    const { book, key, realtimeUrl } = this;
    return answerHttp(asked, { book, key, realtimeUrl, tickets: this.#tickets });
  }

  #upgrade(request: IncomingMessage, raw: Duplex, head: Buffer): void {
    raw.on('error', () => undefined);
    const script = this.#script.connections?.[this.handshakes.length] ?? {};
    this.handshakes.push(request);
    if (script.handshake !== undefined) {
      if (script.handshake === 'dropped') raw.end();
      else raw.resume();
      return;
    }
    const answer = script.refuse ?? answerHandshake(request, this.key);
    if ('status' in answer) {
      refuse(raw, answer);
      return;
    }
    const { version } = answer;
    const sockets = new WebSocketServer({
      noServer: true,
      perMessageDeflate: false,
      maxPayload: 0,
      maxFragments: 0,
      handleProtocols: () => script.subprotocol ?? SUBPROTOCOLS[version],
    });
    sockets.handleUpgrade(request, raw, head, (socket) => {
      const connection = this.#play(request, socket, raw, version);
      void this.#run(connection, script);
    });
  }

  #play(request: IncomingMessage, socket: WebSocket, raw: Duplex, version: Version) {
    const context = this.#context(request, version);
    const connection = new PlayedConnection(request, socket, raw, context);
    this.#arrivals.add(connection);
    return connection;
  }

  async #run(connection: PlayedConnection, { steps }: ConnectionScript): Promise<void> {
    const name = `connection ${this.connections.indexOf(connection) + 1}`;
    try {
      await playSteps(connection, steps ?? [serve()]);
    } catch (error) {
      this.#problems.push(`${name}: ${String(error)}`);
      connection.socket.terminate();
    }
  }

  #context({ headers }: IncomingMessage, version: Version): ConnectionContext {
    const { timeoutMs = TIMEOUT_MS } = this.#script;
    return {
      book: this.book,
      gate: this.gate,
      timeoutMs,
      problem: (what) => this.#problems.push(what),
      caller: {
        version,
        sessionId: `session-${this.connections.length + 1}`,
        isAuthenticated: headers.authorization !== undefined,
        redeem: (ticket) => this.#tickets.redeem(ticket, headers.origin),
        quota: () => QUOTA - this.book.charges.reduce((sum, { units }) => sum + units, 0),
      },
    };
  }
}

function headersOf({ headers, bytes, json, status }: FullAnswer): Record<string, string> {
  const isJson = bytes === undefined && (json !== undefined || status >= 400);
  return { ...(isJson ? { 'Content-Type': 'application/json' } : {}), ...headers };
}

function bodyOf({ bytes, json, status }: FullAnswer): Buffer | string {
  return bytes ?? (json === undefined ? errorBody(status) : JSON.stringify(json));
}

function refuse(raw: Duplex, answer: HttpAnswer): void {
  const body = Buffer.from(bodyOf(answer));
  const length = { 'Content-Length': String(body.byteLength), Connection: 'close' };
  const headers = Object.entries({ ...headersOf(answer), ...length });
  const head = [
    `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? 'Scripted'}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ];
  raw.end(Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]));
}
