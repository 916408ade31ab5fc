import { describe, expect, test } from 'vitest';
import type { REALTIME_ERRORS } from '../../src/contract/realtime/errors.ts';
import { EXIT_CODES } from '../../src/contract/exit-codes.ts';
import type { Effect, LivePlan } from '../../src/live/state.ts';
import { newConversation } from '../../src/live/state.ts';
import { requestIdOf } from '../../src/live/audio-order.ts';
import { transition } from '../../src/live/transition.ts';
import type { ReceivedFrame } from '../../src/live/server-message.ts';
import type { Event } from './simulation.ts';
import { RELIABLE, SIMPLE } from './simulation.ts';

const NO_RETRY = { ...RELIABLE, maxRetries: 0 };
const message = (one: ReceivedFrame): Event => ({
  type: 'message',
  connection: 1,
  message: one,
});
const closed = (code: number): Event => ({ type: 'closed', connection: 1, code });
const audio = (sequence: number, segmentId = 's1') =>
  message({ event: 'audio', segmentId, sequence, audio: Uint8Array.of(sequence) });
const finish = (reason: 'completed' | 'error' | 'timeout' | 'server_draining') =>
  message({ event: 'finish', reason, units: 1 });
const STARTED: readonly Event[] = [
  { type: 'begin' },
  { type: 'opened', connection: 1 },
  message({ event: 'authenticated' }),
  message({ event: 'ready', fields: { event: 'ready' } }),
];
const ASKED: readonly Event[] = [...STARTED, { type: 'text', text: 'Hello. ' }];

function follow(plan: LivePlan, events: readonly Event[], fraction = 0.5) {
  let state = newConversation(plan);
  const effects: Effect[] = [];
  for (const event of events) {
    const step = transition(state, { ...event, fraction });
    state = step.state;
    effects.push(...step.effects);
  }
  const sent = effects.flatMap((one) => (one.type === 'send' ? [one.message] : []));
  return { state, effects, sent, ending: state.ending, code: codeOf(state.ending?.exit) };
}

function codeOf(exit: keyof typeof EXIT_CODES | undefined): number | undefined {
  return exit && EXIT_CODES[exit].code;
}

const refuse = (connection: number): Event => ({
  type: 'refused',
  connection,
  isRetryable: true,
  ending: { exit: 'network', code: 'network', message: 'refused', billed: 'no' },
});
const TERMINAL = { isTerminal: true, inReplyTo: undefined } as const;
const providerTimeout = (isRetryable: boolean) =>
  message({ event: 'error', code: 'provider_timeout', message: '', isRetryable, ...TERMINAL });
/** The service knows the request, with one segment. */
const known = (characters: number) =>
  message({
    event: 'request_status',
    status: {
      state: 'completed',
      segments: [{ segmentId: 's1', isStored: true, characters, audioBytes: 3 }],
    },
  });

/** The contract, section 10. */
const EXIT_OF: Readonly<Record<keyof typeof REALTIME_ERRORS, number>> = {
  authentication_failed: 4,
  authentication_required: 4,
  already_authenticated: 4,
  permission_denied: 4,
  quota_exceeded: 21,
  session_limit_exceeded: 22,
  provider_unavailable: 23,
  provider_timeout: 23,
  generation_failed: 23,
  internal_error: 23,
  billing_failed: 23,
  connection_closed: 24,
  client_backpressure: 24,
  invalid_message: 20,
  invalid_messagepack: 20,
  invalid_state: 20,
  idempotency_conflict: 20,
  empty_segment: 20,
  segment_too_large: 20,
  unsupported_parameter: 20,
  voice_not_found: 20,
  model_not_found: 20,
};

describe('an error event', () => {
  test.each(Object.entries(EXIT_OF))('%s is exit %i', (code, exit) => {
    for (const isRetryable of [true, false]) {
      const error = message({ event: 'error', code, message: 'no', isRetryable, ...TERMINAL });
      expect(follow(NO_RETRY, [...ASKED, error])).toMatchObject({ code: exit, ending: { code } });
    }
  });

  test('of another code is exit 20', () => {
    const error = message({
      event: 'error',
      code: 'new_one',
      message: '',
      isRetryable: false,
      ...TERMINAL,
    });
    expect(follow(RELIABLE, [...ASKED, error]).code).toBe(20);
  });

  test('that is retryable leads to another connection, any other ends', () => {
    expect(follow(RELIABLE, [...ASKED, providerTimeout(true)]).state.phase).toBe('backoff');
    expect(follow(RELIABLE, [...ASKED, providerTimeout(false)]).state.phase).toBe('ended');
  });
});

