import type { ServiceEvent } from '../service/running-service.ts';
import { counted } from '../text/counted.ts';

/** What an embedded service tells when it closes. */
export type ClosingEvent = Extract<
  ServiceEvent,
  { readonly type: 'finishing-answers' | 'finishing-jobs' | 'jobs-left' }
>;

/** What a service that closes waits for, or leaves, and how long that can be cut short. */
export function describeClosing({ type, count }: ClosingEvent): string {
  switch (type) {
    case 'finishing-answers':
      return `finishing ${counted(count, 'answer')} that ${count === 1 ? 'is' : 'are'} paid for; the next Ctrl-C cuts and refunds ${them(count)}`;
    case 'finishing-jobs':
      return `finishing ${counted(count, 'job')} that ${count === 1 ? 'was' : 'were'} accepted; the next Ctrl-C leaves ${them(count)} to the next foley`;
    case 'jobs-left':
      return `${counted(count, 'job')} ${count === 1 ? 'is' : 'are'} left; the next foley that uses this data finishes ${them(count)}`;
  }
}

/** Whether an event is one of those. */
export function isClosingEvent(event: ServiceEvent): event is ClosingEvent {
  return ['finishing-answers', 'finishing-jobs', 'jobs-left'].includes(event.type);
}

function them(count: number): string {
  return count === 1 ? 'it' : 'them';
}
