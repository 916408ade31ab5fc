import type { TObject } from 'typebox';
import type { ServiceErrorCode } from './service-errors.ts';
import type { SurfaceName } from './speech-surfaces.ts';

/** The groups that endpoints stand in, with what is in each. */
export const TAGS = {
  Speech: 'Text to audio: at once, or as jobs that are polled and downloaded',
  Voices: 'The voices that texts are spoken with',
  Realtime: 'Text in and audio out over a WebSocket, and what is asked about that',
  Media:
    'Sound put to videos, and images and videos of a prompt: as jobs that are polled and downloaded',
  Account: 'Credits, quota and settings of the account that a key belongs to',
  Compatibility: 'Requests in the shapes of two other speech interfaces',
  Service: 'What the service says of itself',
} as const;

/**
 * An endpoint: the router, the checks of requests, the OpenAPI document, the client's table, the pages of docs/api and the
 * conformance rows all go by this.
 */
export interface Endpoint {
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Path from the base URL; `{name}` is a path parameter. */
  readonly path: string;
  /** Needs no API key. */
  readonly public: boolean;
  /** The page of docs/api that describes it, with the anchor, such as `speech#v3`; `ours` where it is an addition of this service. */
  readonly section: string;
  /**
   * What an identical request under the same idempotency key gets, where the endpoint takes a key (docs/api/errors.md#idempotency):
   * the first one's result, also while that is being made, or a refusal.
   */
  readonly repeat?: 'replay' | 'refuse';
  readonly isKeyRequired?: boolean;
  /** Its `X-Request-Id` is an idempotency key too (docs/api/versions.md). */
  readonly isKeyedByRequestId?: boolean;
  readonly summary: string;
  readonly tag: keyof typeof TAGS;
  readonly query?: TObject;
  readonly body?: TObject;
  /** The body may be left out. */
  readonly isBodyOptional?: boolean;
  /** The type of the body where it is not JSON. */
  readonly bodyType?: 'multipart/form-data';
  /** Another type that the body may have besides JSON. */
  readonly otherBodyType?: string;
  /**
   * The JSON of a success; `audio` for sound that is made and charged, `stored-audio` for sound that
   * is there, `stored-file` for any other file, `preview` for the sound of a voice design, `events` for an aligned stream, `redirect` for the
   * way to it, `realtime-audio` for stored audio of realtime speech, `switching` for a WebSocket; nothing for JSON that has no schema.
   */
  readonly success?:
    | TObject
    | 'audio'
    | 'stored-audio'
    | 'stored-file'
    | 'preview'
    | 'events'
    | 'redirect'
    | 'realtime-audio'
    | 'switching';
  /** JSON that the same success may be instead, as the body asks. */
  readonly otherSuccess?: TObject;
  /** The data of the events that the success is, or may be instead of sound: by their names, or of events that have none. */
  readonly events?: Readonly<Record<string, TObject>> | readonly TObject[];
  /** The answer is 202, with the address of what was accepted. */
  readonly isAccepted?: boolean;
  /** Errors besides those that any endpoint may give. */
  readonly errors: readonly ServiceErrorCode[];
  /** Of synchronous speech: which formats and headers there are. */
  readonly surface?: SurfaceName;
}

/** Errors of whatever has a body. */
export const BODY_ERRORS = [
  'ERR_INVALID_REQUEST',
  'ERR_PAYLOAD_TOO_LARGE',
  'ERR_UNSUPPORTED_MEDIA_TYPE',
] as const;

/** Errors of speech that is charged. */
export const PAID_ERRORS = [
  ...BODY_ERRORS,
  'ERR_INSUFFICIENT_CREDITS',
  'ERR_GENERATION_FAILED',
] as const;

/** Errors of speech that is charged once a key. */
export const KEYED_SPEECH_ERRORS = [
  ...PAID_ERRORS,
  'ERR_VOICE_NOT_FOUND',
  'ERR_REQUEST_ID_CONFLICT',
  'ERR_REQUEST_IN_PROGRESS',
  'ERR_REQUEST_ALREADY_COMPLETED',
  'ERR_REQUEST_PREVIOUSLY_REFUNDED',
  'ERR_MODEL_UNAVAILABLE',
] as const;
