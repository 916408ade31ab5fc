/** The environment variables that foley reads (contract, section 1), shown in its help. */
export const ENVIRONMENT = {
  FOLEY_API_KEY: 'API key of the hosted service',
  FOLEY_BASE_URL: 'address of the hosted service',
  FOLEY_REALTIME_URL: 'address of its realtime host, where that is another one',
  FOLEY_TARGET: 'local: the embedded service on purpose; hosted: never it',
  FOLEY_VOICE: 'default voice id',
  FOLEY_MODEL: 'default model id',
  FOLEY_PAGER: 'pager of long lists (else PAGER or less -FRX); cat: none',
} as const;
