import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FileSystem } from '../../../src/system/file-system.ts';
import type { EffectOutcome, Fault } from '../../harness/failing-files.ts';
import { forEachEffect } from '../../harness/failing-files.ts';
import type { Book } from '../../billing/book.ts';
import { newBook } from '../../billing/book.ts';
import type { Via } from '../../billing/client-run.ts';
import { runRecover } from '../../billing/client-run.ts';
import { finish } from '../../billing/commands.ts';
import { noteEnding } from '../../billing/endings.ts';
import { check } from '../../billing/invariants.ts';
import { quietTransport } from '../../billing/network.ts';
import { patientClock, createSimulation, putOlder } from '../../billing/simulation.ts';
import { noteRecovered } from '../../billing/recoveries.ts';
import type { Order, Run } from '../../billing/run.ts';
import { noteRenewed, startRun } from '../../billing/run.ts';
import type { Observation } from '../../billing/observation.ts';
import { look } from '../../billing/observation.ts';
import type { Simulation } from '../../billing/simulation.ts';

const ERRORS: readonly (readonly [string, Fault])[] = [
  ['fails with ENOSPC', { kind: 'error', code: 'ENOSPC' }],
  ['fails with EIO', { kind: 'error', code: 'EIO' }],
  ['finds the disk full from then on', { kind: 'full' }],
];
const IS_FULL_SIZE = process.env['FOLEY_TEST_SIZE'] === 'full';
const SYNC_OUTPUTS = IS_FULL_SIZE ? ['file', 'new file', 'stream'] : ['file'];
const WAYS: readonly (readonly [string, Via])[] = [
  ...SYNC_OUTPUTS.map((output) => [output, 'sync'] as const),
  ...SYNC_OUTPUTS.map((output) => [output, 'job'] as const),
];

/** A world in which one command spoke, and how it was before. */
interface Fixture {
  readonly simulation: Simulation;
  readonly book: Book;
  readonly before: Observation;
  readonly order: Order;
  run: Run | undefined;
}

describe.each(WAYS)('speaking into a %s, %s, when the k-th file effect', (output, via) => {
  const errors = IS_FULL_SIZE || via === 'sync' ? ERRORS : ERRORS.slice(0, 1);
  it.each(errors)('%s, loses nothing that was paid for', async (_name, fault) => {
    await forEachEffect({
      fault,
      prepare: () => newFixture(output, via),
      scenario: (fixture, files) => speakOn(fixture, undefined, files),
      check: judge,
    });
  });

  it('is the last before it is killed, loses nothing that was paid for', async () => {
    for (let dieAt = 1; ; dieAt += 1) {
      const fixture = await newFixture(output, via);
      await speakOn(fixture, dieAt);
      const isOver = fixture.run?.ending?.kind !== 'died';
      await judge(fixture, { at: dieAt, struck: isOver ? undefined : 'kill' });
      if (isOver) return;
    }
  });
});

describe.each<Via>(['sync', 'job'])('recovering what %s left, when the k-th file effect', (via) => {
  it.each(IS_FULL_SIZE ? ERRORS : ERRORS.slice(0, 1))(
    '%s, leaves what it could not settle for the next time',
    async (_name, fault) => {
      await forEachEffect({
        fault,
        prepare: () => killedBeforeItsName(via),
        scenario: recoverOn,
        check: judge,
      });
    },
  );
});

async function newFixture(output: string, via: Via = 'sync'): Promise<Fixture> {
  const simulation = await createSimulation(false);
  const file = path.join(simulation.outputDir, 'speech.wav');
  if (output === 'file') await putOlder(file);
  const all = Number.POSITIVE_INFINITY;
  const order: Order = {
    surface: 'v3',
    via,
    text: 0,
    key: { value: 'key', madeByTool: true },
    output:
      output === 'stream'
        ? { kind: 'stream', memoryBytes: all, takes: 1000 }
        : { kind: 'file', path: file },
    faults: [],
    audioFaults: [],
    dieAt: undefined,
  };
  return { simulation, book: newBook(), before: await look(simulation), order, run: undefined };
}

async function speakOn(
  fixture: Fixture,
  dieAt: number | undefined,
  files?: FileSystem,
): Promise<void> {
  const broken = files === undefined ? undefined : () => files;
  fixture.run = startRun(fixture.simulation, { ...fixture.order, dieAt }, broken);
  await fixture.run.ended;
}

/** A command that was killed when all its audio was there and had no name yet, or its job was accepted. */
async function killedBeforeItsName(via: Via): Promise<Fixture> {
  const wanted = via === 'sync' ? 'verified' : 'accepted';
  const known = knownAt.get(via) ?? firstKnown(via, wanted);
  knownAt.set(via, known);
  return killedAt(via, await known);
}

const knownAt = new Map<Via, Promise<number>>();

/** The first effect before which it is known how far it had got. */
async function firstKnown(via: Via, wanted: 'accepted' | 'verified'): Promise<number> {
  for (let dieAt = 1; ; dieAt += 1) {
    const { run, simulation } = await killedAt(via, dieAt);
    const { statuses } = await look(simulation);
    await simulation.end();
    if (statuses.some(({ state }) => state === wanted)) return dieAt;
    if (run?.ending?.kind === 'delivered') throw new Error('nothing was verified');
  }
}

async function killedAt(via: Via, dieAt: number): Promise<Fixture> {
  const fixture = await newFixture('file', via);
  await speakOn(fixture, dieAt);
  return fixture;
}

async function recoverOn({ book, run, simulation }: Fixture, files: FileSystem): Promise<void> {
  if (run === undefined) throw new Error('nothing ran');
  for (const [id, key] of run.intents) book.keyOf.set(id, key);
  const process = simulation.table.spawn();
  const before = await look(simulation);
  try {
    const recovered = await runRecover(
      {
        ...simulation,
        clock: patientClock(simulation.clock, process),
        files,
        processes: simulation.table.seenBy(process),
      },
      quietTransport(simulation.network, process),
      noteRenewed([run], book),
    );
    const settled = recovered.filter(({ outcome }) => outcome !== 'failed');
    await noteRecovered(simulation, book, [run], settled, before);
  } finally {
    process.die();
  }
}

/** What holds at once, and when everything works again. */
async function judge(
  { before, book, run, simulation }: Fixture,
  { at, struck }: Pick<EffectOutcome, 'at' | 'struck'>,
): Promise<void> {
  try {
    if (run === undefined) throw new Error('nothing ran');
    // What cannot be removed stays.
    if (struck === 'unlink') simulation.mayHaveDebris = true;
    if (!run.isNoted) await noteEnding(simulation, book, run, before);
    run.isNoted = true;
    await check(simulation, book, [run]);
    await finish.run(book, { simulation, runs: [run], observations: new Map() });
  } catch (error) {
    const what = error instanceof Error ? error.message : String(error);
    expect.fail(`effect ${at} (${struck ?? 'none'}): ${what}`);
  } finally {
    await simulation.end();
  }
}
