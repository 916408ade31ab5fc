import path from 'node:path';
import type { AsyncCommand } from 'fast-check';
import { expect } from 'vitest';
import { idempotencyHeader } from '../../src/api/resources/speech.ts';
import type { SurfaceName } from '../../src/contract/speech-surfaces.ts';
import { isSettled } from '../../src/paid/purchase.ts';
import type { Book } from './book.ts';
import { tell } from './book.ts';
import type { Via } from './client-run.ts';
import { runRecover } from './client-run.ts';
import type { AudioFault, Fault } from './faults.ts';
import { noteEnding } from './endings.ts';
import { check } from './invariants.ts';
import { noteRecovered } from './recoveries.ts';
import type { Observation } from './observation.ts';
import { look } from './observation.ts';
import { readLedger } from './ledger-facts.ts';
import { quietTransport } from './network.ts';
import { patientClock, putOlder, speechRequest, TEXTS, turns } from './simulation.ts';
import { processDisk } from './process-disk.ts';
import type { Run } from './run.ts';
import { noteRenewed, startRun } from './run.ts';
import type { ServiceHost } from './service-host.ts';
import { GRACE_MS } from './service-host.ts';
import type { DiskName, Simulation } from './simulation.ts';

/** The real thing: a world and the commands that ran in it. */
export interface Real {
  readonly simulation: Simulation;
  readonly runs: Run[];
  readonly observations: Map<Run, Observation>;
}

export type Step = AsyncCommand<Book, Real>;

/** One step: what it does, and then what holds after every step. */
function step(name: string, work: (book: Book, real: Real) => Promise<void>): Step {
  return {
    check: () => true,
    async run(book, real) {
      await work(book, real);
      await conclude(book, real);
      await check(real.simulation, book, real.runs);
    },
    toString: () => name,
  };
}

export interface SpeakOrder {
  readonly surface: SurfaceName;
  readonly via: Via;
  readonly text: 0 | 1;
  /** A new key, made by the tool or the person, or that of an earlier run, which is repeated. */
  readonly key: 'tool' | 'own' | { readonly again: number };
  readonly into: 'file' | 'older file' | 'stream' | 'forgetful stream' | 'full stream';
  readonly slot: 0 | 1;
  readonly faults: readonly Fault[];
  readonly audioFaults: readonly AudioFault[];
  readonly dieAt: number | undefined;
}

export function speakStep(order: SpeakOrder): Step {
  return step(`speak(${JSON.stringify(order)})`, async (_book, real) => {
    const { runs, observations, simulation } = real;
    const number = runs.length;
    const earlier =
      typeof order.key === 'object' ? runs[order.key.again % (number || 1)] : undefined;
    const file = path.join(simulation.outputDir, `${number}.wav`);
    if (order.into === 'older file') await putOlder(file);
    const isKeyless = idempotencyHeader(order.surface) === undefined;
    const key =
      earlier === undefined || isKeyless || idempotencyHeader(earlier.order.surface) === undefined
        ? { value: `key-${number}`, madeByTool: order.key === 'tool' }
        : { value: earlier.keys.at(-1) ?? earlier.order.key.value, madeByTool: false };
    simulation.call(order.slot);
    const before = await look(simulation);
    const run = startRun(simulation, {
      surface: order.surface,
      via: order.via,
      text: order.text,
      key,
      // Two at once into one file would be another story.
      output: earlier?.isNoted === true ? earlier.order.output : outputOf(order, file),
      faults: order.faults,
      audioFaults: order.audioFaults,
      dieAt: order.dieAt,
    });
    runs.push(run);
    observations.set(run, before);
    await Promise.race([run.ended, run.paused]);
  });
}

function outputOf({ into }: SpeakOrder, file: string): Run['order']['output'] {
  const all = Number.POSITIVE_INFINITY;
  if (into === 'stream') return { kind: 'stream', memoryBytes: all, takes: all };
  if (into === 'full stream') return { kind: 'stream', memoryBytes: all, takes: 1000 };
  if (into === 'forgetful stream') return { kind: 'stream', memoryBytes: 500, takes: 1000 };
  return { kind: 'file', path: file };
}

/** Judges every run that has ended since. */
async function conclude(book: Book, { runs, observations, simulation }: Real): Promise<void> {
  await simulation.settle();
  // Only those that ended since can have written a file at once.
  const ended = runs.filter((run) => run.ending !== undefined && observations.has(run));
  for (const run of ended) {
    const before = observations.get(run);
    if (before === undefined) continue;
    observations.delete(run);
    run.isNoted = true;
    const others = ended.filter((other) => other !== run);
    await noteEnding(simulation, book, run, before, others);
  }
}

export function recoverStep(dieAt: number | undefined): Step {
  return step(`recover(${dieAt ?? ''})`, async (book, { runs, simulation }) => {
    await recoverAll(book, { runs, simulation }, dieAt);
  });
}

