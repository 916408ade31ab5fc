import type { TObject } from 'typebox';
import type { ServiceErrorCode } from './service-errors.ts';
import type { SurfaceName } from './speech-surfaces.ts';

/** The definition of an endpoint, from which router, validation, documents and tests are derived. */
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
   * Unit of the price (docs/billing.md). `voice` costs no credits, but uses up one of the account's
   * voices. An endpoint without it creates nothing and costs nothing.
   */
  readonly charges?: 'characters' | 'seconds' | 'characters and seconds' | 'variant' | 'voice';
  /**
   * Response to an identical request under the same idempotency key
   * (docs/api/errors.md#idempotency): the result of the first request, which may still be running,
   * or an error. Without it, the endpoint accepts no key.
   */
  readonly repeat?: 'replay' | 'refuse';
  readonly isKeyRequired?: boolean;
  /** Whether `X-Request-Id` is an idempotency key too (docs/api/versions.md). */
  readonly isKeyedByRequestId?: boolean;
  readonly summary: string;
  /** Schema of the query, validated before the handler runs. Without it, the query is ignored. */
  readonly query?: TObject;
  readonly body?: TObject;
  /** Whether the body is optional. */
  readonly isBodyOptional?: boolean;
  /** The only media type of the body if it is not JSON. The handler validates such a body while it arrives. */
  readonly bodyType?: 'multipart/form-data';
  /** Media type that the body may have besides JSON. */
  readonly otherBodyType?: 'application/msgpack';
  /** Whether fields of the body that are `null` count as missing. */
  readonly ignoresNull?: boolean;
  /**
   * Body of a success: a JSON schema, `audio` for new and charged audio, `stored-audio` for stored
   * audio, `stored-file` for any other file, `preview` for the audio of a voice design, `events`
   * for an aligned stream, `redirect` for the address of the result, `realtime-audio` for stored
   * audio of realtime speech, `switching` for a WebSocket. Without it: JSON without a schema.
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
  /** Schema of a second kind of success, which a field of the request selects. */
  readonly otherSuccess?: TObject;
  /** Schemas of the server-sent events of a success: by event name, or a list for events without names. */
  readonly events?: Readonly<Record<string, TObject>> | readonly TObject[];
  /** Whether a success is a 202 with the address of the accepted job. */
  readonly isAccepted?: boolean;
  /** Error codes besides those of every endpoint. */
  readonly errors?: readonly ServiceErrorCode[];
  /** Kind of synchronous speech, which decides formats and headers. */
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

/** Errors of endpoints that import files; nothing is charged. */
export const IMPORT_ERRORS = [
  ...BODY_ERRORS,
  'ERR_MEDIA_URL_REFUSED',
  'ERR_INSUFFICIENT_CREDITS',
  'ERR_MEDIA_TOO_LARGE',
  'ERR_MEDIA_UNSUPPORTED',
  'ERR_MEDIA_UNREACHABLE',
  'ERR_MEDIA_UNREADABLE',
] as const;
