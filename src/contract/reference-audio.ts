/** Allowed extensions of reference audio files (docs/api/voices.md). */
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

/** Whether other accounts may use a voice (docs/api/voices.md). */
export const VOICE_VISIBILITIES = ['private', 'public'] as const;
export type VoiceVisibility = (typeof VOICE_VISIBILITIES)[number];
