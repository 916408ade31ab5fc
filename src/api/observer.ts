/**
 * What the client tells about its requests while it works (`--verbose`); secrets and signed queries
 * are already taken out. Nothing depends on it.
 */
export type ApiEvent =
  | {
      readonly type: 'answer';
      readonly method: string;
      readonly url: string;
      readonly status: number;
      /** From the start of the attempt to the headers of the answer. */
      readonly ms: number;
      /** The service's own id when it gave one. */
      readonly requestId: string;
      /** From 1. */
      readonly attempt: number;
    }
  | {
      readonly type: 'no_answer';
      readonly method: string;
      readonly url: string;
      /** Why, as one word or code: `refused`, `timeout`, `CERT_HAS_EXPIRED`. */
      readonly reason: string;
      readonly ms: number;
      readonly requestId: string;
      readonly attempt: number;
    }
  | {
      readonly type: 'retry';
      readonly requestId: string;
      /** The attempt that failed. */
      readonly attempt: number;
      readonly delayMs: number;
      readonly reason: string;
    };

export type Observer = (event: ApiEvent) => void;
