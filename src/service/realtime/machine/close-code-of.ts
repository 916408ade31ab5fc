import type { RealtimeErrorCode } from '../../../contract/realtime/error-codes.ts';
import { REALTIME_ERRORS } from '../../../contract/realtime/error-codes.ts';

/** The close codes that the service sends of itself (spec section 7.4; the numbers are those of the WebSocket). */
export const CLOSE = {
  done: 1000,
  textFrame: 1003,
  unreadable: 1007,
  refused: 1008,
  failed: 1011,
  restarts: 1012,
  tooBusy: 1013,
} as const;

/** With what a connection is closed behind a terminal error. */
export function closeCodeOf(code: RealtimeErrorCode): number {
  if (code === 'invalid_messagepack') return CLOSE.unreadable;
  if (code === 'connection_closed') return CLOSE.done;
  if (code === 'internal_error' || code === 'billing_failed' || code === 'generation_failed') {
    return CLOSE.failed;
  }
  return REALTIME_ERRORS[code].retryable ? CLOSE.tooBusy : CLOSE.refused;
}