test.each([
  ['timeout', 24, undefined],
  ['error', 23, 23],
  ['server_draining', 23, undefined],
  ['completed', 25, 25],
] as const)('a session that finishes unasked with %s is exit %i', (reason, exit, idleExit) => {
  expect(follow(NO_RETRY, [...ASKED, finish(reason)]).code).toBe(exit);
  // Without text to speak, the client waits for more.
  const idle = follow(NO_RETRY, [...STARTED, finish(reason)]);
  expect([idle.code, idle.state.phase]).toEqual([idleExit, idleExit ? 'ended' : 'waiting']);
});

test.each([
  [1000, 25, 'backoff', 'waiting'],
  [1001, 25, 'backoff', 'waiting'],
  [1002, 25, 'ended', 'ended'],
  [1005, 25, 'backoff', 'waiting'],
  [1006, 26, 'backoff', 'waiting'],
  [1008, 4, 'ended', 'ended'],
  [1011, 23, 'ended', 'ended'],
  [1012, 23, 'backoff', 'waiting'],
  [1013, 23, 'backoff', 'waiting'],
  [4000, 25, 'ended', 'ended'],
])(
  'a connection closed with %i is exit %i and first %s, or %s without text',
  (code, exit, phase, idle) => {
    expect(follow(NO_RETRY, [...ASKED, closed(code)]).code).toBe(exit);
    expect(follow(RELIABLE, [...ASKED, closed(code)]).state.phase).toBe(phase);
    expect(follow(NO_RETRY, [...STARTED, closed(code)]).state.phase).toBe(idle);
  },
);

test('sent text has an unknown outcome when reconnecting fails', () => {
  const { code, ending } = follow(NO_RETRY, [...ASKED, closed(1006)]);
  expect([code, ending?.billed]).toEqual([26, 'unknown']);
});

test('unreadable and unexpected messages are exit 25', () => {
  const wrongs: readonly Event[] = [
    { type: 'unreadable', connection: 1, problem: 'the frame is not a map' },
    audio(1, 's2'),
    message({ event: 'segment_accepted', segmentId: 'x', reservedUnits: 1 }),
    message({ event: 'input_ack', acceptedSequence: 9 }),
  ];
  for (const wrong of wrongs) expect(follow(RELIABLE, [...ASKED, wrong]).code).toBe(25);
});

test('an end without text is exit 2, and a simple text may have 10,000 characters', () => {
  expect(follow(RELIABLE, [...STARTED, { type: 'end' }]).code).toBe(2);
  const text = '😀'.repeat(10_000);
  const longest = follow(SIMPLE, [...STARTED, { type: 'text', text }, { type: 'end' }]);
  expect(longest.sent.at(-1)).toMatchObject({ event: 'input', text, commit: true });
  expect(follow(SIMPLE, [...STARTED, { type: 'text', text: `${text}a` }]).code).toBe(2);
});

test('a long text is sent as segments of 10,000 characters in events of 2,000, numbered from 1', () => {
  const { sent } = follow(RELIABLE, [...STARTED, { type: 'text', text: '😀'.repeat(10_001) }]);
  expect(sent.map(({ event }) => event)).toEqual([
    'start',
    ...Array<string>(5).fill('text'),
    'flush',
    'text',
    'flush',
  ]);
  const texts = sent.flatMap((one) => (one.event === 'text' ? [one] : []));
  expect(texts.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5, 6]);
  expect(texts.map(({ text }) => Array.from(text).length)).toEqual([...Array(5).fill(2_000), 1]);
  const ids = sent.map(({ eventId }) => eventId);
  expect(new Set(ids).size).toBe(ids.length);
});

