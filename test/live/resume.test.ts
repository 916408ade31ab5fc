import { describe, expect, test } from 'vitest';
import { transition } from '../../src/live/transition.ts';
import { newConversation } from '../../src/live/state.ts';
import type { LiveEvent, LivePlan } from '../../src/live/state.ts';
import { newService, RELIABLE, SIMPLE, Simulation } from './simulation.ts';

const TEXTS = Array.from({ length: 10 }, (_none, index) => `The sentence number ${index}. `);
const V2: LivePlan = {
  ...RELIABLE,
  protocol: 'v2',
  request: { parameterProfile: 'product_v1', voiceId: 'voice', modelId: 'model' },
};

const undisturbed = new Simulation(RELIABLE, newService()).speak(TEXTS);
/** Every boundary in the full size; fewer in the small one, which still meets every kind of message. */
const STRIDE = process.env['FOLEY_TEST_SIZE'] === 'full' ? 1 : 7;
const BOUNDARIES = Array.from(
  { length: Math.floor(undisturbed.carried / STRIDE) },
  (_none, index) => index * STRIDE,
);

test('ten segments are spoken, delivered and billed once', () => {
  expect(undisturbed.ending).toMatchObject({ exit: 'ok' });
  expect(undisturbed.heard).toBe(TEXTS.join(''));
  expect(undisturbed.service.charges).toEqual(TEXTS.map(() => 1));
  expect(undisturbed.carried).toBeGreaterThan(100);
});

describe.each([
  { numbering: 'request', interrupted: 'failed', busyAnswers: 0 },
  { numbering: 'request', interrupted: 'stored', busyAnswers: 2 },
  { numbering: 'segment', interrupted: 'failed', busyAnswers: 0 },
  { numbering: 'segment', interrupted: 'stored', busyAnswers: 0 },
] as const)(
  'a connection dropped at any message, numbers by $numbering, $interrupted',
  (choices) => {
    test.each([1006, 1012, 1013])(
      'v3 delivers all audio after %s',
      (closeCode) => {
        for (const breaksAt of BOUNDARIES) {
          const broken = new Simulation(RELIABLE, newService(choices), { breaksAt, closeCode });
          broken.speak(TEXTS);
          expect([breaksAt, broken.ending?.exit, broken.heard]).toEqual([
            breaksAt,
            'ok',
            TEXTS.join(''),
          ]);
          // Audio stored from a dropped connection may be free; nothing is billed twice.
          expect(broken.service.charges.every((count) => count <= 1)).toBe(true);
          expect([...broken.timers]).toEqual([]);
        }
      },
      300_000,
    );

    test('v2 delivers all audio, or names the lost segments', () => {
      let lostOnes = 0;
      for (const breaksAt of BOUNDARIES) {
        const broken = new Simulation(V2, newService(choices), { breaksAt }).speak(TEXTS);
        expect(broken.service.charges.every((count) => count <= 1)).toBe(true);
        if (broken.ending?.exit === 'lost') {
          lostOnes += 1;
          expect(broken.ending.lostSegments?.length).toBeGreaterThan(0);
          expect(TEXTS.join('').startsWith(broken.heard)).toBe(true);
        } else {
          expect([breaksAt, broken.ending?.exit, broken.heard]).toEqual([
            breaksAt,
            'ok',
            TEXTS.join(''),
          ]);
        }
      }
      // v2 cannot fetch the audio that a service completes later.
      expect(lostOnes > 0).toBe(choices.interrupted === 'stored');
    }, 300_000);
  },
);

test('a delivered segment is not sent again', () => {
  for (const breaksAt of BOUNDARIES) {
    const done = new Set<string>();
    for (const effect of new Simulation(RELIABLE, newService(), { breaksAt }).speak(TEXTS)
      .effects) {
      if (effect.type === 'notice' && effect.message.event === 'segment_completed') {
        done.add(effect.message.segmentId);
      }
      if (effect.type === 'send' && effect.message.event === 'flush') {
        expect([breaksAt, done.has(effect.message.segmentId)]).toEqual([breaksAt, false]);
      }
    }
    expect(done.size).toBeGreaterThan(8);
  }
});

test('simple mode reconnects before its first audio, and reports lost audio after it', () => {
  const whole = new Simulation(SIMPLE, newService()).speak(['One part. ', 'Another one.']);
  expect(whole.ending).toMatchObject({ exit: 'ok' });
  expect(whole.heard).toBe('One part. Another one.');
  const exits = Array.from({ length: whole.carried }, (_none, breaksAt) => {
    const broken = new Simulation(SIMPLE, newService(), { breaksAt });
    broken.speak(['One part. ', 'Another one.']);
    if (broken.ending?.exit === 'ok') expect(broken.heard).toBe(whole.heard);
    else expect(broken.heard).toBe(whole.heard.slice(0, broken.heard.length));
    return [broken.ending?.exit, broken.heard === '' || broken.heard === whole.heard];
  });
  // authenticated, start, ready, two inputs, the first audio: nothing was delivered before.
  expect(exits.slice(0, 6)).toEqual(exits.slice(0, 6).map(() => ['ok', true]));
  expect(exits.slice(6).map(([exit]) => exit)).toEqual(exits.slice(6).map(() => 'lost'));
});

test.each([
  ['all of it was heard', 3, 'ok'],
  ['some of it is missing', 4, 'lost'],
])('simple mode, dropped after its usage: %s', (_what, audioBytes, exit) => {
  const connection = 1;
  const usage = { event: 'usage', audioBytes, sessionUnits: 3 } as const;
  const events: readonly Unchanced[] = [
    { type: 'begin' },
    { type: 'text', text: 'Hey' },
    { type: 'end' },
    { type: 'opened', connection },
    { type: 'message', connection, message: { event: 'authenticated' } },
    { type: 'message', connection, message: { event: 'ready', fields: { event: 'ready' } } },
    { type: 'message', connection, message: audioOf(Uint8Array.of(1, 2, 3)) },
    {
      type: 'message',
      connection,
      message: {
        ...usage,
        segmentId: undefined,
        quotaRemaining: undefined,
        creditsUsed: undefined,
      },
    },
    { type: 'closed', connection, code: 1006 },
  ];
  let state = newConversation(SIMPLE);
  for (const event of events) state = transition(state, { ...event, fraction: 0 }).state;
  expect(state.ending?.exit).toBe(exit);
});

type Unchanced = LiveEvent extends infer Event
  ? Event extends LiveEvent
    ? Omit<Event, 'fraction'>
    : never
  : never;

function audioOf(audio: Uint8Array) {
  return { event: 'audio', segmentId: undefined, sequence: 1, audio } as const;
}
