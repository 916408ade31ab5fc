import fc from 'fast-check';
import { describe, it } from 'vitest';
import { newBook } from '../../billing/book.ts';
import {
  finish,
  diskStep,
  hostStep,
  killClientStep,
  recoverStep,
  releaseStep,
  speakStep,
  waitStep,
} from '../../billing/commands.ts';
import { createSimulation, DISKS } from '../../billing/simulation.ts';
import type { SpeakOrder, Step } from '../../billing/commands.ts';
import type { AudioFault, Fault, ServiceEnd } from '../../billing/faults.ts';

const IS_FULL_SIZE = process.env['FOLEY_TEST_SIZE'] === 'full';
const RUNS = IS_FULL_SIZE ? 5_000 : 200;
const MOST_STEPS = IS_FULL_SIZE ? 20 : 12;

describe('client and service together', () => {
  it('lose nothing that was paid for, and charge nothing twice, whatever happens', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.commands(steps, { maxCommands: MOST_STEPS }),
        fc.boolean(),
        async (commands, isBlind) => {
          const simulation = await createSimulation(isBlind);
          try {
            const book = newBook();
            const real = { simulation, runs: [], observations: new Map() };
            await fc.asyncModelRun(() => ({ model: book, real }), commands);
            await finish.run(book, real);
          } finally {
            await simulation.end();
          }
        },
      ),
      { numRuns: RUNS },
    );
  }, 3_600_000);
});

const at = fc.constantFrom(0, 0.001, 0.3, 0.7, 1);

const serviceEnd = fc.constantFrom<ServiceEnd>('leaves', 'ends', 'waits');

const fault: fc.Arbitrary<Fault> = fc.oneof(
  fc.constantFrom<Fault>(
    { kind: 'none' },
    { kind: 'refused' },
    { kind: 'request_lost' },
    { kind: 'request_late' },
    { kind: 'left_early' },
  ),
  fc.record({ kind: fc.constant('request_twice' as const), answer: fc.constantFrom(0, 1) }),
  fc.record({ kind: fc.constant('answer_lost' as const), service: serviceEnd }),
  fc.record({ kind: fc.constant('cut' as const), at, service: serviceEnd }),
  fc.record({ kind: fc.constant('pause' as const), at }),
  fc.record({ kind: fc.constant('client_dies' as const), at }),
  fc.record({ kind: fc.constant('service_dies_early' as const), returns: fc.boolean() }),
  fc.record({ kind: fc.constant('service_dies' as const), at, returns: fc.boolean() }),
  fc.record({ kind: fc.constant('engine_fails' as const), chunk: fc.constantFrom(0, 1) }),
  fc.record({ kind: fc.constant('locked' as const), write: fc.constantFrom(1, 2, 3) }),
);

const audioFault: fc.Arbitrary<AudioFault> = fc.oneof(
  fc.constantFrom<AudioFault>({ kind: 'none' }, { kind: 'refused' }),
  fc.record({ kind: fc.constant('cut' as const), at, service: serviceEnd }),
  fc.record({ kind: fc.constant('pause' as const), at }),
  fc.record({ kind: fc.constant('client_dies' as const), at }),
  fc.record({ kind: fc.constant('service_dies' as const), at, returns: fc.boolean() }),
);

const way = fc.constantFrom<Pick<SpeakOrder, 'surface' | 'via'>>(
  { surface: 'v3', via: 'sync' },
  { surface: 'v3', via: 'sync' },
  { surface: 'v2', via: 'sync' },
  { surface: 'compat-tts', via: 'sync' },
  { surface: 'v3', via: 'job' },
  { surface: 'v3', via: 'job' },
  { surface: 'v1', via: 'job' },
);

const wishes = fc.record({
  text: fc.constantFrom(0, 1),
  key: fc.oneof(
    fc.constantFrom('tool' as const, 'own' as const),
    fc.record({ again: fc.nat({ max: 5 }) }),
  ),
  into: fc.constantFrom('file', 'file', 'older file', 'stream', 'forgetful stream', 'full stream'),
  slot: fc.constantFrom(0, 0, 0, 1),
  faults: fc.array(fault, { maxLength: 3 }),
  audioFaults: fc.array(audioFault, { maxLength: 2 }),
  dieAt: fc.oneof(
    { weight: 3, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.integer({ min: 1, max: 45 }) },
  ),
});

const order: fc.Arbitrary<SpeakOrder> = fc
  .tuple(way, wishes)
  .map(([chosen, others]) => ({ ...chosen, ...others }));

/** Every kind of step. */
const steps: fc.Arbitrary<Step>[] = [
  order.map((one) => speakStep(one)),
  order.map((one) => speakStep(one)),
  fc.option(fc.integer({ min: 1, max: 30 }), { nil: undefined }).map((one) => recoverStep(one)),
  fc
    .tuple(fc.constantFrom('kill', 'start', 'close'), fc.constantFrom(0, 1))
    .map(([what, slot]) => hostStep(what, slot)),
  fc.constant(killClientStep()),
  fc.constant(releaseStep()),
  fc.tuple(fc.constantFrom(...DISKS), fc.boolean()).map(([disk, full]) => diskStep(disk, full)),
  fc.constantFrom(1_000, 60_000, 121_000, 25 * 3_600_000).map((ms) => waitStep(ms)),
];