test('another session continues with its own id before the units of one are used up', () => {
  const plan = { ...RELIABLE, sessionMaxUnits: 20 };
  const said = follow(plan, [
    ...STARTED,
    { type: 'text', text: 'Twelve signs' },
    { type: 'text', text: 'Twelve again' },
  ]);
  expect(said.sent.map(({ event }) => event)).toEqual(['start', 'text', 'flush', 'stop']);
  const after = follow(plan, [
    ...STARTED,
    { type: 'text', text: 'Twelve signs' },
    { type: 'text', text: 'Twelve again' },
    message({ event: 'segment_accepted', segmentId: 's1', reservedUnits: 12 }),
    audio(1),
    message({ event: 'segment_completed', segmentId: 's1', audioBytes: 1 }),
    finish('completed'),
    { type: 'opened', connection: 2 },
    { type: 'message', connection: 2, message: { event: 'authenticated' } },
    { ...STARTED[3], connection: 2 } as Event,
  ]);
  expect(after.sent.slice(4)).toMatchObject([
    { event: 'start', requestId: 'request-2' },
    { event: 'text', sequence: 1, text: 'Twelve again' },
    { event: 'flush', segmentId: 's2' },
  ]);
});

test('the id of another session is valid for any first id', () => {
  const requestId = '😀'.repeat(128);
  const state = { ...newConversation({ ...RELIABLE, requestId }), session: 2 };
  expect(requestIdOf(state)).toBe(`${'😀'.repeat(126)}-2`);
});

test('the input pauses above 256 kB of waiting text, and resumes at half', () => {
  const kilobytes: Event = { type: 'text', text: 'a'.repeat(9_000) };
  const { effects, state } = follow(RELIABLE, [
    ...STARTED,
    ...Array.from({ length: 30 }, () => kilobytes),
  ]);
  expect(effects.filter(({ type }) => type === 'pauseInput')).toHaveLength(1);
  expect(state.isInputPaused).toBe(true);
});

test('attempts back off, up to --max-retries', () => {
  const backoff: Event = { type: 'timer', name: 'backoff' };
  const attempts = [1, 2, 3, 4, 5].flatMap((connection) => [refuse(connection), backoff]);
  const { effects, code } = follow(RELIABLE, [{ type: 'begin' }, ...attempts]);
  const waits = effects.flatMap((one) =>
    one.type === 'startTimer' && one.name === 'backoff' ? [one.afterMs] : [],
  );
  expect(waits).toEqual([250, 500, 1_000, 2_000]);
  expect(code).toBe(24);
});

test('pings are sent on time, and a silent connection is dead', () => {
  const pinged = follow(RELIABLE, [...STARTED, { type: 'timer', name: 'ping' }]);
  expect(pinged.sent.at(-1)).toMatchObject({ event: 'ping' });
  expect(pinged.state.timers).toContain('ping');
  const dead = follow(RELIABLE, [...ASKED, { type: 'timer', name: 'silence' }]);
  expect(dead.effects.map(({ type }) => type)).toContain('abort');
  expect(dead.state.phase).toBe('backoff');
});

test('a service that only answers pings makes no progress', () => {
  const waiting = follow(RELIABLE, [...ASKED, message({ event: 'pong' })]);
  expect(waiting.effects.at(-1)).toMatchObject({ type: 'startTimer', name: 'silence' });
  expect(follow(RELIABLE, [...ASKED, { type: 'timer', name: 'progress' }]).state.phase).toBe(
    'backoff',
  );
});

test('the silence timeout stops while the listener is slow', () => {
  const held = follow(RELIABLE, [...ASKED, { type: 'paused' }]);
  expect(held.state.timers).toEqual(['ping']);
  const again = follow(RELIABLE, [...ASKED, { type: 'paused' }, { type: 'resumed' }]);
  expect([...again.state.timers].toSorted()).toEqual(['ping', 'progress', 'silence']);
});

test('a browser sends its ticket first', () => {
  const { sent } = follow({ ...SIMPLE, ticket: 'once' }, STARTED.slice(0, 2));
  expect(sent).toMatchObject([{ event: 'auth', token: 'once' }]);
});

test('a failed request is retried with --retry-failed only', () => {
  const status = message({
    event: 'request_status',
    status: { state: 'failed_retryable', segments: [] },
  });
  const { code, ending } = follow(RELIABLE, [...STARTED.slice(0, 3), status]);
  expect([code, ending?.message]).toEqual([20, expect.stringContaining('--retry-failed')]);
  const { sent } = follow({ ...RELIABLE, retryFailed: true }, STARTED);
  expect(sent).toMatchObject([{ event: 'start', retryFailed: true, requestId: 'request' }]);
});

