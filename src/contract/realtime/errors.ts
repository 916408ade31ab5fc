import type { ExitName } from '../exit-codes.ts';

type RealtimeErrorCategory =
  | 'authentication'
  | 'message'
  | 'limits'
  | 'capability'
  | 'provider'
  | 'lifecycle';

interface RealtimeErrorInfo {
  readonly category: RealtimeErrorCategory;
  readonly retryable: boolean;
  /** Whether the error ends the session. If false, the client may continue on the same connection. */
  readonly terminal: boolean;
}

/**
 * The error codes in `error` events, with the properties of each error (docs/api/realtime.md#errors). v2 and v3 have
 * the same codes.
 */
export const REALTIME_ERRORS = {
  authentication_failed: { category: 'authentication', retryable: false, terminal: true },
  authentication_required: { category: 'authentication', retryable: false, terminal: true },
  already_authenticated: { category: 'authentication', retryable: false, terminal: false },
  permission_denied: { category: 'authentication', retryable: false, terminal: true },
  invalid_message: { category: 'message', retryable: false, terminal: false },
  invalid_messagepack: { category: 'message', retryable: false, terminal: true },
  invalid_state: { category: 'message', retryable: false, terminal: false },
  idempotency_conflict: { category: 'message', retryable: false, terminal: true },
  empty_segment: { category: 'message', retryable: false, terminal: false },
  segment_too_large: { category: 'message', retryable: false, terminal: false },
  session_limit_exceeded: { category: 'limits', retryable: false, terminal: true },
  quota_exceeded: { category: 'limits', retryable: false, terminal: true },
  client_backpressure: { category: 'limits', retryable: true, terminal: true },
  unsupported_parameter: { category: 'capability', retryable: false, terminal: false },
  voice_not_found: { category: 'capability', retryable: false, terminal: false },
  model_not_found: { category: 'capability', retryable: false, terminal: false },
  provider_unavailable: { category: 'provider', retryable: true, terminal: true },
  provider_timeout: { category: 'provider', retryable: true, terminal: true },
  generation_failed: { category: 'provider', retryable: true, terminal: true },
  billing_failed: { category: 'lifecycle', retryable: false, terminal: true },
  connection_closed: { category: 'lifecycle', retryable: true, terminal: true },
  internal_error: { category: 'lifecycle', retryable: true, terminal: true },
} as const satisfies Readonly<Record<string, RealtimeErrorInfo>>;

export type RealtimeErrorCode = keyof typeof REALTIME_ERRORS;

interface CloseCodeInfo {
  readonly meaning: string;
  /** Whether the client can reconnect after this close code. */
  readonly retryable: boolean;
  /** foley's exit code if the connection closes with this code and the service sent no `error` event. */
  readonly exit: ExitName;
}

/** WebSocket close codes of the client and the service (docs/api/realtime.md#errors; RFC 6455, section 7.4.1). */
export const CLOSE_CODES = {
  1000: { meaning: 'the session is over', retryable: false, exit: 'badAnswer' },
  1001: { meaning: 'the peer shuts down', retryable: false, exit: 'badAnswer' },
  1002: { meaning: 'a frame broke the protocol', retryable: false, exit: 'badAnswer' },
  1003: { meaning: 'a text frame was sent', retryable: false, exit: 'badAnswer' },
  1005: { meaning: 'no code was given', retryable: false, exit: 'badAnswer' },
  // The API does not say whether this code is retryable.
  1006: { meaning: 'the connection was lost', retryable: true, exit: 'network' },
  1007: { meaning: 'a message could not be decoded', retryable: false, exit: 'badAnswer' },
  1008: { meaning: 'the request was not permitted', retryable: false, exit: 'auth' },
  1009: { meaning: 'a message was too large', retryable: false, exit: 'badAnswer' },
  1011: { meaning: 'the service failed', retryable: false, exit: 'service' },
  1012: { meaning: 'the service restarts', retryable: true, exit: 'service' },
  1013: { meaning: 'the service is overloaded', retryable: true, exit: 'service' },
} as const satisfies Readonly<Record<number, CloseCodeInfo>>;

type CloseCode = keyof typeof CLOSE_CODES;

/** Returns the meaning of a WebSocket close code; undefined for an unknown code. */
export function closeCodeInfo(code: number): CloseCodeInfo | undefined {
  return isCloseCode(code) ? CLOSE_CODES[code] : undefined;
}

function isCloseCode(code: number): code is CloseCode {
  return Object.hasOwn(CLOSE_CODES, code);
}
