import type { TObject } from 'typebox';
import type { ServiceErrorCode } from './service-errors.ts';
import type { SurfaceName } from './speech-surfaces.ts';

/** The definition of an endpoint. The router, the validation, the documents and the tests are derived from it. */
export interface Endpoint {
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Path from the base URL; `{name}` is a path parameter. */
  readonly path: string;
  /** Whether the endpoint needs no API key. */
  readonly public?: true;
  /** Page of docs/api, such as `speech#v3`; `ours` for endpoints that only the embedded service has. */
  readonly section: string;
  /**
   * What the price depends on (docs/billing.md). `voice` costs no credits, but counts towards the account's limit on
   * voices. An endpoint without this field creates nothing and costs nothing.
   */
  readonly charges?: 'characters' | 'seconds' | 'characters and seconds' | 'variant' | 'voice';
  /**
   * Response to an identical request with the same idempotency key (docs/api/errors.md#idempotency): with `replay`,
   * the result of the first request, which may still be running; with `refuse`, an error. Without this field, the
   * endpoint accepts no idempotency key.
   */
  readonly repeat?: 'replay' | 'refuse';
  readonly isKeyRequired?: boolean;
  /** Whether `X-Request-Id` is an idempotency key too (docs/api/versions.md). */
  readonly isKeyedByRequestId?: boolean;
  readonly summary: string;
  /** Schema of the query, validated before the handler runs. Without this schema, the query is ignored. */
  readonly query?: TObject;
  readonly body?: TObject;
  readonly isBodyOptional?: boolean;
  /** The media type of a body that must not be JSON. The handler validates such a body while it arrives. */
  readonly bodyType?: 'multipart/form-data';
  /** Media type that the body may have besides JSON. */
  readonly otherBodyType?: 'application/msgpack';
  /** Whether fields of the body that are `null` count as missing. */
  readonly ignoresNull?: boolean;
  /**
   * Body of a success response: a JSON schema, `audio` for new and charged audio, `stored-audio` for stored audio,
   * `stored-file` for any other file, `preview` for a voice design's audio, `events` for audio with word times,
   * `redirect` for the URL of the result, `realtime-audio` for stored audio of realtime speech, `switching` for a
   * switch to the WebSocket protocol. Without this field: JSON without a schema.
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
  /** Schema of the JSON body that replaces `success` if the request asks for it, such as with `cache`. */
  readonly otherSuccess?: TObject;
  /** Schemas of the server-sent events in a success response: by event name, or a list if events have no names. */
  readonly events?: Readonly<Record<string, TObject>> | readonly TObject[];
  /** Whether the success response is a 202 with the URL of the accepted job. */
  readonly isAccepted?: boolean;
  /** Error codes besides the codes that every endpoint may return. */
  readonly errors?: readonly ServiceErrorCode[];
  /** Endpoint family of synchronous speech (such as `v3`), which decides formats and headers. */
  readonly surface?: SurfaceName;
}

/** Error codes of every endpoint with a request body. */
export const BODY_ERRORS = [
  'ERR_INVALID_REQUEST',
  'ERR_PAYLOAD_TOO_LARGE',
  'ERR_UNSUPPORTED_MEDIA_TYPE',
] as const;

/** Error codes of endpoints that charge for speech. */
export const PAID_ERRORS = [
  ...BODY_ERRORS,
  'ERR_INSUFFICIENT_CREDITS',
  'ERR_GENERATION_FAILED',
] as const;

/** Error codes of endpoints that import files. With each of these errors, nothing is charged. */
export const IMPORT_ERRORS = [
  ...BODY_ERRORS,
  'ERR_MEDIA_URL_REFUSED',
  'ERR_INSUFFICIENT_CREDITS',
  'ERR_MEDIA_TOO_LARGE',
  'ERR_MEDIA_UNSUPPORTED',
  'ERR_MEDIA_UNREACHABLE',
  'ERR_MEDIA_UNREADABLE',
] as const;
