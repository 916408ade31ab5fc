// The numeric limits of the service (docs/api/limits.md).

/** Maximum length of the text of a request, in Unicode code points, as JSON Schema counts them. */
export const TEXT_MAX_CHARACTERS = 10_000;
/**
 * Maximum duration of the speech in one response, in seconds. This is foley's own limit: about 115 MB as WAV at 16 kHz.
 */
export const SPEECH_MAX_SECONDS = 3_600;
export const INSTRUCTION_MAX_CHARACTERS = 1_600;
export const LANGUAGE_MAX_CHARACTERS = 64;
export const EMOTION_MAX_CHARACTERS = 64;
// Limits of the field `pronunciations` (foley's own).
export const PRONUNCIATIONS_MAX = 1_000;
export const PRONOUNCED_WORD_MAX_CHARACTERS = 100;
export const PHONEMES_MAX_CHARACTERS = 200;
export const IDEMPOTENCY_KEY_MAX_CHARACTERS = 128;
/** Maximum length of a webhook URL (foley's own limit: the API documents none). */
export const WEBHOOK_URL_MAX_CHARACTERS = 2_048;
/** Maximum length of an image or video prompt (foley's own limit: the API documents none). */
export const PROMPT_MAX_CHARACTERS = 4_000;
/** Maximum number of reference images in a request for an image (docs/api/media.md and docs/api/limits.md). */
export const IMAGE_REFERENCES_MAX = 4;

// Limits of imported files and their URLs, chosen by foley: the API documents none.
export const MEDIA_URL_MAX_CHARACTERS = 2_048;
export const MEDIA_VIDEO_MAX_BYTES = 512 * 1024 * 1024;
export const MEDIA_AUDIO_MAX_BYTES = 100 * 1024 * 1024;
export const MEDIA_IMAGE_MAX_BYTES = 20 * 1024 * 1024;
/** Maximum duration of an imported video or audio file, in seconds. */
export const MEDIA_SECONDS_MAX = 1_800;
// Limits of a lip-sync result in which the video is repeated until the audio ends.
export const MEDIA_RESULT_MAX_BYTES = 2 * 1024 * 1024 * 1024;
export const MEDIA_RESULT_MAX_PICTURES = 500_000;
/**
 * Range of the factor by which speech is sped up or slowed down to fit a video (docs/api/lip-sync.md and
 * docs/api/limits.md).
 */
export const DUBBING_TEMPO_RANGE = { minimum: 0.5, maximum: 2 } as const;

export const PAGE_SIZE_DEFAULT = 20;
export const PAGE_SIZE_MAX = 100;

/** Range of the control `speed` over all models. A model family may accept a narrower range (`families.ts`). */
export const SPEED_RANGE = { minimum: 0.5, maximum: 2 } as const;
export const VOLUME_RANGE = { minimum: -20, maximum: 20 } as const;
export const PITCH_RANGE = { minimum: -12, maximum: 12 } as const;
export const STABILITY_RANGE = { minimum: 0, maximum: 1.5 } as const;
export const SIMILARITY_RANGE = { minimum: 0, maximum: 1.5 } as const;

/** Maximum size of an audio file from which a voice is created (docs/api/voices.md). */
export const REFERENCE_FILE_MAX_BYTES = 10 * 1024 * 1024;
/** Maximum number of audio files from which one voice is created (foley's own limit). */
export const REFERENCE_FILES_MAX = 10;
// The limits below are foley's own too.
export const REFERENCE_TEXT_MAX_CHARACTERS = 10_000;
export const REFERENCE_SECONDS_RANGE = { minimum: 0.5, maximum: 900 } as const;
export const VOICE_NAME_MAX_CHARACTERS = 100;
export const VOICE_DESCRIPTION_MAX_CHARACTERS = 1_000;
export const VOICE_LANGUAGES_MAX = 20;
export const PERSONAL_VOICES_MAX = 100;
export const DESIGN_PROMPT_MAX_CHARACTERS = 1_000;
export const PREVIEW_TEXT_MAX_CHARACTERS = 500;
export const DESIGN_LIFETIME_HOURS = 24;
