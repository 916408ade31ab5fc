import type { Pending } from './behaviour.ts';

/** What the spec has and the embedded service has not yet; nothing of it is faked. */
export const pending: readonly Pending[] = [];
