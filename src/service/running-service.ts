import type { EngineRegistration } from '../contract/engine.ts';
import type { Clock } from '../system/clock.ts';
import type { Random } from '../system/random.ts';
import type { ResidentOptions } from './engine/resident/host-client.ts';
import type { Amounts } from './ledger/ledger.ts';
import type { FaultEffect, FaultRule, JobFault } from './http/faults.ts';

export interface AccountKey {
  readonly key: string;
  readonly account: string;
}

/** Another name of a model or a voice. */
export interface Alias {
  readonly name: string;
  /** Id of a speech model or a voice. */
  readonly id: string;
}

/** An event to log, without secrets. */
export type ServiceEvent =
  | {
      readonly type: 'request';
      readonly method: string;
      readonly path: string;
      readonly status: number;
      readonly durationMs: number;
      readonly requestId: string;
      readonly idempotencyKey: string | undefined;
      readonly account: string | undefined;
      readonly credits: string | undefined;
      readonly faults: readonly FaultEffect[];
    }
  /** A fault rule will make an accepted job fail. */
  | { readonly type: 'job-fault'; readonly jobId: string; readonly outcome: JobFault }
  /** A request or a job failed because of an internal error. `requestId` is the id of the request or the job. */
  | { readonly type: 'failure'; readonly requestId: string; readonly error: unknown }
  /** A process or thread of an engine was started after one ended unexpectedly. */
  | { readonly type: 'engine-restarted'; readonly engine: string }
  /** The service is closing, but first finishes `count` billed responses. */
  | { readonly type: 'finishing-answers'; readonly count: number }
  /** The service is closing, but first finishes `count` jobs. */
  | { readonly type: 'finishing-jobs'; readonly count: number }
  /** The service is closing, but first finishes `count` running jobs that an ended process left behind. */
  | { readonly type: 'finishing-found-jobs'; readonly count: number }
  /**
   * The service has closed with `count` unfinished jobs. The next service with the same data directory continues them.
   */
  | { readonly type: 'jobs-left'; readonly count: number };

/** The engines that the user added, and what foley needs to start them. */
export interface AddedEngines {
  readonly added: readonly EngineRegistration[];
  /** Environment variables of this process. Only an allowed few are passed to an engine. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Path of the Node executable, for engines whose command is `node`. */
  readonly nodePath: string;
  /** Options for keeping engine processes ready between commands. If undefined, the processes end with the service. */
  readonly resident?: ResidentOptions | undefined;
}

export interface OpenServiceOptions extends Partial<ServiceSettings> {
  /** Directory of the database and the audio files; created if missing (mode 0700). */
  readonly dataDir: string;
  /** Host name or IP address to listen on; default 127.0.0.1. */
  readonly host?: string;
  /** Port to listen on; default 0, which selects a free port. */
  readonly port?: number;
  /** Engines that the user added to the built-in one. */
  readonly engines?: AddedEngines;
  /** False to start the built-in engine only when the first request arrives; default true. */
  readonly warmsUp?: boolean;
}

/** The settings of a service that do not depend on its data directory, its address or its engines. */
export interface ServiceSettings {
  /** Accepted API keys. Default: one random key for the default account. */
  readonly keys: readonly AccountKey[];
  /** Allowed host names, in addition to loopback names such as `localhost`. */
  readonly allowHosts: readonly string[];
  /** Allowed origins of web pages; default none. */
  readonly allowOrigins: readonly string[];
  /** Other names of models and voices, for the endpoints for OpenAI clients; default none. */
  readonly aliases?: readonly Alias[];
  /** Ids of models to report as unavailable. */
  readonly unavailableModels: readonly string[];
  /**
   * Credits and quota of a new account. At its start, the service also refills each account that has less than half of
   * these credits or of this quota: it raises both to these amounts.
   */
  readonly allowance: Amounts;
  /**
   * Credits of every account when the service has started, whatever the earlier balance. Overrides the credits in
   * `allowance`.
   */
  readonly openingCredits?: number;
  /** Maximum number of requests a second for each account; default no limit. */
  readonly requestsPerSecond?: number;
  /** Maximum number of requests that wait for an engine; default 64. */
  readonly maxWaiting?: number;
  readonly faults?: readonly FaultRule[];
  /** True to verify the whole ledger when the service starts, not only the part after the last checkpoint. */
  readonly verifiesWholeLedger?: boolean;
  /** How long `close` waits for billed responses and jobs; default 10 minutes. */
  readonly graceMs?: number;
  /** True to serve the web page at `/`; default false. */
  readonly hasPage?: boolean;
  /** True to serve metrics at `/metrics`; default false. */
  readonly hasMetrics?: boolean;
  readonly report: (event: ServiceEvent) => void;
  readonly clock: Clock;
  readonly random: Random;
}

export interface RunningService {
  /** Base URL of the service, such as `http://127.0.0.1:4747`, without a slash at the end. */
  readonly baseUrl: string;
  /** Base URL for WebSockets, such as `ws://127.0.0.1:4747`. */
  readonly realtimeUrl: string;
  /** The first accepted API key. */
  readonly apiKey: string;
  /** One-time URL of the web page; `undefined` if no web page is served. */
  readonly pageLink: string | undefined;
  /** Replaces all fault rules. */
  setFaults(rules: readonly FaultRule[]): void;
  /**
   * Refuses new requests, finishes running requests and jobs within `graceMs`, and stops the engines. Once `hurry` is
   * aborted, aborts unfinished requests and jobs within about a second.
   */
  close(hurry?: AbortSignal): Promise<void>;
}
