/** What the embedded service takes as an API key: visible ASCII, at most so long. */
export const ACCEPTED_KEY_MAX_CHARACTERS = 512;
