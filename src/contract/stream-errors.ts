import type { ExitName } from './exit-codes.ts';

/**
 * How the command line ends for the error codes that come over a stream: realtime speech and the
 * `error` event of aligned speech (spec sections 6.1 and 7.4; contract, section 10).
 */
const EXITS: Readonly<Record<string, ExitName>> = {
  authentication_failed: 'auth',
  authentication_required: 'auth',
  already_authenticated: 'auth',
  permission_denied: 'auth',
  quota_exceeded: 'credits',
  session_limit_exceeded: 'rateLimited',
  provider_unavailable: 'service',
  provider_timeout: 'service',
  generation_failed: 'service',
  internal_error: 'service',
  billing_failed: 'service',
  connection_closed: 'network',
  client_backpressure: 'network',
  invalid_message: 'rejected',
  invalid_messagepack: 'rejected',
  invalid_state: 'rejected',
  idempotency_conflict: 'rejected',
  empty_segment: 'rejected',
  segment_too_large: 'rejected',
  unsupported_parameter: 'rejected',
  voice_not_found: 'rejected',
  model_not_found: 'rejected',
};

/** The exit of a stream's error code; undefined for a code that the spec does not name. */
export function streamErrorExit(code: string): ExitName | undefined {
  return Object.hasOwn(EXITS, code) ? EXITS[code] : undefined;
}
