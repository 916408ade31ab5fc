/** The formats of synchronous speech over all surfaces; `pcm` is raw samples of 16 bits, mono. */
export const AUDIO_FORMATS = ['mp3', 'wav', 'ogg', 'pcm'] as const;
export type AudioFormat = (typeof AUDIO_FORMATS)[number];

/** The format of the previews of a voice design (spec section 4.6). */
export const PREVIEW_FORMAT = 'mp3';
