import { Type } from 'typebox';
import type { Static } from 'typebox';
import { named, strict } from '../schemas.ts';
import { Pronunciations, SpeechControls } from '../speech.ts';
import {
  CHUNK_LENGTH_RANGE,
  LEGACY_VOLUME_RANGE,
  REALTIME_LANGUAGE_MAX_CHARACTERS,
  REALTIME_ID_MAX_CHARACTERS,
  SIMPLE_INPUT_MAX_CHARACTERS,
  TEXT_EVENT_MAX_CHARACTERS,
} from './limits.ts';
import { PARAMETER_PROFILES, REALTIME_FORMATS, REALTIME_MODES } from './protocols.ts';

const { speed, volume, pitch, stability, similarity, emotion, textNormalization } =
  SpeechControls.properties;
const instructions = SpeechControls.properties.instruction;

const both = {
  voiceId: Type.String({ minLength: 1, description: 'Voice id' }),
  modelId: Type.String({ minLength: 1, description: 'Public model id' }),
  format: Type.Optional(
    Type.Enum([...REALTIME_FORMATS], {
      default: 'mp3',
      description: 'Audio format (the capabilities of the model list the allowed formats)',
    }),
  ),
  speed,
  volume,
  stability,
  similarity,
  language: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: REALTIME_LANGUAGE_MAX_CHARACTERS,
      description: 'Language hint, such as en or pt-BR',
    }),
  ),
  textNormalization,
  chunkLength: Type.Optional(
    Type.Integer({
      ...CHUNK_LENGTH_RANGE,
      description: 'Maximum number of characters that the model processes at a time',
    }),
  ),
  latency: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'Latency level (each service defines its own values)',
    }),
  ),
  pronunciations: Type.Optional(Pronunciations),
};

/** The `request` object of a v3 `start` message. Unsupported fields cause a warning and have no effect. */
export const StartRequest = Type.Object(both, { $id: 'RealtimeStartRequest' });
export type StartRequest = Static<typeof StartRequest>;

const [legacyProfile, productProfile] = PARAMETER_PROFILES;
const PROFILE = 'Rules for invalid values: `legacy` (default) or `product_v1`';
const optimizeInstructions = Type.Optional(
  Type.Boolean({ description: 'Let the model rewrite `instructions` (if the model can)' }),
);

/**
 * The `request` object of a v2 `start` message with the profile `product_v1`, after its fields were renamed to their v3
 * names. Out-of-range values are clamped.
 */
export const ProductStartRequest = named('RealtimeProductStartRequest', {
  parameterProfile: Type.Literal(productProfile, { description: PROFILE }),
  ...both,
  pitch,
  emotion,
  instructions,
  optimizeInstructions,
});
export type ProductStartRequest = Static<typeof ProductStartRequest>;

const { textNormalization: _productOnly, ...legacy } = both;

/**
 * The `request` object of a v2 `start` message with the default profile, `legacy`, after its fields were renamed to
 * their v3 names. Unknown fields are refused.
 */
export const LegacyStartRequest = strict('RealtimeLegacyStartRequest', {
  parameterProfile: Type.Optional(Type.Literal(legacyProfile, { description: PROFILE })),
  ...legacy,
  volume: Type.Optional(
    Type.Number({ ...LEGACY_VOLUME_RANGE, description: 'Volume as a factor (1: unchanged)' }),
  ),
  emotion,
  instructions,
  optimizeInstructions,
});

const id = (description: string) =>
  Type.String({ minLength: 1, maxLength: REALTIME_ID_MAX_CHARACTERS, description });
const eventId = id('Id of the event, unique on its connection');
const segmentId = id('Id of the segment, unique in its request');
const maybeEventId = Type.Optional(eventId);

/**
 * The first message from a web page. It contains a browser ticket, because browsers cannot send an API key in the
 * WebSocket handshake.
 */
export const Auth = Type.Object({
  event: Type.Literal('auth'),
  token: Type.String({ minLength: 1, description: 'A browser ticket (valid once)' }),
  eventId: maybeEventId,
});
export type Auth = Static<typeof Auth>;

const start = {
  event: Type.Literal('start'),
  mode: Type.Optional(Type.Enum([...REALTIME_MODES], { default: 'simple' })),
  eventId: maybeEventId,
  requestId: Type.Optional(id('Idempotency key of the request; required when reliable')),
  retryFailed: Type.Optional(
    Type.Boolean({ description: 'Retry failed segments (reliable mode only)' }),
  ),
};
export const Start = Type.Object({ ...start, request: StartRequest });
export type Start = Static<typeof Start>;
export const StartV2 = Type.Object({
  ...start,
  request: Type.Union([ProductStartRequest, LegacyStartRequest]),
});
export type StartV2 = Static<typeof StartV2>;

export const Input = Type.Object({
  event: Type.Literal('input'),
  text: Type.String({ minLength: 1, maxLength: SIMPLE_INPUT_MAX_CHARACTERS }),
  eventId: maybeEventId,
  commit: Type.Optional(
    Type.Boolean({
      default: true,
      description: 'true: the text is complete; false: more text follows',
    }),
  ),
});
export type Input = Static<typeof Input>;

export const Text = Type.Object({
  event: Type.Literal('text'),
  eventId,
  sequence: Type.Integer({
    minimum: 1,
    description: 'Sequence number of this text message in the request, from 1',
  }),
  text: Type.String({ minLength: 1, maxLength: TEXT_EVENT_MAX_CHARACTERS }),
});
export type Text = Static<typeof Text>;

export const Flush = Type.Object({ event: Type.Literal('flush'), eventId, segmentId });
export type Flush = Static<typeof Flush>;

export const Stop = Type.Object({ event: Type.Literal('stop'), eventId });
export type Stop = Static<typeof Stop>;

export const Ping = Type.Object({
  event: Type.Literal('ping'),
  eventId: Type.Optional(id('Required when reliable')),
  timestamp: Type.Optional(Type.Integer({ minimum: 0, description: 'Unix milliseconds' })),
});
export type Ping = Static<typeof Ping>;

/** A message from the client in either protocol version, with v3 field names. */
export type ClientMessage = Auth | Start | StartV2 | Input | Text | Flush | Stop | Ping;

const sameInBoth = { auth: Auth, input: Input, text: Text, flush: Flush, stop: Stop, ping: Ping };

/**
 * The schemas of all client messages, by protocol version and then by `event` (docs/api/realtime.md). Fields have v3
 * names.
 */
export const CLIENT_MESSAGES = {
  v2: { ...sameInBoth, start: StartV2 },
  v3: { ...sameInBoth, start: Start },
} as const;
