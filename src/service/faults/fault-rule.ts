import type { FaultStatus } from '../../contract/service-errors.ts';

/** A rule that makes the service misbehave on purpose, to test what depends on it (contract, section 9). */
export interface FaultRule {
  /** Such as `POST`; `*` is any. */
  readonly method: string;
  /** Glob of the path: `*` and `?` stay within a segment, `**` does not. */
  readonly path: string;
  readonly effect: FaultEffect;
  readonly when: FaultWhen;
}

export type FaultEffect =
  /** An error with this status, and nothing is done. */
  | { readonly kind: 'status'; readonly status: FaultStatus; readonly retryAfter?: number }
  /** The answer begins so much later. */
  | { readonly kind: 'delay'; readonly ms: number }
  | BodyCut
  /** A job that is accepted ends so. */
  | { readonly kind: 'job'; readonly outcome: JobFault };

/** The answer stops after so many bytes of its body: with a reset, or with an orderly end. */
export interface BodyCut {
  readonly kind: 'reset' | 'truncate';
  readonly afterBytes: number;
}

export type JobFault = 'fail' | 'partial_fail';

/** Which of the requests that a rule is asked about it acts on. */
export type FaultWhen =
  | { readonly kind: 'always' }
  | { readonly kind: 'first'; readonly times: number }
  | { readonly kind: 'every'; readonly every: number };
