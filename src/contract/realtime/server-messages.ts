import { Type } from 'typebox';
import type { Static } from 'typebox';
import { FINISH_REASONS, REALTIME_FORMATS, REALTIME_MODES, REQUEST_STATES } from './protocols.ts';
import { ProductStartRequest, StartRequest } from './client-messages.ts';

/**
 * Server messages (docs/api/realtime.md), with the names of v3. Where the spec describes a field without
 * naming it, the name is ours: `acceptedSequence`, `acceptedCharacters`, `bufferedCharacters`,
 * `remainingCapacity`, `segmentCharacters`, `reservedUnits`, `warnings` and the fields of a segment.
 */
const every = {
  eventId: Type.String({ description: 'Unique for each event of a connection' }),
  traceId: Type.String({ description: 'Of the connection; log it' }),
  timestamp: Type.Integer({ minimum: 0, description: 'Unix milliseconds' }),
  inReplyTo: Type.Optional(Type.String({ description: 'The eventId that is answered' })),
};
const requestId = Type.String();
const maybeRequestId = Type.Optional(requestId);
const sessionId = Type.String();
const segmentId = Type.String();
const maybeSegmentId = Type.Optional(Type.String({ description: 'Reliable only' }));
const count = Type.Integer({ minimum: 0 });
const units = Type.Number({ minimum: 0, description: 'Billable units' });
const format = Type.Enum([...REALTIME_FORMATS]);
const samples = {
  sampleRate: Type.Optional(Type.Integer({ minimum: 1, description: 'Of pcm: hertz' })),
  channels: Type.Optional(Type.Integer({ minimum: 1, description: 'Of pcm' })),
  bitDepth: Type.Optional(Type.Integer({ minimum: 1, description: 'Of pcm: bits' })),
};

export const Authenticated = Type.Object({
  event: Type.Literal('authenticated'),
  ...every,
  sessionId,
  site: Type.String(),
  protocolVersion: Type.String(),
  quota: Type.Integer({ description: 'Quota that is left' }),
});

const notice = {
  code: Type.String(),
  message: Type.String(),
};
const warning = {
  ...notice,
  path: Type.Optional(Type.String({ description: 'The field that it is about' })),
};
const ready = {
  event: Type.Literal('ready'),
  ...every,
  requestId,
  sessionId,
  modelId: Type.String(),
  voiceId: Type.String(),
  format,
  ...samples,
};
export const Ready = Type.Object({
  ...ready,
  protocolVersion: Type.String(),
  mode: Type.Optional(Type.Enum([...REALTIME_MODES])),
  effectiveRequest: StartRequest,
  warnings: Type.Optional(Type.Array(Type.Object(warning))),
});
export const ReadyV2 = Type.Object({
  ...ready,
  mode: Type.Enum([...REALTIME_MODES]),
  provider: Type.String(),
  effectiveRequest: Type.Optional(ProductStartRequest),
});

export const InputAck = Type.Object({
  event: Type.Literal('input_ack'),
  ...every,
  requestId,
  acceptedSequence: Type.Integer({ minimum: 1, description: 'Of the last text that was taken' }),
  acceptedCharacters: count,
  bufferedCharacters: Type.Integer({ minimum: 0, description: 'Not yet flushed' }),
  remainingCapacity: Type.Integer({ minimum: 0, description: 'That the segment still takes' }),
});

export const SegmentAccepted = Type.Object({
  event: Type.Literal('segment_accepted'),
  ...every,
  requestId,
  segmentId,
  segmentCharacters: count,
  reservedUnits: units,
});

export const Audio = Type.Object({
  event: Type.Literal('audio'),
  ...every,
  requestId,
  sessionId,
  segmentId: maybeSegmentId,
  sequence: Type.Integer({
    minimum: 1,
    description: 'From 1, each the next one of the request',
  }),
  audio: Type.Unsafe<Uint8Array>({ description: 'Binary: the next bytes' }),
  format,
  ...samples,
});

const usage = {
  event: Type.Literal('usage'),
  ...every,
  requestId,
  segmentId: maybeSegmentId,
  segmentUnits: units,
  sessionUnits: units,
  quotaRemaining: Type.Integer(),
  audioBytes: count,
};
const creditsUsed = Type.Integer({
  minimum: 0,
  description: 'Credits that the request was charged so far (ours)',
});
export const Usage = Type.Object({ ...usage, creditsUsed: Type.Optional(creditsUsed) });
export const UsageV2 = Type.Object(usage);

export const SegmentCompleted = Type.Object({
  event: Type.Literal('segment_completed'),
  ...every,
  requestId,
  segmentId,
  segmentUnits: units,
  audioBytes: count,
});

/** A segment of the manifest of a request. */
export const SegmentRecord = Type.Object({
  segmentId,
  state: Type.Optional(Type.Enum([...REQUEST_STATES])),
  sequence: Type.Optional(Type.Integer({ minimum: 1, description: 'Of its last text event' })),
  characters: Type.Optional(count),
  units: Type.Optional(units),
  audioBytes: Type.Optional(count),
});

/** What is known of a request: the event, and with `requestId` the answer over HTTP. */
export const RequestStatus = Type.Object({
  event: Type.Literal('request_status'),
  ...every,
  requestId: maybeRequestId,
  state: Type.Enum([...REQUEST_STATES]),
  retryable: Type.Boolean(),
  units,
  resultAvailable: Type.Boolean(),
  segments: Type.Optional(Type.Array(SegmentRecord)),
});

export const Warning = Type.Object({
  event: Type.Literal('warning'),
  ...every,
  requestId: maybeRequestId,
  ...warning,
});

export const RealtimeError = Type.Object({
  event: Type.Literal('error'),
  ...every,
  requestId: maybeRequestId,
  sessionId: Type.Optional(sessionId),
  ...notice,
  retryable: Type.Boolean(),
  terminal: Type.Boolean(),
  stage: Type.Optional(Type.String({ description: 'Where it happened' })),
  path: Type.Optional(Type.String({ description: 'The field that is wrong' })),
});

export const Finish = Type.Object({
  event: Type.Literal('finish'),
  ...every,
  requestId,
  sessionId,
  reason: Type.Enum([...FINISH_REASONS]),
  units,
});

export const Pong = Type.Object({
  event: Type.Literal('pong'),
  ...every,
  sessionId,
  requestId: maybeRequestId,
});

const sameInBoth = {
  authenticated: Authenticated,
  input_ack: InputAck,
  segment_accepted: SegmentAccepted,
  audio: Audio,
  segment_completed: SegmentCompleted,
  request_status: RequestStatus,
  warning: Warning,
  error: RealtimeError,
  finish: Finish,
  pong: Pong,
};

/** Every server message of each version by its `event`, with the names of v3. */
export const SERVER_MESSAGES = {
  v2: { ...sameInBoth, ready: ReadyV2, usage: UsageV2 },
  v3: { ...sameInBoth, ready: Ready, usage: Usage },
} as const;

type Messages = (typeof SERVER_MESSAGES)[keyof typeof SERVER_MESSAGES];
/** What a service sends, with the names of v3, whatever the version. */
export type ServerMessage = { [Event in keyof Messages]: Static<Messages[Event]> }[keyof Messages];
