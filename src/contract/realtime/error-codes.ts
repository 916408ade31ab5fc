export type RealtimeErrorCategory =
  | 'authentication'
  | 'message'
  | 'limits'
  | 'capability'
  | 'provider'
  | 'lifecycle';

export interface RealtimeErrorFacts {
  readonly category: RealtimeErrorCategory;
  /** The same request may be tried again. */
  readonly retryable: boolean;
  /** The session ends; otherwise the client may correct itself on the same connection. */
  readonly terminal: boolean;
}

/**
 * The codes of `error` events (spec section 7.4), v3's being those of v2. The spec says which code is
 * of which category; `retryable` and `terminal` are what the embedded service sends, and what an event
 * says itself comes first. How the command line ends for each is in `stream-errors.ts`.
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
} as const satisfies Readonly<Record<string, RealtimeErrorFacts>>;

export type RealtimeErrorCode = keyof typeof REALTIME_ERRORS;
