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
  /** An accepted job will fail because of a fault rule. */
  | { readonly type: 'job-fault'; readonly jobId: string; readonly outcome: JobFault }
  /** `requestId` is the id of the request or job that failed. */
  | { readonly type: 'failure'; readonly requestId: string; readonly error: unknown }
  /** The service is closing and first finishes this number of billed responses. */
  | { readonly type: 'finishing-answers'; readonly count: number }
  /** The service is closing and first finishes this number of jobs. */
  | { readonly type: 'finishing-jobs'; readonly count: number }
  /** The service closed with unfinished jobs, which the next service with the same data directory finishes. */
  | { readonly type: 'jobs-left'; readonly count: number };

/** Engines added by the user, and how to start them. */
export interface AddedEngines {
  readonly added: readonly EngineRegistration[];
  /** Environment variables of this process; engines get only the allowed ones. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Path of the Node executable, used for engines whose command is `node`. */
  readonly nodePath: string;
}

export interface OpenServiceOptions {
  /** Directory of the database and audio files; created if missing (mode 0700). */
  readonly dataDir: string;
  /** Host name or IP address to listen on; default 127.0.0.1. */
  readonly host?: string;
  /** Port to listen on; default 0, which selects a free port. */
  readonly port?: number;
  /** Accepted API keys; default one random key for the default account. */
  readonly keys?: readonly AccountKey[];
  /** Allowed host names besides the names of this machine's loopback address. */
  readonly allowHosts?: readonly string[];
  /** Allowed origins of web pages; default none. */
  readonly allowOrigins?: readonly string[];
  /** Engines besides the built-in one. */
  readonly engines?: AddedEngines;
  /** Whether the built-in engine starts before the first request; default true. */
  readonly warmsUp?: boolean;
  /** Ids of models that are listed as unavailable and cannot be used. */
  readonly unavailableModels?: readonly string[];
  /** Credits and quota of new accounts; accounts with less than half of these are topped up. */
  readonly allowance?: Amounts;
  /** Credits to which every account is set when the service starts, instead of the allowance. */
  readonly openingCredits?: number;
  /** Maximum requests per second of each account; default no limit. */
  readonly requestsPerSecond?: number;
  /** Maximum number of requests that wait for speech; default 64. */
  readonly maxWaiting?: number;
  readonly faults?: readonly FaultRule[];
  /** Whether to verify the whole ledger at the start, instead of the part after the last checkpoint. */
  readonly verifiesWholeLedger?: boolean;
  /** Maximum time that `close` waits for billed responses and jobs; default 10 minutes. */
  readonly graceMs?: number;
  /** Whether to serve the web page at `/`; default false. */
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
  /** The first accepted API key. */
  readonly apiKey: string;
  /** One-time URL of the web page; `undefined` if no web page is served. */
  readonly pageLink: string | undefined;
  /**
   * Refuses new requests, finishes running requests and jobs within `graceMs`, and stops the
   * engines. Once `hurry` is aborted, stops waiting.
   */
  close(hurry?: AbortSignal): Promise<void>;
}
