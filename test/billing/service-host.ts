import type { Clock } from '../../src/system/clock.ts';
import { systemFiles } from '../../src/system/file-system.ts';
import type { Random } from '../../src/system/random.ts';
import { EngineRegistry } from '../../src/service/engine/speech-engine.ts';
import type { Service } from '../../src/service/service.ts';
import type { Store } from '../../src/service/store/open-store.ts';
import { openStore, StoreError } from '../../src/service/store/open-store.ts';
import { newService } from '../service/support/new-service.ts';
import type { ToneEngine } from '../service/support/tone-engine.ts';
import { toneEngine } from '../service/support/tone-engine.ts';
import type { ProcessTable, SimulatedProcess } from './simulated-process.ts';

export const API_KEY = 'model-key';
/** Enough for a few texts, so that money also runs out. */
export const ALLOWANCE = { credits: 70, quota: 70 };

/** So long a service that closes waits for what is paid for. */
export const GRACE_MS = 5_000;

export interface HostOptions {
  readonly dataDir: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly table: ProcessTable;
  /** What the account may use; by default so little that it runs out. */
  readonly allowance?: { readonly credits: number; readonly quota: number };
}

/** One process that serves, and may die. */
export interface ServiceHost {
  readonly engine: ToneEngine;
  readonly process: SimulatedProcess;
  fetch(request: Request): Promise<Response>;
  /** Its n-th write from now (from 1) finds the database locked by another process. */
  lockWrite(number: number): void;
  /** `kill -9`. */
  kill(): void;
  /** Ends as a service should. */
  close(): Promise<void>;
}

/** Starts a service over the data that all of them share. */
export async function startHost({
  dataDir,
  clock,
  random,
  table,
  allowance = ALLOWANCE,
}: HostOptions): Promise<ServiceHost> {
  const store = await openStore({ dataDir, clock, files: systemFiles });
  const engine = toneEngine();
  const process = table.spawn();
  const lockable = lockableStore(store);
  const service = newService({
    clock,
    random,
    store: lockable.store,
    engines: new EngineRegistry([engine]),
    processes: table.seenBy(process),
    keys: [{ key: API_KEY, account: 'model' }],
    allowance,
    graceMs: GRACE_MS,
  });
  // Code that continues in a dead process finds its database closed, and changes nothing.
  process.onDeath(() => store.close());
  return {
    engine,
    process,
    fetch: (request) => service.fetch(request),
    lockWrite: lockable.lock,
    kill: () => process.die(),
    close: () => end(service, process),
  };
}

async function end(service: Service, process: SimulatedProcess): Promise<void> {
  if (process.isAlive()) await service.close();
  process.die();
}

function lockableStore(store: Store): { store: Store; lock: (number: number) => void } {
  let left = 0;
  return {
    store: {
      path: store.path,
      read: (work) => store.read(work),
      write(work) {
        left -= 1;
        if (left === 0) throw new StoreError('locked', store.path, 'the database is held');
        return store.write(work);
      },
      close: () => store.close(),
    },
    lock(number) {
      left = number;
    },
  };
}
