import type { TObject } from 'typebox';
import type { ServiceErrorCode } from './service-errors.ts';
import type { SurfaceName } from './speech-surfaces.ts';

/**
 * The definition of an endpoint. The service's routes, the validation of requests and the OpenAPI document are derived
 * from it.
 */
export interface Endpoint {
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Path below the base URL. `{name}` stands for a path parameter. */
  readonly path: string;
  /** True if the endpoint needs no API key. */
  readonly public?: true;
  /**
   * The page and section of docs/api that describe the endpoint, such as `speech#v3`. The value is `ours` if only the
   * embedded service has the endpoint.
   */
  readonly section: string;
  /**
   * What determines the price (docs/billing.md). A request with `voice` costs no credits, but the new voice counts
   * towards the account's limit. An endpoint without this field creates nothing and costs nothing.
   */
  readonly charges?: 'characters' | 'seconds' | 'characters and seconds' | 'variant' | 'voice';
  /**
   * How the service responds to an identical request with the same idempotency key (docs/api/errors.md#idempotency).
   * `replay` returns the result of the first request, and waits for it if necessary. `refuse` returns an error. Without
   * this field, the endpoint accepts no idempotency key.
   */
  readonly repeat?: 'replay' | 'refuse';
  readonly isKeyRequired?: boolean;
  /** Whether the service also accepts `X-Request-Id` as an idempotency key (docs/api/versions.md). */
  readonly isKeyedByRequestId?: boolean;
  readonly summary: string;
  /** Schema of the query, which is validated before the handler runs. Without a schema, the query is ignored. */
  readonly query?: TObject;
  readonly body?: TObject;
  readonly isBodyOptional?: boolean;
  /** The media type of a body that is not JSON. The handler validates such a body while the body arrives. */
  readonly bodyType?: 'multipart/form-data';
  /** A media type in which clients may send the body instead of JSON. */
  readonly otherBodyType?: 'application/msgpack';
  /** Whether the service treats body fields that are `null` as missing. */
  readonly ignoresNull?: boolean;
  /**
   * The body of a success response: a schema or a kind. Default: JSON without a schema. `audio`: new audio, which is
   * billed; `preview`: the audio of a voice design; `events`: audio with word times; `stored-audio`, `realtime-audio`:
   * stored audio; `stored-file`: any other stored file; `redirect`: a redirect to the result; `switching`: a switch to
   * the WebSocket protocol.
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
  /** Schema of an alternative JSON response, used in place of `success` when the request sets `cache`. */
  readonly otherSuccess?: TObject;
  /**
   * Schemas of the server-sent events in a success response, by event name. Events without names have a list of schemas
   * instead.
   */
  readonly events?: Readonly<Record<string, TObject>> | readonly TObject[];
  /** Whether the success status is 202 and the response contains the URL of the job. */
  readonly isAccepted?: boolean;
  /** The error codes of this endpoint, in addition to the codes that every endpoint may return. */
  readonly errors?: readonly ServiceErrorCode[];
  /** The API version of a speech endpoint, such as `v3`. It determines the supported formats and headers. */
  readonly surface?: SurfaceName;
}

/** Error codes that every endpoint with a request body may return. */
export const BODY_ERRORS = [
  'ERR_INVALID_REQUEST',
  'ERR_PAYLOAD_TOO_LARGE',
  'ERR_UNSUPPORTED_MEDIA_TYPE',
] as const;

/** Error codes of every endpoint that charges for speech. */
export const PAID_ERRORS = [
  ...BODY_ERRORS,
  'ERR_INSUFFICIENT_CREDITS',
  'ERR_GENERATION_FAILED',
] as const;

/** Error codes of every endpoint that imports files. A request that fails with one of them costs nothing. */
export const IMPORT_ERRORS = [
  ...BODY_ERRORS,
  'ERR_MEDIA_URL_REFUSED',
  'ERR_INSUFFICIENT_CREDITS',
  'ERR_MEDIA_TOO_LARGE',
  'ERR_MEDIA_UNSUPPORTED',
  'ERR_MEDIA_UNREACHABLE',
  'ERR_MEDIA_UNREADABLE',
] as const;
