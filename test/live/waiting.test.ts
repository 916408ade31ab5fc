import fc from 'fast-check';
import { expect, test } from 'vitest';
import { FINISH_REASONS, REQUEST_STATES } from '../../src/contract/realtime/protocols.ts';
import type { Effect, LiveEvent, TimerName, LivePlan, LiveState } from '../../src/live/state.ts';
import { newConversation } from '../../src/live/state.ts';
import type { ReceivedFrame } from '../../src/live/server-message.ts';
import { transition } from '../../src/live/transition.ts';
import type { Event } from './simulation.ts';
import { RELIABLE, SIMPLE } from './simulation.ts';

const segmentId = fc.constantFrom('s1', 's2', 's3', 's9', 'x');
const count = fc.option(fc.nat({ max: 6 }), { nil: undefined });
const audio = fc.uint8Array({ maxLength: 4 });
const status = fc.record({
  state: fc.constantFrom(...REQUEST_STATES),
  segments: fc.array(
    fc.record({
      segmentId,
      isStored: fc.boolean(),
      characters: fc.constant(undefined),
      audioBytes: count,
    }),
    { maxLength: 3 },
  ),
});
const only = <Name extends string>(event: Name) => fc.constant({ event } as const);
const ready = fc.constant({ event: 'ready' as const, fields: { event: 'ready' } });
const message: fc.Arbitrary<ReceivedFrame> = fc.oneof(
  only('authenticated'),
  only('pong'),
  ready,
  fc.record({ event: fc.constant('input_ack' as const), acceptedSequence: count }),
  fc.record({ event: fc.constant('segment_accepted' as const), segmentId, reservedUnits: count }),
  fc.record({
    event: fc.constant('audio' as const),
    segmentId: fc.option(segmentId, { nil: undefined }),
    sequence: fc.nat({ max: 6 }),
    audio,
  }),
  fc.record({
    event: fc.constant('usage' as const),
    segmentId: fc.option(segmentId, { nil: undefined }),
    sessionUnits: count,
    quotaRemaining: count,
    creditsUsed: count,
    audioBytes: count,
  }),
  fc.record({ event: fc.constant('segment_completed' as const), segmentId, audioBytes: count }),
  fc.record({ event: fc.constant('request_status' as const), status }),
  fc.constant({ event: 'warning' as const, code: 'w', message: '' }),
  fc.record({
    event: fc.constant('error' as const),
    code: fc.constantFrom('provider_timeout', 'invalid_state', 'server_draining', 'other'),
    message: fc.constant(''),
    isRetryable: fc.boolean(),
    isTerminal: fc.boolean(),
    inReplyTo: fc.constantFrom(undefined, 'e1', 'ping2'),
  }),
  fc.record({
    event: fc.constant('finish' as const),
    reason: fc.constantFrom(...FINISH_REASONS),
    units: count,
  }),
);
const failure = { exit: 'network', code: 'network', message: 'no', billed: 'no' } as const;
const timers: readonly TimerName[] = ['reply', 'ping', 'silence', 'progress', 'backoff', 'poll'];

/** `older`: of a connection that was dropped. */
type Drawn = Event & { readonly older?: boolean };
const happening: fc.Arbitrary<Drawn> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ type: fc.constant('opened' as const), connection: fc.constant(0) }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      type: fc.constant('message' as const),
      connection: fc.constant(0),
      message,
    }),
  },
  fc.record({
    type: fc.constant('message' as const),
    connection: fc.constant(0),
    message,
    older: fc.constant(true),
  }),
  fc.record({
    type: fc.constant('refused' as const),
    connection: fc.constant(0),
    isRetryable: fc.boolean(),
    ending: fc.constant(failure),
  }),
  fc.record({
    type: fc.constant('closed' as const),
    connection: fc.constant(0),
    code: fc.constantFrom(1000, 1006, 1008, 1012, 1013, 4000),
  }),
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('text' as const),
      text: fc.constantFrom('One.', '', 'Two. '),
    }),
  },
  fc.constantFrom<Drawn>({ type: 'end' }, { type: 'paused' }, { type: 'resumed' }),
  {
    weight: 4,
    arbitrary: fc.record({ type: fc.constant('timer' as const), name: fc.constantFrom(...timers) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('status' as const),
      status: fc.option(status, { nil: undefined }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('stored' as const), segmentId, audio }) },
  fc.constant<Drawn>({ type: 'failed', ending: failure }),
);
/** Events that advance a conversation, so that random events meet every phase. */
const opening: readonly Drawn[] = [
  { type: 'begin' },
  { type: 'opened', connection: 0 },
  { type: 'message', connection: 0, message: { event: 'authenticated' } },
  { type: 'message', connection: 0, message: { event: 'ready', fields: { event: 'ready' } } },
  { type: 'text', text: 'One.' },
];
/** The connection drops, and the status of the request is queried. */
const asking: readonly Drawn[] = [
  ...opening,
  { type: 'closed', connection: 0, code: 1006 },
  { type: 'timer', name: 'backoff' },
];
const answered = (state: 'running' | 'failed_retryable'): Drawn => ({
  type: 'status',
  status: {
    state,
    segments: [{ segmentId: 's1', isStored: true, characters: 4, audioBytes: 2 }],
  },
});
const begun = fc
  .constantFrom(
    [...opening, { type: 'end' } as const],
    [...asking, answered('running')],
    [...asking, answered('failed_retryable')],
  )
  .chain((events) => fc.integer({ min: 1, max: events.length }).map((end) => events.slice(0, end)));
