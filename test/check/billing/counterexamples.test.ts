import { describe, expect, it } from 'vitest';
import type { Book } from '../../billing/book.ts';
import { newBook } from '../../billing/book.ts';
import type { Real, SpeakOrder, Step } from '../../billing/commands.ts';
import {
  diskStep,
  finish,
  hostStep,
  killClientStep,
  recoverStep,
  releaseStep,
  speakStep,
  waitStep,
} from '../../billing/commands.ts';
import { createSimulation } from '../../billing/simulation.ts';

/** What the model found once, each as short as it could be made. */
const SEQUENCES: readonly (readonly [string, readonly Step[]])[] = [
  ['a stream that fails after more than is remembered', [speak({ into: 'forgetful stream' })]],
  [
    'a stream that fails, while the spool is full',
    [diskStep('spool', true), speak({ into: 'full stream' })],
  ],
  [
    'a spool that has room again after a part of the audio had none',
    [
      diskStep('spool', true),
      speak({ into: 'full stream', faults: [{ kind: 'pause', at: 0.7 }] }),
      diskStep('spool', false),
    ],
  ],
  [
    'an output and a spool that are both full',
    [diskStep('output', true), diskStep('spool', true), speak({})],
  ],
  [
    'a journal that fills up after the request',
    [speak({ faults: [{ kind: 'pause', at: 0 }] }), diskStep('journal', true), releaseStep()],
  ],
  ['an end that the service could not write', [speak({ faults: [{ kind: 'locked', write: 3 }] })]],
  [
    'a service that is killed half way, and its audio repeated',
    [speak({ faults: [{ kind: 'service_dies', at: 0.3, returns: true }] }), again()],
  ],
  [
    'a service that is killed before the first byte, on another machine',
    [speak({ faults: [{ kind: 'service_dies_early', returns: false }] }), hostStep('start', 0)],
  ],
  [
    'a recovery beside a command that still runs',
    [speak({ faults: [{ kind: 'pause', at: 0.7 }] }), recoverStep(undefined), releaseStep()],
  ],
  [
    'a command that is killed half way, and two recoveries, of which one is killed',
    [
      speak({ faults: [{ kind: 'pause', at: 0.7 }] }),
      killClientStep(),
      recoverStep(9),
      recoverStep(undefined),
    ],
  ],
  [
    'a command that is killed while it notes its request, and a recovery that is killed',
    [speak({ into: 'full stream', key: 'own', dieAt: 11 }), recoverStep(14)],
  ],
  [
    'a command that is killed while it notes another text under a used key',
    [
      job({ into: 'file', audioFaults: [{ kind: 'service_dies', at: 0, returns: false }] }),
      speak({ text: 1, into: 'forgetful stream' }),
      speak({ key: { again: 1 }, into: 'file', dieAt: 12 }),
    ],
  ],
  [
    'a recovery that is killed while it notes a new key',
    [
      speak({ into: 'file', faults: [{ kind: 'service_dies_early', returns: true }], dieAt: 21 }),
      recoverStep(25),
      hostStep('kill', 0),
      recoverStep(undefined),
    ],
  ],
  [
    'two commands that are killed while they note their requests, of which one was refunded',
    [
      speak({ into: 'file', dieAt: 16 }),
      speak({ into: 'file', dieAt: 17 }),
      speak({ into: 'file', key: { again: 1 }, faults: [{ kind: 'engine_fails', chunk: 0 }] }),
    ],
  ],
  [
    'an output that fills up before the length in its head is written',
    [
      speak({ into: 'file', faults: [{ kind: 'pause', at: 1 }] }),
      diskStep('output', true),
      releaseStep(),
    ],
  ],
  [
    'an answer that never came, and a request that arrived after it was given up',
    [speak({ faults: [{ kind: 'request_late' }, { kind: 'refused' }] }), releaseStep(), again()],
  ],
  [
    'a request whose body is still being read, repeated, then abandoned by both clients',
    [speak({ faults: [{ kind: 'cut', at: 0.3, service: 'waits' }] }), again(), waitStep(121_000)],
  ],
  [
    'a request that a killed command never sent, repeated when the credits are used up',
    [
      speak({ into: 'full stream', dieAt: 11 }),
      speak({ into: 'file' }),
      speak({ surface: 'compat-tts', key: { again: 0 }, into: 'file', dieAt: 16 }),
      speak({ key: { again: 5 }, into: 'file' }),
      recoverStep(undefined),
    ],
  ],
];

