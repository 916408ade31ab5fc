import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { findEndpoint } from '../../contract/endpoint-lookup.ts';
import { ENDPOINTS } from '../../contract/generated/endpoints.ts';
import type { ServiceEvent } from '../running-service.ts';
import { ServiceError } from '../service-error.ts';
import type { Connection } from '../store/connection.ts';
import { integer, number, optionalText } from '../store/connection.ts';
import type { Store } from '../store/open-store.ts';
import type { IncomingRequest, KeyTable } from './guard.ts';

const METRICS_PATH = '/metrics';

export type Metrics = ReturnType<typeof createMetrics>;

/** The parts of a service that are measured when the metrics are read. */
interface Measured {
  readonly jobs: { counts(): { readonly waiting: number; readonly running: number } };
  readonly speechQueue: { readonly size: number };
  readonly store: Store;
}

// From a list that answers at once to a long text on a slow engine.
const FIRST_BYTE_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

// The path of a request that is for no endpoint would be a label that clients choose.
const OTHER = { method: 'other', route: 'other' };

/**
 * Creates the metrics of a service process in the text format of Prometheus. Labels have only values of the service:
 * path templates of endpoints, statuses, and names of engines.
 * @param engineNames the engines that may be restarted
 */
export function createMetrics(engineNames: readonly string[]) {
  const registry = new Registry();
  const registers = [registry];
  const labelNames = ['method', 'route', 'status'] as const;
  const requests = new Counter({
    name: 'foley_http_requests_total',
    help: 'Requests that were answered, by path template.',
    labelNames,
    registers,
  });
  const firstByte = new Histogram({
    name: 'foley_http_first_byte_seconds',
    help: 'Time from a request to the first byte of its response.',
    labelNames,
    buckets: FIRST_BYTE_SECONDS,
    registers,
  });
  const jobs = new Gauge({
    name: 'foley_jobs',
    help: 'Unfinished jobs of this process.',
    labelNames: ['state'] as const,
    registers,
  });
  const waiting = new Gauge({
    name: 'foley_speech_requests_waiting',
    help: 'Speech requests that wait for an engine, without jobs.',
    registers,
  });
  const credits = new Counter({
    name: 'foley_credits_used_total',
    help: 'Credits that were spent from the accounts in the data folder, before refunds.',
    labelNames: ['route'] as const,
    registers,
  });
  const restarts = new Counter({
    name: 'foley_engine_restarts_total',
    help: 'Starts of a process or thread of a speech engine after one ended unexpectedly.',
    labelNames: ['engine'] as const,
    registers,
  });
  // A counter that appears with its first increment has no rate.
  for (const engine of engineNames) restarts.inc({ engine }, 0);
  let lastTransaction = 0;
  return {
    has: (path: string): boolean => path === METRICS_PATH,
    /** Counts an event of the service. */
    count(event: ServiceEvent): void {
      if (event.type === 'engine-restarted') restarts.inc({ engine: event.engine });
      if (event.type !== 'request') return;
      const labels = { ...routeOf(event), status: event.status };
      requests.inc(labels);
      firstByte.observe(labels, event.durationMs / 1_000);
    },
    /** Counts only credits that are spent from now on. */
    start(db: Connection): void {
      lastTransaction = newestTransaction(db);
    },
    /**
     * Handles `GET /metrics`. A request that did not come from this machine must have an API key (docs/service.md).
     * @throws ServiceError 401 for a missing or unknown API key, 405 for another method
     */
    async answer(
      arrival: IncomingRequest,
      { jobs: accepted, speechQueue, store }: Measured,
      keys: KeyTable,
    ): Promise<Response> {
      const { request } = arrival;
      if (!isFromThisMachine(arrival)) arrival.account = keys.accountOf(request.headers);
      if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowed();
      const queued = accepted.counts();
      jobs.set({ state: 'waiting' }, queued.waiting);
      jobs.set({ state: 'running' }, queued.running);
      waiting.set(speechQueue.size);
      store.read((db) => {
        for (const { amount, route } of spentSince(db, lastTransaction)) {
          credits.inc({ route }, amount);
        }
        lastTransaction = newestTransaction(db);
      });
      const headers = { 'Content-Type': registry.contentType };
      return new Response(await registry.metrics(), { headers });
    },
  };
}

function routeOf({ method: given, path }: Extract<ServiceEvent, { readonly type: 'request' }>) {
  const method = given === 'HEAD' ? 'GET' : given;
  if (method === 'GET' && path === METRICS_PATH) return { method, route: METRICS_PATH };
  const endpoint = findEndpoint(method, path);
  return endpoint === undefined ? OTHER : { method, route: endpoint.path };
}

// A proxy on this machine forwards requests of other machines.
function isFromThisMachine({ remoteAddress = '', request }: IncomingRequest): boolean {
  const isForwarded = FORWARDED.some((name) => request.headers.has(name));
  return !isForwarded && /^(?:::ffff:)?127\.|^::1$/.test(remoteAddress);
}

const FORWARDED = ['Forwarded', 'X-Forwarded-For', 'X-Real-IP', 'Via'];

function methodNotAllowed(): ServiceError {
  const Allow = 'GET, HEAD';
  const message = `This path accepts ${Allow} only`;
  return new ServiceError('ERR_METHOD_NOT_ALLOWED', message, { headers: { Allow } });
}

function newestTransaction(db: Connection): number {
  const row = db.get('SELECT coalesce(max(id), 0) AS id FROM ledger_transaction');
  return row === undefined ? 0 : integer(row, 'id');
}

function spentSince(db: Connection, transaction: number) {
  const rows = db.all(
    `SELECT endpoint, sum(amount) AS amount FROM ledger_transaction AS spent
     JOIN ledger_entry ON transaction_id = spent.id AND unit = 'credits' AND book = 'spent'
     LEFT JOIN operation ON operation.id = reservation_id
     WHERE spent.id > ? AND kind = 'commit' GROUP BY endpoint`,
    [transaction],
  );
  return rows.map((row) => ({
    amount: number(row, 'amount'),
    route: pathOf(optionalText(row, 'endpoint')),
  }));
}

function pathOf(id: string | undefined): string {
  return ENDPOINTS.find((one) => one.id === id)?.path ?? OTHER.route;
}