const plan = fc.constantFrom<LivePlan>(RELIABLE, { ...RELIABLE, protocol: 'v2' }, SIMPLE);

test('after any events the machine waits for a timer, an event or an effect, or has ended', () => {
  const phases = new Set<string>();
  fc.assert(
    fc.property(
      plan,
      begun,
      fc.array(happening, { minLength: 5, maxLength: 60 }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (how, first, drawn, fraction) => {
        const simulation = new Simulation(newConversation(how));
        for (const one of [...first, ...drawn]) {
          simulation.happen(one, fraction);
          phases.add(simulation.state.phase);
        }
      },
    ),
    { numRuns: process.env['FOLEY_TEST_SIZE'] === 'full' ? 10_000 : 600 },
  );
  // The random events reached every phase.
  expect([...phases].toSorted()).toEqual([
    'authenticating',
    'backoff',
    'connecting',
    'ended',
    'fetching',
    'polling',
    'querying',
    'speaking',
    'starting',
    'stopping',
    'waiting',
  ]);
}, 300_000);

/** Performs the effects like the driver, and compares. */
class Simulation {
  state: LiveState;
  readonly #running = new Set<TimerName>();
  #sockets = 0;
  #ends = 0;

  constructor(state: LiveState) {
    this.state = state;
  }

  happen(drawn: Drawn, fraction: number): void {
    const before = this.state;
    const { older, ...event } = drawn;
    const connection = before.connection - (older === true ? 1 : 0);
    if (event.type === 'timer' && !this.#running.delete(event.name)) return;
    if (event.type === 'refused' || (event.type === 'closed' && this.#sockets > 0))
      this.#sockets = 0;
    const live: LiveEvent = {
      ...event,
      fraction,
      ...('connection' in event ? { connection } : {}),
    };
    const { state, effects } = transition(before, live);
    this.state = state;
    for (const effect of effects) this.#follow(effect);
    this.#compare(before);
  }

  #follow(effect: Effect): void {
    if (effect.type === 'startTimer') this.#running.add(effect.name);
    if (effect.type === 'stopTimer') this.#running.delete(effect.name);
    if (effect.type === 'abort' || effect.type === 'close') this.#sockets = 0;
    if (effect.type === 'ended') this.#ends += 1;
    if (effect.type === 'connect') {
      expect(this.#sockets).toBe(0);
      this.#sockets = 1;
    }
  }

  #compare(before: LiveState): void {
    const { phase, timers: named, isPaused, isFetching, ending } = this.state;
    expect([...this.#running].toSorted()).toEqual([...named].toSorted());
    expect(this.#ends).toBe(phase === 'ended' ? 1 : 0);
    const has = (name: TimerName) => this.#running.has(name);
    switch (phase) {
      case 'ended':
        expect(named).toEqual([]);
        expect(ending).toBeDefined();
        expect(this.#sockets).toBe(0);
        if (before.phase === 'ended')
          expect(this.state).toEqual({ ...before, fraction: this.state.fraction });
        break;
      case 'connecting':
      case 'authenticating':
      case 'starting':
        expect(has('reply')).toBe(true);
        break;
      case 'speaking':
      case 'stopping':
        expect(isPaused || (has('silence') && has('ping'))).toBe(true);
        break;
      case 'backoff':
        expect(named).toEqual(['backoff']);
        break;
      case 'polling':
        expect(named).toEqual(['poll']);
        break;
      case 'fetching':
        expect(isFetching).toBe(true);
        break;
      case 'querying':
      case 'waiting':
      case 'idle':
        expect(named).toEqual([]);
        break;
    }
  }
}
