import type { TransportResponse } from '../../src/api/transport/exchange.ts';
import { ResponseBody } from '../../src/api/transport/exchange.ts';
import { TransportError } from '../../src/api/transport/transport-error.ts';
import type { Clock } from '../../src/system/clock.ts';
import { Killed } from '../harness/failing-files.ts';
import type { ServiceEnd } from './faults.ts';
import type { SimulatedProcess } from './simulated-process.ts';

export const HOST = 'service.test';

export type Reader = ReadableStreamDefaultReader<Uint8Array>;

/** The service's ends of connections whose client is gone. */
export interface LooseEnds {
  /** Drains that are under way. */
  readonly draining: Promise<void>[];
  /** Those that wait. */
  readonly waiting: Reader[];
}

/** An event after a number of bytes; returns whether the connection continues. */
export interface BodyEvent {
  readonly atByte: number;
  happen(body: ResponseBody, reader: Reader): Promise<boolean>;
}

export function cutOff(cause?: unknown): TransportError {
  return new TransportError('cut', HOST, cause);
}

/** What the service's end does from now on. */
export function letLoose(reader: Reader, end: ServiceEnd, loose: LooseEnds): void {
  if (end === 'waits') loose.waiting.push(reader);
  else if (end === 'ends') loose.draining.push(drain(reader));
  else void hangUp(reader);
}

export async function drain(reader: Reader): Promise<void> {
  try {
    while (!(await reader.read()).done);
  } catch {
    // The service cut it.
  }
}

/** An answer of the service as the client's side of the connection gives it. */
export function answerOver(
  response: Response,
  { process, clock, event }: { process: SimulatedProcess; clock: Clock; event?: BodyEvent },
): TransportResponse {
  const reader = readerOf(response);
  const body = new ResponseBody({
    clock,
    host: HOST,
    idleTimeoutMs: 60_000,
    hold: () => undefined,
    release: () => undefined,
    abandon: () => void hangUp(reader),
  });
  process.onDeath(() => {
    body.end(new Killed('connection'));
    void hangUp(reader);
  });
  void pump(reader, body, response.ok ? event : undefined);
  const { status } = response;
  const headers = new Map(response.headers);
  return { status, headers, framing: 'chunked', contentLength: undefined, body };
}

export function readerOf(response: Response): Reader {
  return (response.body ?? new Blob([]).stream()).getReader();
}

async function pump(
  reader: Reader,
  body: ResponseBody,
  event: BodyEvent | undefined,
): Promise<void> {
  let due = event;
  let sent = 0;
  try {
    for (;;) {
      if (due !== undefined && sent >= due.atByte) {
        if (!(await due.happen(body, reader))) return;
        due = undefined;
      }
      const { done, value } = await reader.read();
      if (done) return body.end();
      const first = due === undefined ? value.length : Math.min(value.length, due.atByte - sent);
      body.push(value.subarray(0, first));
      sent += value.length;
      if (due !== undefined && sent >= due.atByte) {
        if (!(await due.happen(body, reader))) return;
        due = undefined;
      }
      if (first < value.length) body.push(value.subarray(first));
    }
  } catch (error) {
    body.end(cutOff(error));
  }
}

async function hangUp(reader: Reader): Promise<void> {
  await reader.cancel().catch(() => undefined);
}
