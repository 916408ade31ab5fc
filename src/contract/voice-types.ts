/** Which voices a v1 list is about (spec section 4.5). */
export const VOICE_TYPES = ['public', 'personal', 'all'] as const;
export type VoiceType = (typeof VOICE_TYPES)[number];
