import type { TransportResponse } from '../../src/api/transport/exchange.ts';
import { TransportError } from '../../src/api/transport/transport-error.ts';
import type { Transport, TransportRequest } from '../../src/api/transport/http.ts';
import type { Clock } from '../../src/system/clock.ts';
import { Killed } from '../harness/failing-files.ts';
import { keyless } from './client-run.ts';
import type { BodyEvent, LooseEnds } from './connection.ts';
import { answerOver, cutOff, drain, HOST, letLoose, readerOf } from './connection.ts';
import type { AudioFault, Fault, ServiceEnd } from './faults.ts';
import { NO_FAULT } from './faults.ts';
import type { ServiceHost } from './service-host.ts';
import type { SimulatedProcess } from './simulated-process.ts';

/** What a client's requests travel through. */
export interface Network {
  readonly clock: Clock;
  readonly loose: LooseEnds;
  /** Requests that have not arrived yet. */
  readonly late: (() => Promise<Response>)[];
  /** Bytes of a whole answer, of which faults give shares. */
  readonly audioBytes: number;
  /** The service that is called now; undefined while none runs. */
  host(): ServiceHost | undefined;
  /** Puts another in the place of one that died. */
  restart(): Promise<void>;
}

/** One client on the network. */
export interface Caller {
  readonly process: SimulatedProcess;
  /** What happens to its next speech requests, in order; then nothing. */
  readonly faults: Fault[];
  /** What happens to its next downloads. */
  readonly audioFaults: AudioFault[];
  /** A speech request is about to leave under this key. */
  onSend(key: string): void;
  /** The head of an answer of success has come. */
  onAudio(): void;
  /** Resolves when it is to go on. */
  pause(): Promise<void>;
}

type Send = (signal?: AbortSignal) => Promise<Response>;

/** What carries out one attempt. */
interface Attempt {
  readonly network: Network;
  readonly caller: Caller;
  readonly host: ServiceHost;
  readonly send: Send;
  readonly isKeyless: boolean;
}

/** A client to whom nothing happens on the way. */
export function quietTransport(network: Network, process: SimulatedProcess): Transport {
  return transportOver(network, {
    process,
    faults: [],
    audioFaults: [],
    onSend: () => undefined,
    onAudio: () => undefined,
    pause: async () => undefined,
  });
}

export function transportOver(network: Network, caller: Caller): Transport {
  return {
    async request(request) {
      requireAlive(caller);
      const isSpeech = request.method === 'POST';
      const fault = nextFault(caller, request) ?? NO_FAULT;
      const { 'idempotency-key': key, 'x-request-id': requestId } = request.headers;
      if (isSpeech) caller.onSend(key ?? keyless(requestId));
      const host = network.host();
      if (host === undefined || fault.kind === 'refused') throw new TransportError('refused', HOST);
      const chunk = fault.kind === 'engine_fails' ? fault.chunk : Number.POSITIVE_INFINITY;
      host.engine.failBefore(chunk);
      host.lockWrite(0);
      const send: Send = (signal) => host.fetch(webRequest(request, signal));
      const answer = await attempt(fault, {
        network,
        caller,
        host,
        send,
        isKeyless: key === undefined,
      });
      requireAlive(caller);
      if (isSpeech && answer.status === 200) caller.onAudio();
      return answer;
    },
    close: async () => undefined,
  };
}

function nextFault(caller: Caller, { method, url }: TransportRequest): Fault | undefined {
  if (method === 'POST') return caller.faults.shift();
  return url.pathname.includes('/audio') ? caller.audioFaults.shift() : undefined;
}

async function attempt(fault: Fault, tools: Attempt): Promise<TransportResponse> {
  const { network, host, isKeyless, send } = tools;
  switch (fault.kind) {
    case 'none':
    case 'refused':
    case 'engine_fails':
      return answered(tools, await send());
    case 'request_lost':
      throw new TransportError('reset', HOST);
    case 'request_late':
      network.late.push(send);
      throw new TransportError('timeout', HOST);
    case 'request_twice':
      // Nothing could protect from that without a key.
      return isKeyless ? answered(tools, await send()) : sendTwice(tools, fault.answer);
    case 'left_early':
      await beforeFirstByte(tools, (connection) => connection.abort());
      throw new TransportError('reset', HOST);
    case 'service_dies_early':
      await beforeFirstByte(tools, () => host.kill());
      if (fault.returns) await network.restart();
      throw new TransportError('reset', HOST);
    case 'answer_lost':
      letLoose(readerOf(await send()), fault.service, network.loose);
      throw new TransportError('timeout', HOST);
    case 'locked':
      host.lockWrite(fault.write);
      return answered(tools, await send());
    case 'cut':
    case 'pause':
    case 'client_dies':
    case 'service_dies':
      return answered(tools, await send(), eventOf(fault, tools));
  }
}

function answered({ caller, network }: Attempt, response: Response, event?: BodyEvent) {
  const { process } = caller;
  const { clock } = network;
  return answerOver(response, event === undefined ? { process, clock } : { process, clock, event });
}

type MidBody = Extract<Fault, { kind: 'cut' | 'pause' | 'client_dies' | 'service_dies' }>;

function eventOf(fault: MidBody, { caller, host, network }: Attempt): BodyEvent {
  const cut = (service: ServiceEnd): BodyEvent['happen'] => {
    return async (body, reader) => {
      letLoose(reader, service, network.loose);
      body.end(cutOff());
      return false;
    };
  };
  const happen: Record<MidBody['kind'], BodyEvent['happen']> = {
    cut: cut(fault.kind === 'cut' ? fault.service : 'leaves'),
    async pause() {
      await caller.pause();
      return caller.process.isAlive();
    },
    async client_dies() {
      caller.process.die();
      return false;
    },
    async service_dies(body, reader) {
      host.kill();
      if (fault.kind === 'service_dies' && fault.returns) await network.restart();
      return cut('leaves')(body, reader);
    },
  };
  return {
    atByte: Math.floor(fault.at * network.audioBytes),
    happen: happen[fault.kind],
  };
}

/** Does something to a request that the engine works on, and that has nothing to send yet. */
async function beforeFirstByte(
  { host, send, network }: Attempt,
  happen: (connection: AbortController) => void,
): Promise<void> {
  const connection = new AbortController();
  const before = host.engine.speaking();
  const release = host.engine.holdBefore(0);
  // It may also be refused.
  const refused = new AbortController();
  const answer = send(connection.signal).finally(() => refused.abort());
  while (!refused.signal.aborted && host.engine.speaking() === before) await turn();
  host.engine.holdBefore(Number.POSITIVE_INFINITY);
  happen(connection);
  release();
  letLoose(readerOf(await answer), 'leaves', network.loose);
}

async function sendTwice(tools: Attempt, wanted: 0 | 1): Promise<TransportResponse> {
  const both = await Promise.all([tools.send(), tools.send()]);
  const other = both[1 - wanted] ?? both[0];
  tools.network.loose.draining.push(drain(readerOf(other)));
  return answered(tools, both[wanted]);
}

/** Returns a request of the client as one of the web. */
export function webRequest(request: TransportRequest, signal?: AbortSignal): Request {
  const { body, headers, method, url } = request;
  return new Request(url, {
    method,
    headers: { ...headers },
    ...(body === undefined ? {} : { body: Buffer.from(body) }),
    ...(signal === undefined ? {} : { signal }),
  });
}

function requireAlive({ process }: Caller): void {
  if (!process.isAlive()) throw new Killed('request');
}

function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
