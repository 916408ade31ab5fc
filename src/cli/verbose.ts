import type { ApiEvent } from '../api/observer.ts';
import { display } from '../text/display.ts';

/** One line of `--verbose`: method, URL, status, milliseconds, request id. */
export function describeEvent(event: ApiEvent): string {
  if (event.type === 'retry') {
    const seconds = (event.delayMs / 1000).toFixed(1);
    return display(`foley: again in ${seconds} s (${event.reason}) ${event.requestId}`);
  }
  const outcome = event.type === 'answer' ? event.status : event.reason;
  const { method, ms, requestId, url } = event;
  return display(`foley: ${method} ${url} ${outcome} ${Math.round(ms)} ms ${requestId}`);
}
