/** Environment variables that foley reads, with what they are for (shown in help and docs). */
export const ENVIRONMENT = {
  FOLEY_API_KEY: 'the API key of the hosted service',
  FOLEY_BASE_URL: 'address of the hosted service',
  FOLEY_REALTIME_URL: 'realtime host of the hosted service, when it is another',
  FOLEY_TARGET: '`local` for the embedded service on purpose, `hosted` to forbid it',
  FOLEY_VOICE: 'default voice id',
  FOLEY_MODEL: 'default model id',
} as const;