test('a completed request is fetched on v3, and another text is rejected', () => {
  const begun: readonly Event[] = [...STARTED.slice(0, 3), { type: 'text', text: 'Hello.' }];
  const stored: Event = { type: 'stored', segmentId: 's1', audio: Uint8Array.of(1, 2, 3) };
  const again = follow(RELIABLE, [...begun, { type: 'end' }, known(6), stored]);
  expect(again.effects.filter(({ type }) => type === 'fetchSegment')).toEqual([
    { type: 'fetchSegment', requestId: 'request', segmentId: 's1' },
  ]);
  expect(again.code).toBe(0);
  expect(follow(RELIABLE, [...begun, known(7)])).toMatchObject({
    code: 20,
    ending: { code: 'idempotency_conflict' },
  });
});

test('cancelling closes with a close frame', () => {
  const { effects, code } = follow(RELIABLE, [...ASKED, { type: 'cancel' }]);
  expect(effects).toContainEqual({ type: 'close', code: 1000 });
  expect(code).toBe(130);
});

const SIMPLE_ASKED: readonly Event[] = [
  ...STARTED,
  { type: 'text', text: 'Hello.' },
  { type: 'end' },
];
const backoffRanOut: Event = { type: 'timer', name: 'backoff' };
const simpleStatus = (state: 'completed' | 'failed_terminal', units?: number): Event => ({
  type: 'status',
  status: { state, units, segments: [] },
});
const startIds = (plan: LivePlan, events: readonly Event[]) =>
  follow(plan, events).sent.flatMap((one) => (one.event === 'start' ? [one.requestId] : []));

describe('a simple request that was disconnected before its first audio', () => {
  const lost: readonly Event[] = [...SIMPLE_ASKED, closed(1006), backoffRanOut];
  const again: readonly Event[] = [
    { type: 'opened', connection: 2 },
    { type: 'message', connection: 2, message: { event: 'authenticated' } },
  ];

  test('is queried before it is started again', () => {
    expect(follow(SIMPLE, lost).effects.at(-1)).toEqual({
      type: 'getStatus',
      requestId: 'simple',
    });
    const unknown: Event = { type: 'status', status: undefined };
    expect(startIds(SIMPLE, [...lost, unknown, ...again])).toEqual(['simple', 'simple']);
  });

  test('gets another id when it failed at no cost, unless the user chose the id', () => {
    const failed = [...lost, simpleStatus('failed_terminal', 0), ...again];
    expect(startIds(SIMPLE, failed)).toEqual(['simple', 'simple-2']);
    expect(follow({ ...SIMPLE, hasOwnRequestId: true }, failed).code).toBe(20);
  });

  test('is lost when it was billed', () => {
    expect(follow(SIMPLE, [...lost, simpleStatus('failed_terminal', 6)]).code).toBe(27);
    expect(follow(SIMPLE, [...lost, simpleStatus('failed_terminal')]).code).toBe(27);
    expect(follow(SIMPLE, [...lost, simpleStatus('completed')]).code).toBe(27);
  });

  test('has an unknown outcome when reconnecting fails', () => {
    const { code, ending } = follow({ ...SIMPLE, maxRetries: 0 }, [...SIMPLE_ASKED, closed(1006)]);
    expect([code, ending?.billed]).toEqual([26, 'unknown']);
  });
});

test('an error after the first audio of a simple request is final and billed', () => {
  const first = message({ event: 'audio', segmentId: undefined, sequence: 1, audio: Buffer.of(1) });
  const { code, ending } = follow(SIMPLE, [...SIMPLE_ASKED, first, providerTimeout(true)]);
  expect([code, ending?.billed]).toEqual([23, 'yes']);
});

test('a Retry-After is added to the backoff', () => {
  const busy: Event = { ...refuse(1), retryAfterMs: 3_000 } as Event;
  const { effects } = follow(RELIABLE, [{ type: 'begin' }, busy]);
  expect(effects.at(-1)).toEqual({ type: 'startTimer', name: 'backoff', afterMs: 3_250 });
});

test('a refused handshake does not change the billing of earlier audio', () => {
  const { code, ending } = follow(RELIABLE, [
    ...ASKED,
    audio(1),
    closed(1006),
    backoffRanOut,
    { type: 'status', status: { state: 'failed_retryable', segments: [] } },
    {
      type: 'refused',
      connection: 2,
      isRetryable: false,
      ending: { exit: 'auth', code: 'no_key', message: 'no', billed: 'no' },
    },
  ]);
  expect([code, ending?.billed]).toEqual([4, 'yes']);
});
