import path from 'node:path';
import type { AsyncCommand } from 'fast-check';
import { expect } from 'vitest';
import { idempotencyHeader } from '../../src/api/resources/speech.ts';
import type { SurfaceName } from '../../src/contract/speech-surfaces.ts';
import { isSettled } from '../../src/durable/intents.ts';
import type { Book } from './book.ts';
import { tell } from './book.ts';
import type { Via } from './client-run.ts';
import { runRecover } from './client-run.ts';
import type { AudioFault, Fault } from './faults.ts';
import { noteEnding } from './endings.ts';
import { check } from './invariants.ts';
import { noteRecovered } from './recoveries.ts';
import type { Sight } from './sight.ts';
import { look } from './sight.ts';
import { readLedger } from './ledger-facts.ts';
import { quietTransport } from './network.ts';
import { patientClock } from './patient-clock.ts';
import { processDisk } from './process-disk.ts';
import type { Run } from './run.ts';
import { noteRenewed, startRun } from './run.ts';
import type { ServiceHost } from './service-host.ts';
import { GRACE_MS } from './service-host.ts';
import type { DiskName, World } from './world.ts';
import { putOlder, speechRequest, TEXTS, turns } from './world.ts';

/** The real thing: a world and the commands that ran in it. */
export interface Real {
  readonly world: World;
  readonly runs: Run[];
  readonly sights: Map<Run, Sight>;
}

export type Step = AsyncCommand<Book, Real>;

/** One step: what it does, and then what holds after every step. */
function step(name: string, work: (book: Book, real: Real) => Promise<void>): Step {
  return {
    check: () => true,
    async run(book, real) {
      await work(book, real);
      await conclude(book, real);
      await check(real.world, book, real.runs);
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
    const { runs, sights, world } = real;
    const number = runs.length;
    const earlier =
      typeof order.key === 'object' ? runs[order.key.again % (number || 1)] : undefined;
    const file = path.join(world.outputDir, `${number}.wav`);
    if (order.into === 'older file') await putOlder(file);
    const isKeyless = idempotencyHeader(order.surface) === undefined;
    const key =
      earlier === undefined || isKeyless || idempotencyHeader(earlier.order.surface) === undefined
        ? { value: `key-${number}`, madeByTool: order.key === 'tool' }
        : { value: earlier.keys.at(-1) ?? earlier.order.key.value, madeByTool: false };
    world.call(order.slot);
    const before = await look(world);
    const run = startRun(world, {
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
    sights.set(run, before);
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
async function conclude(book: Book, { runs, sights, world }: Real): Promise<void> {
  await world.settle();
  for (const run of runs) {
    const before = sights.get(run);
    if (run.ending === undefined || before === undefined) continue;
    sights.delete(run);
    run.isNoted = true;
    await noteEnding(world, book, run, before);
  }
}

export function recoverStep(dieAt: number | undefined): Step {
  return step(`recover(${dieAt ?? ''})`, async (book, { runs, world }) => {
    await recoverAll(book, { runs, world }, dieAt);
  });
}

async function recoverAll(
  book: Book,
  { runs, world }: Pick<Real, 'runs' | 'world'>,
  dieAt?: number,
): Promise<void> {
  const process = world.table.spawn();
  const disk = processDisk({ process, full: world.full, dieAt });
  const before = await look(world);
  const processes = world.table.seenBy(process);
  const recovered = await runRecover(
    { ...world, clock: patientClock(world.clock, process), files: disk.files, processes },
    quietTransport(world.network, process),
    noteRenewed(runs, book),
  ).catch((error: unknown) => {
    if (process.isAlive()) throw error;
    return [];
  });
  if (process.isAlive()) await noteRecovered(world, book, runs, recovered, before);
  else await noteDeadRecover(world, book, before);
  process.die();
  expect(disk.open(), 'left open').toEqual([]);
}

/** It had recorded results without reporting them; its temporary file is in no record. */
async function noteDeadRecover(world: World, book: Book, before: Sight): Promise<void> {
  world.mayHaveDebris = true;
  const { statuses } = await look(world);
  const open = new Set(statuses.filter(({ state }) => !isSettled(state)).map(({ id }) => id));
  const settled = before.statuses.filter(({ id, state }) => !isSettled(state) && !open.has(id));
  for (const { id } of settled) tell(book, book.keyOf.get(id) ?? '', 'unknown');
}

export function hostStep(what: 'kill' | 'start' | 'close', slot: 0 | 1): Step {
  return step(`${what}(${slot})`, async (_book, real) => {
    const { world } = real;
    const host = world.hosts[slot];
    if (what === 'kill') host?.kill();
    if (what === 'close') await closeHost(real, slot);
    if (what === 'start') await world.start(slot);
  });
}

/** A closing service finishes running requests, so no client may block it. */
async function closeHost({ world }: Real, slot: number): Promise<void> {
  const closing = world.hosts[slot]?.close();
  // First what can be finished, then no more patience.
  await turns(50);
  world.clock.advance(GRACE_MS);
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

async function goOn({ runs, world }: Real): Promise<void> {
  await world.release();
  for (const run of runs) run.resume();
  for (const run of runs) await run.ended;
}

export function diskStep(disk: DiskName, isFull: boolean): Step {
  return step(`${isFull ? 'fill' : 'free'}(${disk})`, async (_book, { runs, world }) => {
    const folder = world.folderOf(disk);
    if (isFull) world.full.add(folder);
    else world.full.delete(folder);
    for (const run of runs) if (run.ending === undefined) run.hadFullDisk = true;
  });
}

export function waitStep(ms: number): Step {
  return step(`wait(${ms})`, async (_book, { runs, world }) => {
    world.clock.advance(ms);
    // Nobody waits longer than a minute for the next byte.
    if (ms >= 60_000) for (const run of runs) await untilEnded(run, world);
  });
}

/** A job waits for one answer after the other. */
async function untilEnded(run: Run, { clock }: World): Promise<void> {
  for (;;) {
    await turns(20);
    if (run.ending !== undefined) return;
    clock.advance(60_000);
  }
}

/** Everything works again and everybody waits long enough: nothing may be left open then. */
export const finish: Step = step('finish', async (book, real) => {
  const { runs, world } = real;
  world.full.clear();
  await goOn(real);
  await conclude(book, real);
  for (const host of world.hosts) await leavesNothingInProgress(world, book, host);
  for (const slot of [0, 1]) await closeHost(real, slot);
  world.clock.advance(2 * 3_600_000);
  await world.start(0);
  world.call(0);
  await recoverAll(book, real);
  await recoverAll(book, real);
  // Jobs without a waiting client finish too.
  while (readLedger(world.books).jobsInProgress > 0) await turns(5);
  const { entries, ledger, outputs, statuses } = await look(world);
  expect([...ledger.byKey.values()].filter(({ state }) => state === 'in_progress')).toEqual([]);
  expect(
    statuses.filter(({ state }) => !isSettled(state)),
    'left open',
  ).toEqual([]);
  expect(entries.filter(({ record }) => record?.complete === true)).toEqual([]);
  const parts = [...outputs].filter(([name, { length }]) => !name.endsWith('.wav') && length > 0);
  if (!world.mayHaveDebris) expect(parts, 'debris').toEqual([]);
  expect(runs.every(({ ending }) => ending !== undefined)).toBe(true);
});

/** Without waiting clients, no request stays in progress once the disk is writable. */
async function leavesNothingInProgress(
  world: World,
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
  const { owners } = readLedger(world.books);
  expect(owners.has(host.process.identity.pid), 'stuck in progress').toBe(false);
}
