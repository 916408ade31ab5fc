import type { TObject } from 'typebox';
import type { ServiceErrorCode } from './service-errors.ts';
import type { SurfaceName } from './speech-surfaces.ts';

/**
 * An endpoint: the router, the validation of requests, the OpenAPI document, the client's table, the pages of docs/api and
 * the conformance rows all follow from this.
 */
export interface Endpoint {
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Path from the base URL; `{name}` is a path parameter. */
  readonly path: string;
  /** Needs no API key. */
  readonly public?: true;
  /** The page of docs/api that describes it, with the anchor, such as `speech#v3`; `ours` for an addition of this service. */
  readonly section: string;
  /**
   * What its price counts, which docs/billing.md describes; `voice` is a place among the voices of the account, for no
   * credits. A request to an endpoint without it creates nothing and costs nothing.
   */
  readonly charges?: 'characters' | 'seconds' | 'characters and seconds' | 'variant' | 'voice';
  /**
   * What an identical request under the same idempotency key gets, if the endpoint accepts a key (docs/api/errors.md#idempotency):
   * the result of the first one, also while that is being made, or a refusal.
   */
  readonly repeat?: 'replay' | 'refuse';
  readonly isKeyRequired?: boolean;
  /** Its `X-Request-Id` is an idempotency key too (docs/api/versions.md). */
  readonly isKeyedByRequestId?: boolean;
  readonly summary: string;
  /** Validated before the handler runs, as is the body. Without it the query is ignored. */
  readonly query?: TObject;
  readonly body?: TObject;
  /** The body may be left out. */
  readonly isBodyOptional?: boolean;
  /** The type of a body that is not JSON. The handler reads and validates such a body while it arrives. */
  readonly bodyType?: 'multipart/form-data';
  /** Another type that the body may have besides JSON. */
  readonly otherBodyType?: 'application/msgpack';
  /** Fields of the body that are `null` count as missing. */
  readonly ignoresNull?: boolean;
  /**
   * The JSON of a success; `audio` for audio that is made and charged, `stored-audio` for stored audio, `stored-file` for any
   * other file, `preview` for the audio of a voice design, `events` for an aligned stream, `redirect` for the address of the
   * result, `realtime-audio` for stored audio of realtime speech, `switching` for a WebSocket. Without it: JSON without a schema.
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
  /** JSON that the same success may be instead, if the body asks for it. */
  readonly otherSuccess?: TObject;
  /** The data of the events that the success is, or may be instead of audio: by their names, or of events without names. */
  readonly events?: Readonly<Record<string, TObject>> | readonly TObject[];
  /** The status of a success is 202, with the address of the accepted job. */
  readonly isAccepted?: boolean;
  /** Errors besides those that any endpoint may give. */
  readonly errors?: readonly ServiceErrorCode[];
  /** Of synchronous speech: which formats and headers there are. */
  readonly surface?: SurfaceName;
}

/** Errors of every endpoint with a body. */
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

/** Errors of creates that import files from addresses; they end before anything is charged. */
export const IMPORT_ERRORS = [
  ...BODY_ERRORS,
  'ERR_MEDIA_URL_REFUSED',
  'ERR_INSUFFICIENT_CREDITS',
  'ERR_MEDIA_TOO_LARGE',
  'ERR_MEDIA_UNSUPPORTED',
  'ERR_MEDIA_UNREACHABLE',
  'ERR_MEDIA_UNREADABLE',
] as const;