/** The same for jobs. */
const JOB_SEQUENCES: readonly (readonly [string, readonly Step[]])[] = [
  ['a job into a file', [job({}), job({ key: { again: 0 } })]],
  ['a job into a stream that takes no more', [job({ into: 'full stream' })]],
  [
    'a job of v1 whose create is lost on the way',
    [job({ faults: [{ kind: 'request_lost' }] }, 'v1')],
  ],
  [
    'a job whose create arrives after it was given up',
    [
      job({ faults: [{ kind: 'request_late' }, { kind: 'refused' }] }),
      releaseStep(),
      job({ key: { again: 0 } }),
    ],
  ],
  [
    'a job whose create arrives twice, and whose answer is lost',
    [
      job({ faults: [{ kind: 'request_twice', answer: 1 }] }),
      job({ faults: [{ kind: 'answer_lost', service: 'ends' }] }),
    ],
  ],
  [
    'a job that fails',
    [job({ faults: [{ kind: 'engine_fails', chunk: 0 }] }), recoverStep(undefined)],
  ],
  [
    'a job whose service dies as soon as it was accepted',
    [job({ faults: [{ kind: 'service_dies_early', returns: true }] }), recoverStep(undefined)],
  ],
  [
    'a job whose service dies and does not come back',
    [
      job({ audioFaults: [{ kind: 'service_dies', at: 0.3, returns: false }] }),
      recoverStep(undefined),
      hostStep('start', 0),
      recoverStep(undefined),
    ],
  ],
  [
    'a job whose audio is cut, and fetched by recover',
    [
      job({ audioFaults: [{ kind: 'cut', at: 0.7, service: 'leaves' }] }),
      recoverStep(5),
      recoverStep(undefined),
      recoverStep(undefined),
    ],
  ],
  [
    'a job whose command is killed while its audio comes',
    [
      job({ audioFaults: [{ kind: 'pause', at: 0.7 }] }),
      recoverStep(undefined),
      killClientStep(),
      recoverStep(undefined),
    ],
  ],
  [
    'two jobs of different texts for one file, of which the later one keeps the name',
    [
      speak({ surface: 'compat-tts', key: { again: 0 }, into: 'file', slot: 0 }),
      job({ text: 1, key: { again: 0 }, slot: 0, audioFaults: [{ kind: 'pause', at: 0 }] }),
      job({ text: 0, key: { again: 0 }, slot: 0, audioFaults: [{ kind: 'pause', at: 0 }] }),
      releaseStep(),
    ],
  ],
  [
    'a job while the output is full',
    [diskStep('output', true), job({}), diskStep('output', false), recoverStep(undefined)],
  ],
  [
    'a job while the journal is full after its beginning',
    [
      job({ audioFaults: [{ kind: 'pause', at: 0 }] }),
      diskStep('journal', true),
      releaseStep(),
      diskStep('journal', false),
    ],
  ],
];

describe.each([
  ['by processes that know each other', false],
  ['by processes that know nothing of each other', true],
])('%s', (_name, isBlind) => {
  it.each([...SEQUENCES, ...JOB_SEQUENCES])(
    '%s: loses nothing, and charges nothing twice',
    async (_what, sequence) => {
      const simulation = await createSimulation(isBlind);
      try {
        const book: Book = newBook();
        const real: Real = { simulation, runs: [], observations: new Map() };
        for (const step of [...sequence, finish]) await step.run(book, real);
        expect(real.runs.length).toBeGreaterThan(0);
      } finally {
        await simulation.end();
      }
    },
  );
});

it('a service that starts beside one that speaks leaves it alone', async () => {
  const simulation = await createSimulation(false);
  try {
    const book = newBook();
    const real: Real = { simulation, runs: [], observations: new Map() };
    const pausing = speak({ faults: [{ kind: 'pause', at: 0.7 }] });
    const besides = [hostStep('close', 1), hostStep('start', 1)];
    for (const step of [pausing, ...besides, releaseStep()]) await step.run(book, real);
    expect(real.runs.map(({ ending }) => ending?.kind)).toEqual(['delivered']);
  } finally {
    await simulation.end();
  }
});

it('a job that nothing happens to is delivered, also when it is asked for again', async () => {
  const simulation = await createSimulation(false);
  try {
    const book = newBook();
    const real: Real = { simulation, runs: [], observations: new Map() };
    const others = [job({ into: 'stream' }), job({ into: 'file' }, 'v1')];
    const orders = [job({}), job({ key: { again: 0 } }), ...others];
    for (const step of orders) await step.run(book, real);
    const delivered = { kind: 'delivered', creditsUsed: 20 };
    expect(real.runs.map(({ ending }) => ending)).toEqual(orders.map(() => delivered));
  } finally {
    await simulation.end();
  }
});

function speak(order: Partial<SpeakOrder>): Step {
  return speakStep({
    surface: 'v3',
    via: 'sync',
    text: 0,
    key: 'tool',
    into: 'older file',
    slot: 0,
    faults: [],
    audioFaults: [],
    dieAt: undefined,
    ...order,
  });
}

function job(order: Partial<SpeakOrder>, surface: 'v3' | 'v1' = 'v3'): Step {
  return speak({ surface, via: 'job', ...order });
}

/** The last command once more, with the key that it had. */
function again(): Step {
  return speak({ key: { again: 0 } });
}
