/** Tiers of an image's size (spec section 4.8). */
export const RESOLUTIONS = ['1k', '2k', '4k'] as const;
