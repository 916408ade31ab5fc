import { HEADERS } from '../contract/headers.ts';
import type { Clock } from '../effects/clock.ts';
import type { Random } from '../effects/random.ts';
import { prepareAccounts } from './accounts/accounts.ts';
import type { Amounts } from './billing/amounts.ts';
import { verifyLedger } from './billing/verify-ledger.ts';
import { createCachedSpeech } from './cached-speech/cached-speech.ts';
import { createCatalogue } from './catalogue/catalogue.ts';
import type { EngineRegistry } from './engine/registry.ts';
import { errorResponse } from './http/envelope.ts';
import type { GuardOptions } from './http/guard.ts';
import { createGuard } from './http/guard.ts';
import { createKeyTable } from './http/key-table.ts';
import { requestIdOf } from './http/request-id.ts';
import type { Router } from './http/router.ts';
import { createRouter } from './http/router.ts';
import type { AudioFolder } from './audio-files/audio-folder.ts';
import { Jobs } from './jobs/jobs.ts';
import { createSignedLinks } from './jobs/signed-links.ts';
import { createOperations } from './operations/operations.ts';
import type { Processes } from '../effects/processes.ts';
import type { AccountKey, ServiceEvent } from './running-service.ts';
import type { ServiceContext } from './service-context.ts';
import { ServiceError } from './service-error.ts';
import type { EncodeSpeech } from './synthesis/encode.ts';
import { createGenerations } from './synthesis/generations.ts';
import type { Store } from './store/open-store.ts';

export interface ServiceDeps extends GuardOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly store: Store;
  readonly engines: EngineRegistry;
  readonly encode: EncodeSpeech;
  /** Where the audio of jobs is kept. */
  readonly audio: AudioFolder;
  readonly processes: Processes;
  readonly keys: readonly AccountKey[];
  /** What a new account is given, and an old one with less than half of it is brought back to. */
  readonly allowance: Amounts;
  /** Models that are declared and refused as unavailable. */
  readonly unavailableModels: readonly string[];
  /** How long `close` waits for jobs; default 10 minutes. */
  readonly jobGraceMs?: number | undefined;
  readonly report: (event: ServiceEvent) => void;
}

/** The whole service as a function from a request to an answer. */
export interface Service {
  /** Never rejects: a failure is an answer too. */
  fetch(request: Request): Promise<Response>;
  /**
   * Refuses what comes, and finishes what runs or, after a while, cuts and refunds it. Jobs that are
   * not finished in time, or before `hurry` is aborted, are left to the next process.
   */
  close(hurry?: AbortSignal): Promise<void>;
}

/** How long a service that closes waits for what is being spoken. */
const CLOSE_GRACE_MS = 5_000;
const JOB_GRACE_MS = 600_000;

/**
 * Makes the service over what it is given; checks the ledger, refunds what processes that died had
 * begun, and goes on with the jobs that they left. It owns neither the store nor the engines.
 * @throws StoreError when the ledger does not balance
 */
export function createService(deps: ServiceDeps): Service {
  const { clock, random, report } = deps;
  prepare(deps);
  const context = createContext(deps);
  const { cachedSpeech, generations, jobs, operations } = context;
  operations.recover();
  jobs.start();
  // What cannot be removed now is removed later.
  void cachedSpeech.sweep().catch(() => undefined);
  let isClosing = false;
  const answer = createAnswer(deps, context, () => isClosing);
  return {
    async fetch(request) {
      const start = clock.monotonic();
      const requestId = requestIdOf(request.headers, random);
      const response = await answer(request, requestId);
      mark(response.headers, requestId);
      const durationMs = clock.monotonic() - start;
      const { pathname: path } = new URL(request.url);
      const { status } = response;
      report({ type: 'request', method: request.method, path, status, durationMs, requestId });
      return response;
    },
    async close(hurry) {
      isClosing = true;
      await Promise.all([
        generations.drain(CLOSE_GRACE_MS),
        jobs.close(deps.jobGraceMs ?? JOB_GRACE_MS, hurry),
      ]);
      operations.close();
    },
  };
}

function createAnswer(
  deps: ServiceDeps,
  context: ServiceContext,
  isClosing: () => boolean,
): Router {
  const route = createRouter(context, createKeyTable(deps.keys));
  const guard = createGuard(deps);
  return async (request, requestId) => {
    try {
      guard.check(request);
      if (isClosing()) throw closing();
      return await route(request, requestId);
    } catch (error) {
      return errorResponse(error, requestId);
    }
  };
}

function createContext(deps: ServiceDeps): ServiceContext {
  const { clock, store, encode, audio: folder, report } = deps;
  const operations = createOperations(deps);
  const catalogue = createCatalogue(deps);
  const { ownership } = operations;
  return {
    clock,
    store,
    catalogue,
    operations,
    generations: createGenerations(clock),
    jobs: new Jobs({ ...deps, catalogue, folder, ownership }),
    cachedSpeech: createCachedSpeech({ store, folder, clock }),
    links: createSignedLinks(deps),
    encode,
    report,
  };
}

function prepare({ store, keys, allowance, clock }: ServiceDeps): void {
  const accounts = [...new Set(keys.map(({ account }) => account))];
  verifyLedger(store, { full: false });
  prepareAccounts(store, accounts, { allowance, now: clock.now() });
}

/** Headers of every answer. `Server` tells a person that nothing of this was billed by anyone. */
function mark(headers: Headers, requestId: string): void {
  headers.set(HEADERS.requestId, requestId);
  headers.set('Server', 'foley-embedded');
  headers.set('Cache-Control', 'no-store');
  headers.set('X-Content-Type-Options', 'nosniff');
}

function closing(): ServiceError {
  return new ServiceError('ERR_SERVICE_UNAVAILABLE', 'The service is closing', {
    headers: { 'Retry-After': '1', Connection: 'close' },
  });
}
