import type { Redactor } from '../../src/api/redact.ts';
import { createRedactor } from '../../src/api/redact.ts';
import type { Io } from '../../src/cli/io.ts';
import type { GlobalOptions } from '../../src/cli/flags/global.ts';
import { display, toJson, counted } from '../../src/text/display.ts';
import type { ClosingEvent } from '../../src/cli/render/service-events.ts';
import { describeClosing } from '../../src/cli/render/service-events.ts';
import type { FaultEffect, JobFault } from '../../src/service/http/faults.ts';
import type { ServiceEvent } from '../../src/service/running-service.ts';
import { printFaultEffect } from '../../src/embedded/fault-rule.ts';

type LogEvent = ServiceEvent | LifeEvent;

/** The start or the end of the service. */
type LifeEvent =
  | { readonly type: 'started'; readonly baseUrl: string }
  | { readonly type: 'stopping' }
  | { readonly type: 'stopped' };

/**
 * Creates the log of `foley serve`. `report` writes an event to the log, and `warn` a warning. `hide` sets the secrets
 * that are masked in later lines.
 * @param now returns milliseconds since the epoch
 */
export function createServeLog({
  globals,
  io,
  now,
  signal,
}: {
  /** Aborted when the user stops the service. */
  readonly signal: AbortSignal;
  readonly globals: GlobalOptions;
  readonly io: Pick<Io, 'complain' | 'warn'>;
  readonly now: () => number;
}) {
  let redactor = createRedactor([]);
  const time = (): string => new Date(now()).toISOString();
  // Masks the values before they are escaped: an escaped secret would not be found.
  const writeJson = (line: LogLine): void => {
    const fields = Object.entries(line).map(([name, value]) => [
      name,
      typeof value === 'string' ? masked(value, redactor) : value,
    ]);
    io.complain(toJson(Object.fromEntries(fields)));
  };
  return {
    hide: (secrets: readonly string[]): void => {
      redactor = createRedactor(secrets);
    },
    warn: (message: string): void => {
      if (globals.json === true) writeJson({ time: time(), event: 'warning', message });
      else io.warn(`foley: ${message}`);
    },
    report: (event: LogEvent): void => {
      if (!isLogged(event, globals)) return;
      if (globals.json === true) writeJson(dataOf(event, time()));
      else if (!isLifeEvent(event)) {
        const prefix = PREFIXED.has(event.type) ? 'foley: ' : '';
        io.complain(display(masked(prefix + describe(event, time(), signal), redactor)));
      }
    },
  };
}

// A key may have characters that a path must escape, and clients choose which others they escape.
function masked(text: string, redactor: Redactor): string {
  const decoded = text.replaceAll(/(?:%[\da-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      return escapes;
    }
  });
  const hidden = redactor.text(decoded);
  return hidden === decoded ? redactor.text(text) : hidden;
}

const PREFIXED: ReadonlySet<ServiceEvent['type']> = new Set([
  'failure',
  'finishing-answers',
  'finishing-jobs',
  'finishing-found-jobs',
  'jobs-left',
]);

const DETAILS: ReadonlySet<LogEvent['type']> = new Set([
  'started',
  'stopping',
  'stopped',
  'request',
  'job-fault',
  'engine-restarted',
]);

// A person sees the start and the end in the terminal.
function isLifeEvent(event: LogEvent): event is LifeEvent {
  return event.type === 'started' || event.type === 'stopping' || event.type === 'stopped';
}

function isLogged({ type }: LogEvent, { quiet, verbose }: GlobalOptions): boolean {
  if (type === 'failure') return true;
  return DETAILS.has(type) ? verbose === true : quiet !== true;
}

function describe(event: ServiceEvent, time: string, signal: AbortSignal): string {
  switch (event.type) {
    case 'request': {
      const { account = '-', credits = '0', durationMs, method, path, requestId, status } = event;
      const faults = event.faults.map((effect) => ` [${printFaultEffect(effect)}]`).join('');
      const cost = counted(credits, 'credit');
      const ms = `${Math.round(durationMs)} ms`;
      return `${time} ${method} ${path} ${status} ${ms} ${requestId} ${account} ${cost}${faults}`;
    }
    case 'job-fault':
      return `${time} job ${event.jobId} [job=${event.outcome}]`;
    case 'engine-restarted':
      return `${time} engine ${event.engine} restarted`;
    case 'failure':
      return `${event.requestId} failed: ${messageOf(event.error)}`;
    case 'finishing-answers':
    case 'finishing-jobs':
    case 'finishing-found-jobs':
    case 'jobs-left':
      return describeClosing(event, signal);
  }
}

/** A line of the log on stderr with `--json`. */
export type LogLine =
  | LifeLine
  | WarningLine
  | RequestLogLine
  | JobFaultLine
  | EngineLine
  | FailureLine
  | ClosingLine;

interface LogTime {
  /** ISO 8601. */
  readonly time: string;
}

/** The start or the end of the service, with `--verbose`. */
interface LifeLine extends LogTime {
  readonly event: LifeEvent['type'];
  /** With `started`. */
  readonly baseUrl?: string;
}

interface WarningLine extends LogTime {
  readonly event: 'warning';
  readonly message: string;
}

/** A request, with `--verbose`. */
interface RequestLogLine extends LogTime {
  readonly event: 'request';
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly ms: number;
  readonly requestId: string;
  readonly account: string | null;
  readonly credits: number;
  /** The effects of the fault rules that the request met. */
  readonly faults: readonly string[];
}

/** A job that a fault rule makes fail, with `--verbose`. */
interface JobFaultLine extends LogTime {
  readonly event: 'job-fault';
  readonly jobId: string;
  readonly outcome: JobFault;
}

/** An engine that was started again after its process or thread ended unexpectedly, with `--verbose`. */
interface EngineLine extends LogTime {
  readonly event: 'engine-restarted';
  /** Name of the engine. */
  readonly engine: string;
}

/** A request or a job that failed because of an internal error. */
interface FailureLine extends LogTime {
  readonly event: 'failure';
  /** Id of the request or the job. */
  readonly requestId: string;
  readonly message: string;
}

/** Responses and jobs that the closing service finishes, or leaves. */
interface ClosingLine extends LogTime {
  readonly event: ClosingEvent['type'];
  readonly count: number;
}

function dataOf(event: LogEvent, time: string): LogLine {
  if (event.type === 'started') return { time, event: event.type, baseUrl: event.baseUrl };
  if (isLifeEvent(event)) return { time, event: event.type };
  if (event.type === 'failure') {
    const { requestId, type } = event;
    return { time, event: type, requestId, message: messageOf(event.error) };
  }
  if (event.type === 'job-fault') {
    const { jobId, outcome, type } = event;
    return { time, event: type, jobId, outcome };
  }
  if (event.type === 'engine-restarted') {
    return { time, event: event.type, engine: event.engine };
  }
  if (event.type !== 'request') return { time, event: event.type, count: event.count };
  const { account, credits, durationMs, faults, method, path, requestId, status } = event;
  return {
    time,
    event: event.type,
    method,
    path,
    status,
    ms: Math.round(durationMs),
    requestId,
    account: account ?? null,
    credits: Number(credits ?? 0),
    faults: faults.map((effect: FaultEffect) => printFaultEffect(effect)),
  };
}

// The message of the error is written for clients; the cause has the details.
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause, message } = error;
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}
