export interface Endpoint {
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Path from the base URL; `{name}` is a path parameter. */
  readonly path: string;
  readonly surface: Surface;
  /** Needs no API key. */
  readonly public: boolean;
  /** Section of the spec that defines it; `ours` where it is an addition of this service. */
  readonly section: string;
  /**
   * What an identical request under the same idempotency key gets, where the endpoint takes a key (docs/api/errors.md#idempotency):
   * the first one's result, also while that is being made, or a refusal.
   */
  readonly repeat?: 'replay' | 'refuse';
  readonly isKeyRequired?: boolean;
}

/** Every HTTP endpoint that the service has: one table for its router, its OpenAPI document and the client. */

type Surface = 'http-v3' | 'http-v2' | 'http-v1' | 'compat' | 'realtime' | 'operations';
