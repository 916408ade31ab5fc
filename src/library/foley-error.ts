/** Whether a failed request cost credits. */
export type Billed = 'no' | 'yes' | 'unknown';

/** The fields of a {@link FoleyError}. */
export interface FoleyErrorFields {
  readonly exitCode: number;
  readonly code: string;
  readonly billed: Billed;
  readonly requestId?: string | undefined;
  readonly status?: number | undefined;
  readonly retryAfter?: number | undefined;
  readonly idempotencyKey?: string | undefined;
  readonly details?: Readonly<Record<string, unknown>> | undefined;
  readonly cause?: unknown;
}

/** An error of the library. It has the same fields as an error that the command line prints with `--json`. */
export class FoleyError extends Error implements FoleyErrorFields {
  override readonly name = 'FoleyError';
  /** Exit code of a foley command that fails with the same error: `foley help exit-codes` lists them. */
  readonly exitCode: number;
  /** The error code of the service, such as `ERR_INSUFFICIENT_CREDITS`, or of foley, such as `usage` or `network`. */
  readonly code: string;
  readonly billed: Billed;
  /** Request id, with which the service logged the request; undefined if no request was sent. */
  readonly requestId: string | undefined;
  /** The HTTP status; undefined if no response arrived. */
  readonly status: number | undefined;
  /** Seconds to wait before a retry, as requested by the service. */
  readonly retryAfter: number | undefined;
  /** Idempotency key of the billed request. Sending the same request with this key does not bill it again. */
  readonly idempotencyKey: string | undefined;
  /** Further fields of the service's error response. */
  readonly details: Readonly<Record<string, unknown>> | undefined;

  constructor(message: string, fields: FoleyErrorFields) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.exitCode = fields.exitCode;
    this.code = fields.code;
    this.billed = fields.billed;
    this.requestId = fields.requestId;
    this.status = fields.status;
    this.retryAfter = fields.retryAfter;
    this.idempotencyKey = fields.idempotencyKey;
    this.details = fields.details;
  }
}
