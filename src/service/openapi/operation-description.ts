import type { TObject } from 'typebox';
import type { ServiceErrorCode } from '../../contract/service-errors.ts';
import type { SurfaceName } from '../../contract/speech-surfaces.ts';

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

/** What an endpoint takes and gives, for the document. */
export interface OperationDescription {
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
  readonly success:
    | TObject
    | 'audio'
    | 'stored-audio'
    | 'stored-file'
    | 'preview'
    | 'events'
    | 'redirect'
    | 'realtime-audio'
    | 'switching'
    | undefined;
  /** Content that the same success may be instead, as the body asks: its schema by media type. */
  readonly otherContent?: Readonly<Record<string, unknown>>;
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
