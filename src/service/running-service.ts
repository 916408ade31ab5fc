import type { EngineRegistration } from '../contract/engine.ts';
import type { Clock } from '../effects/clock.ts';
import type { Random } from '../effects/random.ts';
import type { Amounts } from './ledger/ledger.ts';
import type { FaultEffect, FaultRule, JobFault } from './http/faults.ts';

/** An API key and the account whose credits it spends. */
export interface AccountKey {
  readonly key: string;
  readonly account: string;
}

/** An event for the operator of the service, without secrets. */
export type ServiceEvent =
  | {
      readonly type: 'request';
      readonly method: string;
      /** Path without the query. */
      readonly path: string;
      readonly status: number;
      /** Time until the headers of the response were ready. */
      readonly durationMs: number;
      readonly requestId: string;
      /** Account of the key, if the request reached that check. */
      readonly account: string | undefined;
      /** The cost in the response headers. */
      readonly credits: string | undefined;
      /** Fault rules that applied. */
      readonly faults: readonly FaultEffect[];
    }
  /** A fault rule decides how an accepted job ends. */
  | { readonly type: 'job-fault'; readonly jobId: string; readonly outcome: JobFault }
  /** `requestId` is that of a request, or the id of a job. */
  | { readonly type: 'failure'; readonly requestId: string; readonly error: unknown }
  /** The service closes and finishes this many billed responses first. */
  | { readonly type: 'finishing-answers'; readonly count: number }
  /** The service closes and finishes this many jobs first. */
  | { readonly type: 'finishing-jobs'; readonly count: number }
  /** The service closed with unfinished jobs; the next service on the same data finishes them. */
  | { readonly type: 'jobs-left'; readonly count: number };

/** Engines added to foley, and how to start them. */
export interface AddedEngines {
  readonly added: readonly EngineRegistration[];
  /** Environment of this process; an engine gets some of its variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What the command `node` means. */
  readonly nodePath: string;
}

export interface OpenServiceOptions {
  /** Data directory of voices, ledger and idempotency keys; created when missing (mode 0700). */
  readonly dataDir: string;
  /** Address to listen on; default 127.0.0.1. */
  readonly host?: string;
  /** Port to listen on; default 0, a free one. */
  readonly port?: number;
  /** Keys to accept; default one random key for the default account. */
  readonly keys?: readonly AccountKey[];
  /** Accepted host names besides the loopback ones. */
  readonly allowHosts?: readonly string[];
  /** Accepted origins; default none. */
  readonly allowOrigins?: readonly string[];
  /** Engines besides the built-in one. */
  readonly engines?: AddedEngines;
  /** Whether the built-in engine starts before the first request; default true. */
  readonly warmsUp?: boolean;
  /** Models that are declared and refused as unavailable. */
  readonly unavailableModels?: readonly string[];
  /** Granted to new accounts, and to accounts with less than half of it. */
  readonly allowance?: Amounts;
  /** Sets the credits of every account; replaces the allowance. */
  readonly openingCredits?: number;
  /** Rate limit of each account; default none. */
  readonly requestsPerSecond?: number;
  /** How many requests may wait for speech at the same time; default 64. */
  readonly maxWaiting?: number;
  /** Fault rules. */
  readonly faults?: readonly FaultRule[];
  /** Whether to check the whole ledger, not only the part after its last checkpoint. */
  readonly verifiesWholeLedger?: boolean;
  /** How long `close` waits for billed responses and jobs; default 10 minutes. */
  readonly graceMs?: number;
  /** Whether to serve the page at `/`; default false. */
  readonly hasPage?: boolean;
  readonly report?: (event: ServiceEvent) => void;
  readonly clock?: Clock;
  readonly random?: Random;
}

/** A running service. */
export interface RunningService {
  /** Such as `http://127.0.0.1:4747`, without a slash at the end. */
  readonly baseUrl: string;
  /** The same with `ws`. */
  readonly realtimeUrl: string;
  /** The first key that it accepts. */
  readonly apiKey: string;
  /** One-time address of the page; `undefined` without a page. */
  readonly pageLink: string | undefined;
  /**
   * Refuses new requests, finishes running ones and accepted jobs for a limited time, and ends the engine.
   * Once `hurry` is aborted it waits no longer.
   */
  close(hurry?: AbortSignal): Promise<void>;
}
