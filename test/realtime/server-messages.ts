import { assumed, BOTH, optional, required } from './client-messages.ts';
import type { Field, MessageRow, Mode } from './messages.ts';

/** Section 3.2. */
export const REQUEST_STATES = ['running', 'completed', 'failed_retryable', 'failed_terminal'];
/** Section 3.3. */
export const FINISH_REASONS = ['completed', 'error', 'timeout', 'server_draining'];

/** Section 7.4. The spec lists no v3 values, so any code is valid there. */
export const V2_ERROR_CODES = [
  'authentication_failed',
  'authentication_required',
  'already_authenticated',
  'permission_denied',
  'invalid_message',
  'invalid_messagepack',
  'invalid_state',
  'idempotency_conflict',
  'empty_segment',
  'segment_too_large',
  'session_limit_exceeded',
  'quota_exceeded',
  'client_backpressure',
  'unsupported_parameter',
  'voice_not_found',
  'model_not_found',
  'provider_unavailable',
  'provider_timeout',
  'generation_failed',
  'billing_failed',
  'connection_closed',
  'internal_error',
];

const RELIABLE: readonly Mode[] = ['reliable'];

/** The fields of every v2 event; the spec does not require them in v3. */
const EVERY_EVENT: readonly Field[] = [
  required('eventId', 'filled', { version: 'v2' }),
  required('traceId', 'filled', { version: 'v2' }),
  required('timestamp', 'count', { version: 'v2' }),
  optional('inReplyTo', 'filled'),
];

/** Fields of `ready` and `audio` for pcm. */
export const PCM_FIELDS: readonly Field[] = [
  required('sampleRate', 'positive'),
  required('channels', 'positive'),
  required('bitDepth', 'positive'),
];

/** Section 6.2, the table of server events. */
export const SERVER_MESSAGES: readonly MessageRow[] = [
  row('authenticated', BOTH, [
    required('sessionId', 'filled'),
    required('site', 'any'),
    required('protocolVersion', 'any'),
    required('quota', 'any'),
  ]),
  row('ready', BOTH, [
    required('mode', 'string', { version: 'v2', values: BOTH }),
    required('requestId', 'id'),
    required('sessionId', 'filled'),
    required('protocolVersion', 'any', { version: 'v3' }),
    required('provider', 'filled', { version: 'v2' }),
    required('modelId', 'filled'),
    required('voiceId', 'filled'),
    required('format', 'filled'),
    required('effectiveRequest', 'map', { version: 'v3' }),
    optional('warnings', 'list'),
  ]),
  row('input_ack', RELIABLE, [
    required('requestId', 'id'),
    assumed('acceptedSequence', 'positive'),
    assumed('acceptedCharacters', 'count'),
    assumed('bufferedCharacters', 'count'),
    assumed('remainingCapacity', 'count'),
  ]),
  row('segment_accepted', RELIABLE, [
    required('requestId', 'id'),
    required('segmentId', 'id'),
    assumed('segmentCharacters', 'count'),
    assumed('reservedUnits', 'number'),
  ]),
  row('audio', BOTH, [
    required('requestId', 'id'),
    required('sessionId', 'filled'),
    required('segmentId', 'id', { mode: 'reliable' }),
    required('sequence', 'count'),
    required('audio', 'bytes'),
    required('format', 'filled'),
  ]),
  row('usage', BOTH, [
    required('requestId', 'id'),
    required('segmentId', 'id', { mode: 'reliable' }),
    required('segmentUnits', 'number'),
    required('sessionUnits', 'number'),
    required('quotaRemaining', 'number'),
    required('audioBytes', 'count'),
  ]),
  row('segment_completed', RELIABLE, [
    required('requestId', 'id'),
    required('segmentId', 'id'),
    assumed('segmentUnits', 'number'),
    assumed('audioBytes', 'count'),
  ]),
  row('request_status', BOTH, [
    assumed('requestId', 'id'),
    required('state', 'string', { values: REQUEST_STATES }),
    required('retryable', 'boolean'),
    required('units', 'number'),
    required('resultAvailable', 'boolean'),
    optional('segments', 'list'),
  ]),
  row('warning', BOTH, [
    optional('requestId', 'id'),
    required('code', 'filled'),
    required('message', 'string'),
  ]),
  row('error', BOTH, [
    optional('requestId', 'id'),
    optional('sessionId', 'filled'),
    required('code', 'filled'),
    required('message', 'string'),
    required('retryable', 'boolean'),
    required('terminal', 'boolean'),
    optional('stage', 'string'),
    optional('path', 'any'),
  ]),
  row('finish', BOTH, [
    required('requestId', 'id'),
    required('sessionId', 'filled'),
    required('reason', 'string', { values: FINISH_REASONS }),
    required('units', 'number'),
  ]),
  row('pong', BOTH, [
    required('sessionId', 'filled'),
    optional('requestId', 'id'),
    required('timestamp', 'count'),
  ]),
];

function row(event: string, modes: readonly Mode[], fields: readonly Field[]): MessageRow {
  const own = new Set(fields.map(({ name }) => name));
  const common = EVERY_EVENT.filter(({ name }) => !own.has(name));
  return { event, sender: 'server', modes, fields: [...common, ...fields] };
}
