/** The audio formats that endpoints for synchronous speech support. `pcm` means raw 16-bit mono samples. */
export const AUDIO_FORMATS = ['mp3', 'wav', 'ogg', 'pcm'] as const;
export type AudioFormat = (typeof AUDIO_FORMATS)[number];

/**
 * The formats of speech files. foley encodes those that the service does not make from wav. The name of a format is also
 * its extension.
 */
export const FILE_FORMATS = ['mp3', 'wav', 'ogg', 'opus', 'flac', 'm4a', 'm4b'] as const;
export type FileFormat = (typeof FILE_FORMATS)[number];

/** Audio format of voice design previews (docs/api/voice-design.md). */
export const PREVIEW_FORMAT = 'mp3';

/** Media type of MessagePack. Clients of other speech APIs may send request bodies in this encoding. */
export const MESSAGE_PACK = 'application/msgpack';

/** Size classes of images; `1k` is the smallest (docs/api/media.md). */
export const RESOLUTIONS = ['1k', '2k', '4k'] as const;

/** Ids of the image models. The API documents no ids; foley defines them itself. */
export const IMAGE_MODEL_IDS = ['vendor-image-1-flash', 'altG-image-1', 'altH-image-2'] as const;
export type ImageModelId = (typeof IMAGE_MODEL_IDS)[number];

/** Ids of the video models. The API documents no ids; foley defines them itself. */
export const VIDEO_MODEL_IDS = ['vendor-video-1-flash', 'altG-video-2'] as const;
export type VideoModelId = (typeof VIDEO_MODEL_IDS)[number];

/** Values of the query parameter `modelType` in the v1 list of voices (docs/api/voices.md). */
export const VOICE_TYPES = ['public', 'personal', 'all'] as const;
export type VoiceType = (typeof VOICE_TYPES)[number];

/** The `Server` header of every response of the embedded service. */
export const EMBEDDED_SERVER = 'foley-embedded';

/** Names of the HTTP headers that the service defines (docs/api/speech.md#v3 and docs/api/versions.md). */
export const HEADERS = {
  requestId: 'X-Request-Id',
  idempotencyKey: 'Idempotency-Key',
  quotaRemaining: 'X-OpenAPI-Quota-Remaining',
  creditsUsed: 'X-OpenAPI-Credits-Used',
  ignoredParameters: 'X-OpenAPI-Ignored-Parameters',
  unspoken: 'X-Foley-Unspoken',
} as const;

/** The environment variables that foley reads, with their descriptions in the help. */
export const ENVIRONMENT = {
  FOLEY_API_KEY: 'API key of the hosted service',
  FOLEY_BASE_URL: 'address of the hosted service',
  FOLEY_REALTIME_URL: 'address of its realtime host, if it is a different one',
  FOLEY_TARGET: 'local: use the embedded service; hosted: never use it',
  FOLEY_VOICE: 'default voice id',
  FOLEY_MODEL: 'default model id',
  FOLEY_KEEP_ALIVE: 'idle time after which an added engine ends; 0: at once',
  FOLEY_PAGER: 'pager of long lists (else PAGER or less -FRX); cat: none',
} as const;

/** Maximum number of characters in an API key that the embedded service accepts. */
export const ACCEPTED_KEY_MAX_CHARACTERS = 512;
