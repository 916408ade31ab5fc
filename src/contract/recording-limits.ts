// Limits of scripts and of the recordings that foley makes of them. The service does not know them.

/** Maximum duration of a pause in a text, and of the silence after a line of a script. */
export const PAUSE_MAX_MS = 60_000;
/** Maximum duration of a recording: 24 hours. */
export const RECORDING_MAX_MS = 24 * 3_600_000;
