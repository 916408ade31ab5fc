import { setFlagsFromString } from 'node:v8';
import type { ExitName } from '../../contract/exit-codes.ts';
import type { Failure } from '../../errors/failure.ts';
import type { ItemResult } from './run-batch.ts';

/** What came of a batch. */
export interface Tally {
  readonly done: number;
  readonly failed: number;
  readonly skipped: number;
  readonly creditsUsed: number;
  /** The failure of an item that decides how the batch ends. */
  readonly gravest: Failure | undefined;
}

interface TallyKeeper {
  add(result: ItemResult): void;
  readonly tally: Tally;
}

export function createTally(): TallyKeeper {
  let [done, failed, skipped, creditsUsed] = [0, 0, 0, 0];
  let gravest: Failure | undefined;
  return {
    add(result) {
      if (result.status === 'done') done += 1;
      else if (result.status === 'skipped') skipped += 1;
      else failed += 1;
      creditsUsed += result.creditsUsed ?? 0;
      const { error } = result;
      if (error === undefined) return;
      const isGraver = gravest === undefined || graveness(error.exit) < graveness(gravest.exit);
      if (isGraver) gravest = error;
    },
    get tally() {
      return { done, failed, skipped, creditsUsed, gravest };
    },
  };
}

const GRAVEST_FIRST: readonly ExitName[] = [
  'lost',
  'unknownOutcome',
  'credits',
  'auth',
  'state',
  'output',
  'exists',
  'badAnswer',
  'service',
  'rateLimited',
  'network',
  'rejected',
];

function graveness(exit: ExitName): number {
  const place = GRAVEST_FIRST.indexOf(exit);
  return place === -1 ? GRAVEST_FIRST.length : place;
}

/**
 * How a batch ends that came to its end: any failure is 3, or, when nothing at all
 * was delivered, what the failures themselves say.
 */
export function exitOf({ done, failed, gravest, skipped }: Tally): ExitName {
  if (failed === 0) return 'ok';
  return done + skipped > 0 ? 'partial' : (gravest?.exit ?? 'partial');
}

/**
 * Node 20 optimizes what runs often after little time, on threads of its own. In a batch, which mostly
 * waits, that took a fifth of the processor time of 500 items, and never paid; later Nodes wait longer
 * by themselves.
 */
const LATER = '--interrupt-budget=1000000';
const DEFAULT_OF_NODE_20 = '--interrupt-budget=67584';
const isNode20 = process.versions.node.startsWith('20.');

/**
 * Does work that is mostly waiting; functions are optimized during it when they have run much longer.
 * What is loaded meanwhile is compiled anew, and compiled code is kept only of the usual flags.
 */
export async function optimizingLater<T>(work: () => Promise<T>): Promise<T> {
  if (!isNode20) return work();
  setFlagsFromString(LATER);
  try {
    return await work();
  } finally {
    setFlagsFromString(DEFAULT_OF_NODE_20);
  }
}
