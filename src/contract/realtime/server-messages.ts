import { Type } from 'typebox';
import type { Static, TObject, TProperties } from 'typebox';
import { UNSPOKEN_PATTERN } from '../unspoken.ts';
import { FINISH_REASONS, REALTIME_FORMATS, REALTIME_MODES, REQUEST_STATES } from './protocols.ts';
import { ProductStartRequest, StartRequest } from './client-messages.ts';

// foley chose some field names in this file: `acceptedSequence`, `acceptedCharacters`, `bufferedCharacters`,
// `remainingCapacity`, `segmentCharacters`, `reservedUnits`, `warnings`, `unspoken` and the fields of a segment.
const commonFields = {
  eventId: Type.String({ description: 'Id of the event, unique on its connection' }),
  traceId: Type.String({ description: 'Trace id of the connection (report it with errors)' }),
  timestamp: Type.Integer({ minimum: 0, description: 'Unix milliseconds' }),
  inReplyTo: Type.Optional(
    Type.String({ description: 'eventId of the message that this one replies to' }),
  ),
};

function message<Event extends string, Fields extends TProperties>(event: Event, fields: Fields) {
  return Type.Object({ event: Type.Literal(event), ...commonFields, ...fields });
}

const requestId = Type.String();
const maybeRequestId = Type.Optional(requestId);
const sessionId = Type.String();
const segmentId = Type.String({
  description: 'Id of the segment; in simple mode, the whole input is one segment',
});
const count = Type.Integer({ minimum: 0 });
const units = Type.Number({ minimum: 0, description: 'Number of billed units' });
/** The format of the audio of a request. */
const audioFormat = {
  format: Type.Enum([...REALTIME_FORMATS]),
  sampleRate: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'Sample rate in hertz (present only if the format is pcm)',
    }),
  ),
  channels: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'Number of channels (present only if the format is pcm)',
    }),
  ),
  bitDepth: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'Bits per sample (present only if the format is pcm)',
    }),
  ),
};

export type AudioFormatFields = Static<TObject<typeof audioFormat>>;

const notice = { code: Type.String(), message: Type.String() };
const warning = {
  ...notice,
  path: Type.Optional(Type.String({ description: 'Path of the field' })),
};
const ready = {
  requestId,
  sessionId,
  modelId: Type.String(),
  voiceId: Type.String(),
  ...audioFormat,
};
const Ready = message('ready', {
  ...ready,
  protocolVersion: Type.String(),
  mode: Type.Optional(Type.Enum([...REALTIME_MODES])),
  effectiveRequest: StartRequest,
  warnings: Type.Optional(Type.Array(Type.Object(warning))),
});
const ReadyV2 = message('ready', {
  ...ready,
  mode: Type.Enum([...REALTIME_MODES]),
  provider: Type.String(),
  effectiveRequest: Type.Optional(ProductStartRequest),
});

const usage = {
  requestId,
  segmentId,
  segmentUnits: units,
  sessionUnits: units,
  quotaRemaining: Type.Integer(),
  audioBytes: count,
};
const creditsUsed = Type.Integer({
  minimum: 0,
  description: 'Credits charged for the request so far (extension of this service)',
});

const State = Type.Enum([...REQUEST_STATES], {
  description: 'State of the request or segment (only failed_retryable can be retried)',
});

const SegmentRecord = Type.Object({
  segmentId: Type.String({ description: 'Id of the segment, which the client chose' }),
  state: Type.Optional(State),
  sequence: Type.Optional(
    Type.Integer({
      minimum: 1,
      description: 'Sequence number of the last text message in the segment',
    }),
  ),
  characters: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Number of characters in the segment' }),
  ),
  units: Type.Optional(units),
  audioBytes: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Size of the audio of the segment in bytes' }),
  ),
});

/**
 * The message that reports the status of a realtime request. The HTTP endpoint for this status returns the same fields.
 */
export const RequestStatus = message('request_status', {
  requestId: maybeRequestId,
  state: State,
  retryable: Type.Boolean({ description: 'Whether the client may send the failed segments again' }),
  units,
  resultAvailable: Type.Boolean({
    description: 'Whether the audio of completed segments can be downloaded',
  }),
  segments: Type.Optional(
    Type.Array(SegmentRecord, {
      description: 'Segments of the request (present only if their audio can be downloaded)',
    }),
  ),
});

const sameInBoth = {
  authenticated: message('authenticated', {
    sessionId,
    site: Type.String(),
    protocolVersion: Type.String(),
    quota: Type.Integer({ description: 'Remaining quota' }),
  }),
  input_ack: message('input_ack', {
    requestId,
    acceptedSequence: Type.Integer({
      minimum: 1,
      description: 'Sequence number of the last accepted text message',
    }),
    acceptedCharacters: count,
    bufferedCharacters: Type.Integer({
      minimum: 0,
      description: 'Characters buffered since the last flush',
    }),
    remainingCapacity: Type.Integer({
      minimum: 0,
      description: 'Number of characters that still fit in the segment',
    }),
  }),
  segment_accepted: message('segment_accepted', {
    requestId,
    segmentId,
    segmentCharacters: count,
    reservedUnits: units,
  }),
  audio: message('audio', {
    requestId,
    sessionId,
    segmentId,
    sequence: Type.Integer({
      minimum: 1,
      description: 'Sequence number of this audio message in the request, from 1',
    }),
    audio: Type.Unsafe<Uint8Array>({ description: 'The next bytes of the audio, as binary data' }),
    ...audioFormat,
  }),
  segment_completed: message('segment_completed', {
    requestId,
    segmentId,
    segmentUnits: units,
    audioBytes: count,
  }),
  request_status: RequestStatus,
  warning: message('warning', {
    requestId: maybeRequestId,
    ...warning,
    segmentId: Type.Optional(
      Type.String({
        description:
          'Id of the segment in which the voice leaves out characters (reliable mode only)',
      }),
    ),
    unspoken: Type.Optional(
      Type.String({
        pattern: UNSPOKEN_PATTERN,
        description:
          'Positions of the letters and digits that the voice does not speak: ranges of code points of the segment, such as 6-8,20-22 (extension of this service)',
      }),
    ),
  }),
  error: message('error', {
    requestId: maybeRequestId,
    sessionId: Type.Optional(sessionId),
    ...notice,
    retryable: Type.Boolean(),
    terminal: Type.Boolean(),
    stage: Type.Optional(
      Type.String({
        description: 'Processing step that failed, such as generation or billing',
      }),
    ),
    path: Type.Optional(Type.String({ description: 'Path of the invalid field' })),
  }),
  finish: message('finish', {
    requestId,
    sessionId,
    reason: Type.Enum([...FINISH_REASONS]),
    units,
  }),
  pong: message('pong', { sessionId, requestId: maybeRequestId }),
};

/** The schemas of all server messages, by protocol version and then by `event`. Fields have v3 names. */
export const SERVER_MESSAGES = {
  v2: { ...sameInBoth, ready: ReadyV2, usage: message('usage', usage) },
  v3: {
    ...sameInBoth,
    ready: Ready,
    usage: message('usage', { ...usage, creditsUsed: Type.Optional(creditsUsed) }),
  },
} as const;

type Messages = (typeof SERVER_MESSAGES)[keyof typeof SERVER_MESSAGES];
/** A message from the server in either protocol version, with v3 field names. */
export type ServerMessage = { [Event in keyof Messages]: Static<Messages[Event]> }[keyof Messages];
