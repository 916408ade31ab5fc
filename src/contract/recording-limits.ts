// Limits of scripts and of the recordings that foley makes of them. The service does not know them.

/** Maximum length of a pause in a text, and of the silence after a line of a script. */
export const PAUSE_MAX_MS = 60_000;
/** Maximum length of a recording. */
export const RECORDING_MAX_MS = 24 * 3_600_000;
