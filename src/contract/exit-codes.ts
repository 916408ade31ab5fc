export const EXIT_CODES = {
  ok: { code: 0, meaning: 'everything asked for was delivered and verified' },
  internal: { code: 1, meaning: 'internal error (a bug)' },
  usage: { code: 2, meaning: 'usage or configuration; nothing billable was sent' },
  partial: {
    code: 3,
    meaning:
      'finished, but only part was delivered (partial job or alignment, words that the voice cannot speak, some items failed)',
  },
  auth: { code: 4, meaning: 'authentication: key missing, empty, rejected, or not permitted' },
  rejected: { code: 20, meaning: 'the service rejected the request, or the job failed' },
  credits: { code: 21, meaning: 'out of credits or API quota' },
  rateLimited: { code: 22, meaning: 'rate limited beyond the retries' },
  service: { code: 23, meaning: 'a 5xx answer beyond the retries' },
  network: {
    code: 24,
    meaning: 'network: name, connection, TLS or timeout, and the request is not billed',
  },
  badAnswer: {
    code: 25,
    meaning:
      'the answer is unusable: cut, reset, idle, empty, wrong type or bytes, unexpected redirect; what arrived is kept',
  },
  unknownOutcome: {
    code: 26,
    meaning: 'a billed request was sent and no answer came: outcome unknown',
  },
  lost: { code: 27, meaning: 'billed, and the output cannot be had again' },
  deadline: { code: 28, meaning: 'deadline reached while the job still runs; its id is printed' },
  output: { code: 30, meaning: 'output cannot be written, or the player failed' },
  exists: { code: 31, meaning: 'the output exists and may not be replaced' },
  state: { code: 32, meaning: 'state is unusable: locked, unwritable, or of a newer version' },
  hungUp: { code: 129, meaning: 'ended by SIGHUP' },
  interrupted: { code: 130, meaning: 'ended by SIGINT' },
  terminated: { code: 143, meaning: 'ended by SIGTERM' },
} as const;

export type ExitName = keyof typeof EXIT_CODES;
export type ExitCode = (typeof EXIT_CODES)[ExitName]['code'];

const STREAM_ERROR_EXITS: Readonly<Record<string, ExitName>> = {
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

/**
 * Returns foley's exit code for an error code in a realtime session or in a stream with word times; undefined for an
 * unknown error code.
 */
export function streamErrorExit(code: string): ExitName | undefined {
  return Object.hasOwn(STREAM_ERROR_EXITS, code) ? STREAM_ERROR_EXITS[code] : undefined;
}
