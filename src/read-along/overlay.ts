/** Values of `--overlay`: what is highlighted while it is spoken. */
export const OVERLAYS = ['sentence', 'paragraph', 'word'] as const;
export type Overlay = (typeof OVERLAYS)[number];

/** Values of `--overlay-audio`: the format of the audio in a read-along book. */
export const OVERLAY_AUDIO = ['mp3', 'm4a'] as const;
export type OverlayAudio = (typeof OVERLAY_AUDIO)[number];

/** Media types of the audio in a read-along book. */
export const OVERLAY_MEDIA_TYPES: Readonly<Record<OverlayAudio, string>> = {
  mp3: 'audio/mpeg',
  m4a: 'audio/mp4',
};
