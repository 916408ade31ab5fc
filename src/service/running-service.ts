import type { EngineRegistration } from '../contract/engine.ts';
import type { Clock } from '../effects/clock.ts';
import type { Random } from '../effects/random.ts';
import type { Amounts } from './ledger/ledger.ts';
import type { FaultEffect, FaultRule, JobFault } from './http/faults.ts';

/** An API key and its account. */
export interface AccountKey {
  readonly key: string;
  readonly account: string;
}

/** An event to log; it contains no secrets. */
export type ServiceEvent =
  | {
      readonly type: 'request';
      readonly method: string;
      readonly path: string;
      readonly status: number;
      readonly durationMs: number;
      readonly requestId: string;
      readonly account: string | undefined;
      readonly credits: string | undefined;
      readonly faults: readonly FaultEffect[];
    }
  /** A fault rule will make an accepted job fail. */
  | { readonly type: 'job-fault'; readonly jobId: string; readonly outcome: JobFault }
  /** `requestId` is the id of the request or job that failed. */
  | { readonly type: 'failure'; readonly requestId: string; readonly error: unknown }
  /** The closing service finishes this many billed responses first. */
  | { readonly type: 'finishing-answers'; readonly count: number }
  /** The closing service finishes this many jobs first. */
  | { readonly type: 'finishing-jobs'; readonly count: number }
  /** The service closed with unfinished jobs; the next service on the same data finishes them. */
  | { readonly type: 'jobs-left'; readonly count: number };

/** Engines added by the user, and how to start them. */
export interface AddedEngines {
  readonly added: readonly EngineRegistration[];
  /** Environment of this process; engines get an allowlist of its variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Path of the program that runs the command `node`. */
  readonly nodePath: string;
}

export interface OpenServiceOptions {
  /** Directory of the database and audio files; created if missing (mode 0700). */
  readonly dataDir: string;
  /** Address to listen on; default 127.0.0.1. */
  readonly host?: string;
  /** Default 0, which selects a free port. */
  readonly port?: number;
  /** Accepted keys; default one random key for the default account. */
  readonly keys?: readonly AccountKey[];
  /** Allowed host names besides the loopback ones. */
  readonly allowHosts?: readonly string[];
  /** Allowed origins of web pages; default none. */
  readonly allowOrigins?: readonly string[];
  /** Engines besides the built-in one. */
  readonly engines?: AddedEngines;
  /** Whether the built-in engine starts before the first request; default true. */
  readonly warmsUp?: boolean;
  /** Ids of models that are listed as unavailable and cannot be used. */
  readonly unavailableModels?: readonly string[];
  /** Credits and quota of new accounts; tops up accounts with less than half of them. */
  readonly allowance?: Amounts;
  /** Sets the credits of every account, instead of the allowance. */
  readonly openingCredits?: number;
  /** Rate limit of each account; default none. */
  readonly requestsPerSecond?: number;
  /** Maximum number of requests that wait for speech; default 64. */
  readonly maxWaiting?: number;
  readonly faults?: readonly FaultRule[];
  /** Whether to check the whole ledger, instead of the part after its last checkpoint. */
  readonly verifiesWholeLedger?: boolean;
  /** Maximum time that `close` waits for billed responses and jobs; default 10 minutes. */
  readonly graceMs?: number;
  /** Whether to serve the page at `/`; default false. */
  readonly hasPage?: boolean;
  readonly report?: (event: ServiceEvent) => void;
  readonly clock?: Clock;
  readonly random?: Random;
}

export interface RunningService {
  /** Base URL such as `http://127.0.0.1:4747`, without a slash at the end. */
  readonly baseUrl: string;
  /** The base URL of WebSockets, such as `ws://127.0.0.1:4747`. */
  readonly realtimeUrl: string;
  /** The first accepted key. */
  readonly apiKey: string;
  /** One-time address of the page; `undefined` without a page. */
  readonly pageLink: string | undefined;
  /**
   * Refuses new requests, finishes running requests and jobs within `graceMs`, and stops the
   * engines. Once `hurry` is aborted, stops waiting.
   */
  close(hurry?: AbortSignal): Promise<void>;
}
