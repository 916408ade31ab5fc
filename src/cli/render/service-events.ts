import type { ApiEvent } from '../../api/request.ts';
import type { ServiceEvent } from '../../service/running-service.ts';
import { counted, display } from '../../text/display.ts';
import { Interrupted } from '../signals.ts';

/** Formats a response, a failed request or a retry as a line for `--verbose`. */
export function describeEvent(event: ApiEvent): string {
  if (event.type === 'retry') {
    const seconds = (event.delayMs / 1000).toFixed(1);
    return display(`foley: retrying in ${seconds} s (${event.reason}) ${event.requestId}`);
  }
  const outcome = event.type === 'response' ? event.status : event.reason;
  const { method, ms, requestId, url } = event;
  return display(`foley: ${method} ${url} ${outcome} ${Math.round(ms)} ms ${requestId}`);
}

export type ClosingEvent = Extract<ServiceEvent, { readonly type: (typeof CLOSING)[number] }>;

const CLOSING = [
  'finishing-answers',
  'finishing-jobs',
  'finishing-found-jobs',
  'jobs-left',
] as const satisfies readonly ServiceEvent['type'][];

/**
 * Formats a message about the requests and jobs that a closing service finishes or leaves unfinished.
 * @param signal aborted if the user has stopped the command
 */
export function describeClosing({ type, count }: ClosingEvent, signal: AbortSignal): string {
  const stop = stopHint(signal);
  switch (type) {
    case 'finishing-answers':
      return `finishing ${counted(count, 'billed response')}; ${stop} to cut and refund ${them(count)}`;
    case 'finishing-jobs':
      return `finishing ${counted(count, 'accepted job')}; ${stop} to leave ${them(count)} to the next foley`;
    case 'finishing-found-jobs':
      return `finishing ${counted(count, 'job')} that an earlier command left; ${stop} to leave ${them(count)} to the next foley`;
    case 'jobs-left':
      return `${counted(count, 'job')} unfinished; the next foley that uses this data finishes ${them(count)}`;
  }
}

/** Returns whether an event can occur only while a service closes. */
export function isClosingEvent(event: ServiceEvent): event is ClosingEvent {
  return CLOSING.some((type) => type === event.type);
}

/** Returns how the user stops a command at once, such as `press Ctrl-C again` after the first Ctrl-C. */
export function stopHint({ aborted, reason }: AbortSignal): string {
  if (!aborted) return 'press Ctrl-C';
  return reason instanceof Interrupted && reason.stopSignal !== 'SIGINT'
    ? `send ${reason.stopSignal} again`
    : 'press Ctrl-C again';
}

function them(count: number): string {
  return count === 1 ? 'it' : 'them';
}
