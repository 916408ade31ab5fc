/** The numeric limits of the service (docs/api/limits.md). */

/** Characters are Unicode code points, as JSON Schema counts them. */
export const TEXT_MAX_CHARACTERS = 10_000;
/** Ours: the longest speech of one request; about 115 MB as WAV of 16 kHz. */
export const SPEECH_MAX_SECONDS = 3_600;
export const INSTRUCTION_MAX_CHARACTERS = 1_600;
export const LANGUAGE_MAX_CHARACTERS = 64;
export const EMOTION_MAX_CHARACTERS = 64;
export const IDEMPOTENCY_KEY_MAX_CHARACTERS = 128;
/** Ours: the spec gives no limit for the address of a webhook. */
export const WEBHOOK_URL_MAX_CHARACTERS = 2_048;
/** Ours: the spec gives no limit for the prompt of a picture. */
export const PROMPT_MAX_CHARACTERS = 4_000;
/** References of an image (docs/api/media.md and docs/api/limits.md). */
export const IMAGE_REFERENCES_MAX = 4;

/** Ours: the spec gives no limits for imported files. */
export const MEDIA_URL_MAX_CHARACTERS = 2_048;
export const MEDIA_VIDEO_MAX_BYTES = 512 * 1024 * 1024;
export const MEDIA_AUDIO_MAX_BYTES = 100 * 1024 * 1024;
export const MEDIA_IMAGE_MAX_BYTES = 20 * 1024 * 1024;
/** How long a video or its audio may be. */
export const MEDIA_SECONDS_MAX = 1_800;
/** Limits of the result of a lip sync that repeats its video. */
export const MEDIA_RESULT_MAX_BYTES = 2 * 1024 * 1024 * 1024;
export const MEDIA_RESULT_MAX_PICTURES = 500_000;
/** Range of the tempo that fits speech to a video (docs/api/lip-sync.md and docs/api/limits.md). */
export const DUBBING_TEMPO_RANGE = { minimum: 0.5, maximum: 2 } as const;

export const PAGE_SIZE_DEFAULT = 20;
export const PAGE_SIZE_MAX = 100;

/** The widest range that any model accepts; each family narrows it (`families.ts`). */
export const SPEED_RANGE = { minimum: 0.5, maximum: 2 } as const;
export const VOLUME_RANGE = { minimum: -20, maximum: 20 } as const;
export const PITCH_RANGE = { minimum: -12, maximum: 12 } as const;
export const STABILITY_RANGE = { minimum: 0, maximum: 1.5 } as const;
export const SIMILARITY_RANGE = { minimum: 0, maximum: 1.5 } as const;

/** Size of a file of reference audio (docs/api/voices.md). */
export const REFERENCE_FILE_MAX_BYTES = 10 * 1024 * 1024;
/** The limits below are ours. */
export const REFERENCE_FILES_MAX = 10;
export const REFERENCE_TEXT_MAX_CHARACTERS = 10_000;
/** How long each file may be. */
export const REFERENCE_SECONDS_RANGE = { minimum: 0.5, maximum: 900 } as const;
export const VOICE_NAME_MAX_CHARACTERS = 100;
export const VOICE_DESCRIPTION_MAX_CHARACTERS = 1_000;
export const VOICE_LANGUAGES_MAX = 20;
/** Personal voices of an account. */
export const PERSONAL_VOICES_MAX = 100;
export const DESIGN_PROMPT_MAX_CHARACTERS = 1_000;
export const PREVIEW_TEXT_MAX_CHARACTERS = 500;
/** How long a design is stored. */
export const DESIGN_LIFETIME_HOURS = 24;
