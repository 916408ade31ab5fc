import type { TObject } from 'typebox';
import { Type } from 'typebox';
import type {
  Auth,
  ClientMessage as ContractMessage,
  Flush,
  Input,
  Ping,
  Stop,
  Text,
} from '../../contract/realtime/client-messages.ts';
import { CLIENT_MESSAGES } from '../../contract/realtime/client-messages.ts';
import type { RealtimeErrorCode } from '../../contract/realtime/errors.ts';
import { v2FieldName, REALTIME_MODES } from '../../contract/realtime/protocols.ts';
import type { RealtimeMode, RealtimeProtocol } from '../../contract/realtime/protocols.ts';
import { mapOf } from '../../contract/schemas.ts';
import type { FrameMessage } from '../../realtime/frames.ts';
import { requireValid } from '../http/validation.ts';
import { ServiceError } from '../service-error.ts';

/** A `start` message. Its field `request` is not validated yet, because the schema depends on the client's profile. */
export interface StartMessage {
  readonly event: 'start';
  readonly mode: RealtimeMode;
  readonly eventId: string | undefined;
  readonly requestId: string | undefined;
  readonly retryFailed: boolean;
  readonly request: Readonly<Record<string, unknown>>;
}

export type ParsedMessage = Auth | StartMessage | Input | Text | Flush | Stop | Ping;

type ReadMessage =
  | { readonly kind: 'message'; readonly message: ParsedMessage }
  | { readonly kind: 'problem'; readonly problem: Problem };

/** Value that replaces a missing `event` field in a client message. */
export const NO_EVENT = '';

const MODES: Readonly<Record<ContractMessage['event'], readonly RealtimeMode[]>> = {
  auth: REALTIME_MODES,
  start: REALTIME_MODES,
  ping: REALTIME_MODES,
  input: ['simple'],
  text: ['reliable'],
  flush: ['reliable'],
  stop: ['reliable'],
};

/** Returns the modes (`simple`, `reliable`) in which a client may send an event; `undefined` for an unknown event. */
export function modesOf(event: string): readonly RealtimeMode[] | undefined {
  return Object.entries(MODES).find(([name]) => name === event)?.[1];
}

const { request: _inner, ...startFields } = CLIENT_MESSAGES.v3.start.properties;
const StartEnvelope = Type.Object({
  ...startFields,
  request: mapOf(Type.Unknown()),
});

const { text: _bounded, ...inputFields } = CLIENT_MESSAGES.v3.input.properties;
// Without a maximum length, because the state machine limits the text of all inputs together.
const InputOfAnyLength = Type.Object({ ...inputFields, text: Type.String({ minLength: 1 }) });

/**
 * Validates a message from the client (docs/api/realtime.md). Ignores unknown fields.
 * @param mode mode of the current request; `undefined` before `start`
 */
export function readClientMessage(
  frame: FrameMessage,
  protocol: RealtimeProtocol,
  mode: RealtimeMode | undefined,
): ReadMessage {
  try {
    return { kind: 'message', message: messageOf(frame, mode) };
  } catch (error) {
    if (error instanceof ServiceError)
      return { kind: 'problem', problem: problemOf(error, protocol) };
    throw error;
  }
}

/** Converts a validation error to an `error` message, with the field names of the client's protocol version. */
export function problemOf(
  { details, message }: ServiceError,
  protocol: RealtimeProtocol,
  within = '',
): Problem {
  const [first] = Array.isArray(details?.['errors']) ? details['errors'] : [];
  const field = String(Object(first).field ?? '');
  const path = protocol === 'v2' ? field.split('.').map(v2FieldName).join('.') : field;
  const text = message.startsWith(field) ? `${path}${message.slice(field.length)}` : message;
  return { code: 'invalid_message', message: within + text, path: within + path };
}

function messageOf(frame: FrameMessage, mode: RealtimeMode | undefined): ParsedMessage {
  const { event } = frame;
  switch (event) {
    case 'auth':
      return valid(CLIENT_MESSAGES.v3.auth, frame);
    case 'start':
      return startOf(frame);
    case 'input':
      return valid(InputOfAnyLength, frame);
    case 'text':
      return valid(CLIENT_MESSAGES.v3.text, frame);
    case 'flush':
      return valid(CLIENT_MESSAGES.v3.flush, frame);
    case 'stop':
      return valid(CLIENT_MESSAGES.v3.stop, frame);
    case 'ping': {
      const ping = valid(CLIENT_MESSAGES.v3.ping, frame);
      if (mode === 'reliable') requireField('eventId', ping.eventId);
      return ping;
    }
    case NO_EVENT:
      throw invalid('event', 'event is missing; it is required');
    default:
      throw invalid('event', 'event is not an event of a client');
  }
}

function startOf(frame: FrameMessage): StartMessage {
  const {
    eventId,
    mode = 'simple',
    request,
    requestId,
    retryFailed = false,
  } = valid(StartEnvelope, frame);
  if (mode === 'reliable') {
    requireField('eventId', eventId);
    requireField('requestId', requestId);
  } else if (retryFailed) {
    throw invalid('retryFailed', 'retryFailed requires reliable mode');
  }
  return { event: 'start', mode, eventId, requestId, retryFailed, request };
}

function valid<Schema extends TObject>(schema: Schema, frame: FrameMessage) {
  return requireValid(schema, withoutNulls(schema, frame), 'The message');
}

/** Removes optional fields that are null: many JSON and MessagePack libraries write missing fields so. */
export function withoutNulls(
  { properties, required }: TObject,
  fields: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const isRequired = (name: string): boolean =>
    Array.isArray(required) && required.some((one) => one === name);
  const isMissing = (name: string): boolean =>
    fields[name] === null && Object.hasOwn(properties, name) && !isRequired(name);
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !isMissing(name)));
}

function requireField(field: string, value: unknown): void {
  if (value === undefined) throw invalid(field, `${field} is missing; reliable mode requires it`);
}

function invalid(field: string, message: string): ServiceError {
  return new ServiceError('ERR_INVALID_REQUEST', message, {
    details: { errors: [{ field, message }] },
  });
}

export interface Problem {
  readonly code: RealtimeErrorCode;
  readonly message: string;
  /** Path of the invalid field, with the field names of the client's protocol version. */
  readonly path?: string | undefined;
  readonly stage?: string | undefined;
}
