import type { TObject } from 'typebox';
import type { ServiceErrorCode } from './service-errors.ts';
import type { SurfaceName } from './speech-surfaces.ts';

/**
 * The definition of an endpoint. The router, the validation of requests, the OpenAPI document, the client's table, the
 * pages of docs/api and the conformance rows are derived from it.
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
   * Unit of the price (docs/billing.md); `voice` costs no credits, but one of the voices that the account may have. A
   * request to an endpoint without it creates nothing and costs nothing.
   */
  readonly charges?: 'characters' | 'seconds' | 'characters and seconds' | 'variant' | 'voice';
  /**
   * Response to an identical request under the same idempotency key (docs/api/errors.md#idempotency): the result of the
   * first one, also while that is in progress, or a refusal. Without it, the endpoint accepts no key.
   */
  readonly repeat?: 'replay' | 'refuse';
  readonly isKeyRequired?: boolean;
  /** Its `X-Request-Id` is an idempotency key too (docs/api/versions.md). */
  readonly isKeyedByRequestId?: boolean;
  readonly summary: string;
  /** Query and body are validated before the handler runs. Without a schema, the query is ignored. */
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
   * The JSON of a success; `audio` for new, charged audio, `stored-audio` for stored audio, `stored-file` for any
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
  /** JSON of a success that the body may ask for instead. */
  readonly otherSuccess?: TObject;
  /** Data of the server-sent events of a success: by event name, or of events without names. */
  readonly events?: Readonly<Record<string, TObject>> | readonly TObject[];
  /** A success is a 202 with the address of the accepted job. */
  readonly isAccepted?: boolean;
  /** Errors besides those of every endpoint. */
  readonly errors?: readonly ServiceErrorCode[];
  /** Surface of synchronous speech, with its formats and headers. */
  readonly surface?: SurfaceName;
}

/** Errors of every endpoint with a body. */
export const BODY_ERRORS = [
  'ERR_INVALID_REQUEST',
  'ERR_PAYLOAD_TOO_LARGE',
  'ERR_UNSUPPORTED_MEDIA_TYPE',
] as const;

/** Errors of charged speech. */
export const PAID_ERRORS = [
  ...BODY_ERRORS,
  'ERR_INSUFFICIENT_CREDITS',
  'ERR_GENERATION_FAILED',
] as const;

/** Errors of creates that import files; nothing is charged. */
export const IMPORT_ERRORS = [
  ...BODY_ERRORS,
  'ERR_MEDIA_URL_REFUSED',
  'ERR_INSUFFICIENT_CREDITS',
  'ERR_MEDIA_TOO_LARGE',
  'ERR_MEDIA_UNSUPPORTED',
  'ERR_MEDIA_UNREACHABLE',
  'ERR_MEDIA_UNREADABLE',
] as const;
