import type { ApiEvent } from '../../api/request.ts';
import type { ServiceEvent } from '../../service/running-service.ts';
import { counted, display } from '../../text/display.ts';

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

export type ClosingEvent = Extract<
  ServiceEvent,
  { readonly type: 'finishing-answers' | 'finishing-jobs' | 'jobs-left' }
>;

/** Formats a message about the requests and jobs that a closing service finishes or leaves unfinished. */
export function describeClosing({ type, count }: ClosingEvent): string {
  switch (type) {
    case 'finishing-answers':
      return `finishing ${counted(count, 'billed response')}; press Ctrl-C again to cut and refund ${them(count)}`;
    case 'finishing-jobs':
      return `finishing ${counted(count, 'accepted job')}; press Ctrl-C again to leave ${them(count)} to the next foley`;
    case 'jobs-left':
      return `${counted(count, 'job')} unfinished; the next foley that uses this data finishes ${them(count)}`;
  }
}

/** Returns whether an event can occur only while a service closes. */
export function isClosingEvent(event: ServiceEvent): event is ClosingEvent {
  return ['finishing-answers', 'finishing-jobs', 'jobs-left'].includes(event.type);
}

function them(count: number): string {
  return count === 1 ? 'it' : 'them';
}