async function recoverAll(
  book: Book,
  { runs, simulation }: Pick<Real, 'runs' | 'simulation'>,
  dieAt?: number,
): Promise<void> {
  const process = simulation.table.spawn();
  const disk = processDisk({ process, full: simulation.full, dieAt });
  const before = await look(simulation);
  const processes = simulation.table.seenBy(process);
  const recovered = await runRecover(
    { ...simulation, clock: patientClock(simulation.clock, process), files: disk.files, processes },
    quietTransport(simulation.network, process),
    noteRenewed(runs, book),
  ).catch((error: unknown) => {
    if (process.isAlive()) throw error;
    return [];
  });
  if (process.isAlive()) await noteRecovered(simulation, book, runs, recovered, before);
  else await noteDeadRecover(simulation, book, before);
  process.die();
  expect(disk.open(), 'left open').toEqual([]);
}

/** It had recorded results without reporting them; its temporary file is in no record. */
async function noteDeadRecover(
  simulation: Simulation,
  book: Book,
  before: Observation,
): Promise<void> {
  simulation.mayHaveDebris = true;
  const { statuses } = await look(simulation);
  const open = new Set(statuses.filter(({ state }) => !isSettled(state)).map(({ id }) => id));
  const settled = before.statuses.filter(({ id, state }) => !isSettled(state) && !open.has(id));
  for (const { id } of settled) tell(book, book.keyOf.get(id) ?? '', 'unknown');
}

export function hostStep(what: 'kill' | 'start' | 'close', slot: 0 | 1): Step {
  return step(`${what}(${slot})`, async (_book, real) => {
    const { simulation } = real;
    const host = simulation.hosts[slot];
    if (what === 'kill') host?.kill();
    if (what === 'close') await closeHost(real, slot);
    if (what === 'start') await simulation.start(slot);
  });
}

/** A closing service finishes running requests, so no client may block it. */
async function closeHost({ simulation }: Real, slot: number): Promise<void> {
  const closing = simulation.hosts[slot]?.close();
  // First what can be finished, then no more patience.
  await turns(50);
  simulation.clock.advance(GRACE_MS);
  await closing;
}

export function killClientStep(): Step {
  return step('kill client', async (_book, real) => {
    for (const run of real.runs) {
      if (run.ending !== undefined) continue;
      run.process.die();
      run.resume();
      await run.ended;
    }
  });
}

export function releaseStep(): Step {
  return step('release', (_book, real) => goOn(real));
}

async function goOn({ runs, simulation }: Real): Promise<void> {
  await simulation.release();
  for (const run of runs) run.resume();
  for (const run of runs) await run.ended;
}

export function diskStep(disk: DiskName, isFull: boolean): Step {
  return step(`${isFull ? 'fill' : 'free'}(${disk})`, async (_book, { runs, simulation }) => {
    const folder = simulation.folderOf(disk);
    if (isFull) simulation.full.add(folder);
    else simulation.full.delete(folder);
    for (const run of runs) if (run.ending === undefined) run.hadFullDisk = true;
  });
}

export function waitStep(ms: number): Step {
  return step(`wait(${ms})`, async (_book, { runs, simulation }) => {
    simulation.clock.advance(ms);
    // Nobody waits longer than a minute for the next byte.
    if (ms >= 60_000) for (const run of runs) await untilEnded(run, simulation);
  });
}

/** A job waits for one answer after the other. */
async function untilEnded(run: Run, { clock }: Simulation): Promise<void> {
  for (;;) {
    await turns(20);
    if (run.ending !== undefined) return;
    clock.advance(60_000);
  }
}

/** Everything works again and everybody waits long enough: nothing may be left open then. */
export const finish: Step = step('finish', async (book, real) => {
  const { runs, simulation } = real;
  simulation.full.clear();
  await goOn(real);
  await conclude(book, real);
  for (const host of simulation.hosts) await leavesNothingInProgress(simulation, book, host);
  for (const slot of [0, 1]) await closeHost(real, slot);
  simulation.clock.advance(2 * 3_600_000);
  await simulation.start(0);
  simulation.call(0);
  await recoverAll(book, real);
  await recoverAll(book, real);
  // Jobs without a waiting client finish too.
  while (readLedger(simulation.books).jobsInProgress > 0) await turns(5);
  const { entries, ledger, outputs, statuses } = await look(simulation);
  expect([...ledger.byKey.values()].filter(({ state }) => state === 'in_progress')).toEqual([]);
  expect(
    statuses.filter(({ state }) => !isSettled(state)),
    'left open',
  ).toEqual([]);
  expect(entries.filter(({ record }) => record?.complete === true)).toEqual([]);
  const parts = [...outputs].filter(([name, { length }]) => !name.endsWith('.wav') && length > 0);
  if (!simulation.mayHaveDebris) expect(parts, 'debris').toEqual([]);
  expect(runs.every(({ ending }) => ending !== undefined)).toBe(true);
});

/** Without waiting clients, no request stays in progress once the disk is writable. */
async function leavesNothingInProgress(
  simulation: Simulation,
  book: Book,
  host: ServiceHost | undefined,
): Promise<void> {
  if (host?.process.isAlive() !== true) return;
  host.engine.failBefore(Number.POSITIVE_INFINITY);
  host.lockWrite(0);
  const key = `last-${host.process.identity.pid}`;
  const response = await host.fetch(speechRequest(TEXTS[0], key));
  expect([200, 402]).toContain(response.status);
  await response.arrayBuffer();
  tell(book, key, 'yes');
  const { owners } = readLedger(simulation.books);
  expect(owners.has(host.process.identity.pid), 'stuck in progress').toBe(false);
}
