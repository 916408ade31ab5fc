/** Every numeric limit of the service, written once (spec section 8 and the tables of section 4). */

/** Characters are Unicode code points, as JSON Schema counts them. */
export const TEXT_MAX_CHARACTERS = 10_000;
export const INSTRUCTION_MAX_CHARACTERS = 1_600;
export const LANGUAGE_MAX_CHARACTERS = 64;
export const EMOTION_MAX_CHARACTERS = 64;
export const IDEMPOTENCY_KEY_MAX_CHARACTERS = 128;
/** Ours: the spec gives no limit for the address of a webhook. */
export const WEBHOOK_URL_MAX_CHARACTERS = 2_048;
/** Ours: the spec gives no limit for the prompt of a picture, nor for the address of a reference. */
export const PROMPT_MAX_CHARACTERS = 4_000;
export const REFERENCE_URL_MAX_CHARACTERS = 2_048;
/** References of an image (spec sections 4.8 and 8). */
export const IMAGE_REFERENCES_MAX = 4;

export const PAGE_SIZE_DEFAULT = 20;
export const PAGE_SIZE_MAX = 100;

/** The widest range that any model accepts; each family narrows it (`families.ts`). */
export const SPEED_RANGE = { minimum: 0.5, maximum: 2 } as const;
export const VOLUME_RANGE = { minimum: -20, maximum: 20 } as const;
export const PITCH_RANGE = { minimum: -12, maximum: 12 } as const;
export const STABILITY_RANGE = { minimum: 0, maximum: 1.5 } as const;
export const SIMILARITY_RANGE = { minimum: 0, maximum: 1.5 } as const;
