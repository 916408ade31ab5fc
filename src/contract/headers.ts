/** `Server` of every response of the embedded service. */
export const EMBEDDED_SERVER = 'foley-embedded';

/** Names of the service's own headers (spec sections 4.1 and 9), as they are written on the wire. */
export const HEADERS = {
  requestId: 'X-Request-Id',
  idempotencyKey: 'Idempotency-Key',
  quotaRemaining: 'X-OpenAPI-Quota-Remaining',
  creditsUsed: 'X-OpenAPI-Credits-Used',
  ignoredParameters: 'X-OpenAPI-Ignored-Parameters',
} as const;
