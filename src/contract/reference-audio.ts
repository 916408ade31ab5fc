/** What a voice may be cloned from (docs/api/voices.md). */

/** Extensions that a file of reference audio may have. */
export const REFERENCE_EXTENSIONS = [
  'aac',
  'flac',
  'm4a',
  'mp3',
  'mp4',
  'mpeg',
  'oga',
  'ogg',
  'opus',
  'wav',
  'webm',
] as const;

/** Who may see and use a voice besides its owner (docs/api/voices.md). */
export const VOICE_VISIBILITIES = ['private', 'public'] as const;
export type VoiceVisibility = (typeof VOICE_VISIBILITIES)[number];
