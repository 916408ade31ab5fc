import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { REALTIME_ERRORS } from '../../../src/contract/realtime/errors.ts';
import type {
  SessionEffect,
  SessionEvent,
  StartedRequest,
  SessionState,
} from '../../../src/service/realtime/machine/state.ts';
import { newSession } from '../../../src/service/realtime/machine/state.ts';
import { transition } from '../../../src/service/realtime/machine/transition.ts';

vi.setConfig({ testTimeout: 120_000 });

const RUNS = process.env['FOLEY_TEST_SIZE'] === 'full' ? 10_000 : 300;
const IDS = ['s1', 's2', 'input'];

const problem = fc.constantFrom(
  { code: 'generation_failed', message: 'broken' } as const,
  { code: 'billing_failed', message: 'books' } as const,
  { code: 'internal_error', message: 'bug' } as const,
);
const segmentId = fc.constantFrom(...IDS);
const eventId = fc.integer({ min: 1, max: 40 }).map((number) => `e${number}`);

/** Frames of a client, right and wrong, in any order. */
const frame = fc.oneof(
  fc.record({
    event: fc.constant('start'),
    mode: mode(),
    eventId,
    requestId: fc.constant('r'),
    request: fc.constant({}),
  }),
  fc.record({
    event: fc.constant('input'),
    text: fc.constantFrom('One.', 'a'.repeat(9_999)),
    commit: fc.boolean(),
  }),
  fc.record({
    event: fc.constant('text'),
    eventId,
    sequence: fc.integer({ min: 1, max: 3 }),
    text: fc.constantFrom('One.', 'b'.repeat(2_000)),
  }),
  fc.record({ event: fc.constant('flush'), eventId, segmentId }),
  fc.record({ event: fc.constantFrom('stop', 'ping'), eventId }),
  fc.record({ event: fc.constant('auth'), token: fc.constant('t') }),
  fc.record({ event: fc.string() }),
);

function mode() {
  return fc.constantFrom('simple', 'reliable');
}

const happening: fc.Arbitrary<SessionEvent> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      type: fc.constant('frame' as const),
      message: frame,
      isRepeated: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('unreadable' as const),
      isText: fc.boolean(),
      problem: fc.constant('?'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('audio' as const),
      segmentId,
      bytes: fc.constant(new Uint8Array(3)),
    }),
  },
  { weight: 2, arbitrary: fc.record({ type: fc.constant('unspeakable' as const), segmentId }) },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('spoken' as const),
      segmentId,
      outcome: fc.constant({ units: 4, audioBytes: 3, quotaRemaining: 9, creditsUsed: 2 }),
    }),
  },
  fc.record({ type: fc.constant('failed' as const), problem }),
  fc.record({
    type: fc.constant('timer' as const),
    name: fc.constantFrom('auth' as const, 'idle' as const),
  }),
  fc.record({ type: fc.constant('drain' as const), isForced: fc.boolean() }),
  fc.constantFrom({ type: 'stalled' } as const, { type: 'closed' } as const),
);

/** A driver that answers what the machine asks for: as it should, or with a refusal. */
interface Answers {
  readonly knowsTickets: boolean;
  readonly hasCredits: boolean;
  readonly begins: 'begun' | 'known' | 'notBegun';
  readonly earlier: StartedRequest['earlier'];
}
const answers: fc.Arbitrary<Answers> = fc.record({
  knowsTickets: fc.boolean(),
  hasCredits: fc.constantFrom(true, true, true, true, false),
  begins: fc.constantFrom('begun', 'begun', 'begun', 'known', 'notBegun'),
  earlier: fc.constantFrom(
    [],
    [],
    [],
    [{ segmentId: 's1', sequences: [1], textDigest: 'x', units: 4, audioBytes: 3 }],
    [{ segmentId: 's1', sequences: [1], textDigest: 'x', units: 0, audioBytes: undefined }],
  ),
});

function answerTo(effect: SessionEffect, given: Answers): SessionEvent | undefined {
  switch (effect.type) {
    case 'redeem':
      return given.knowsTickets ? { type: 'redeemed', quota: 5 } : { type: 'ticketRefused' };
    case 'start':
      if (given.begins === 'known') return { type: 'known', status: STATUS };
      if (given.begins === 'notBegun') return { type: 'notStarted', problem: UNKNOWN_VOICE };
      return { type: 'started', request: requestOf(effect.start.mode, given.earlier) };
    case 'reserve':
      return given.hasCredits
        ? {
            type: 'reserved',
            segmentId: effect.segment.segmentId,
            units: effect.segment.characters,
          }
        : { type: 'notReserved', problem: { code: 'quota_exceeded', message: 'no' } };
    case 'complete':
      return { type: 'settled' };
    case 'send':
    case 'speak':
    case 'abandon':
    case 'startTimer':
    case 'stopTimer':
    case 'close':
      return undefined;
  }
}

const STATUS = { state: 'completed', retryable: false, units: 3, resultAvailable: false } as const;
const UNKNOWN_VOICE = { code: 'voice_not_found', message: 'nobody' } as const;

function requestOf(
  requestMode: 'simple' | 'reliable',
  earlier: StartedRequest['earlier'],
): StartedRequest {
  return {
    requestId: 'r',
    mode: requestMode,
    modelId: 'm',
    voiceId: 'v',
    audioFormat: { format: 'mp3' },
    ready: { provider: 'vendor' },
    warnings: [],
    segmentMaxCharacters: 10_000,
    earlier,
    units: 0,
    nextAudio: 1,
  };
}

interface Trace {
  readonly state: SessionState;
  readonly effects: readonly SessionEffect[];
}

/** Lets everything happen, the answers of the driver in their order. */
function play(
  happenings: readonly SessionEvent[],
  given: Answers,
  quota: number | undefined,
): Trace {
  let state = newSession('v2', 'session');
  const effects: SessionEffect[] = [];
  const tell = (event: SessionEvent): void => {
    const waiting = [event];
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const step = transition(state, next);
      state = step.state;
      effects.push(...step.effects);
      waiting.push(...step.effects.flatMap((effect) => answerTo(effect, given) ?? []));
    }
  };
  tell({ type: 'opened', quota });
  for (const one of happenings) tell(one);
  return { state, effects };
}

/** Something that goes its way for a while: a segment, or a simple input, is said, heard and over. */
interface Said {
  readonly segmentId: string;
  readonly heard: number;
  readonly end: 'spoken' | 'unspeakable' | 'nothing';
}
const said: fc.Arbitrary<Said> = fc.record({
  segmentId,
  heard: fc.nat({ max: 3 }),
  end: fc.constantFrom('spoken', 'spoken', 'unspeakable', 'nothing'),
});

/** A request that is started, and then what goes its way, with anything in between. */
const conversation = fc.tuple(
  fc
    .tuple(mode(), fc.array(fc.oneof({ weight: 6, arbitrary: said }, happening), { maxLength: 20 }))
    .map(([requestMode, rest]) => [started(requestMode), ...mapOrdered(rest)]),
  answers,
  fc.constantFrom(7, 7, 7, undefined),
);

function mapOrdered(all: readonly (Said | SessionEvent)[]): readonly SessionEvent[] {
  let sequence = 0;
  return all.flatMap((one) => {
    if (!('heard' in one)) return [one];
    sequence += 1;
    return eventsOf(one, sequence);
  });
}

/** The client says it in both modes; the one that it is not in refuses that. */
function eventsOf({ segmentId: named, heard, end }: Said, sequence: number): SessionEvent[] {
  const id = `${named}-${sequence}`;
  const frames = [
    { event: 'text', eventId: `t${sequence}`, sequence, text: 'One.' },
    { event: 'flush', eventId: `f${sequence}`, segmentId: id },
    { event: 'input', text: 'One.', commit: true },
  ];
  return [
    ...frames.map((message) => ({ type: 'frame' as const, message, isRepeated: false })),
    ...[id, 'input'].flatMap((heardId) => [
      ...Array.from({ length: heard }, () => audioOf(heardId)),
      ...(end === 'nothing' ? [] : [endOf(heardId, end)]),
    ]),
  ];
}

function audioOf(id: string): SessionEvent {
  return { type: 'audio', segmentId: id, bytes: new Uint8Array(3) };
}

function endOf(id: string, end: 'spoken' | 'unspeakable'): SessionEvent {
  const outcome = { units: 4, audioBytes: 3, quotaRemaining: 9, creditsUsed: 2 };
  return end === 'spoken'
    ? { type: 'spoken', segmentId: id, outcome }
    : { type: 'unspeakable', segmentId: id };
}

function started(requestMode: string): SessionEvent {
  const message = {
    event: 'start',
    mode: requestMode,
    eventId: 'e0',
    requestId: 'r',
    request: {},
  };
  return { type: 'frame', message, isRepeated: false };
}

describe('the machine of a connection, whatever happens', () => {
  test('comes to speech, ends and errors in these runs', () => {
    const sent = fc
      .sample(conversation, { numRuns: 500, seed: 1 })
      .flatMap(([happenings, given, quota]) => play(happenings, given, quota).effects)
      .flatMap((effect) => (effect.type === 'send' ? [effect.message] : []));
    const reasons = sent.flatMap((one) => (one.event === 'finish' ? [one.reason] : []));
    expect(new Set(reasons)).toEqual(new Set(['completed', 'timeout', 'server_draining']));
    const codes = new Set(sent.flatMap((one) => (one.event === 'error' ? [one.code] : [])));
    expect(codes.size).toBeGreaterThan(10);
    expect(sent.filter(({ event }) => event === 'audio').length).toBeGreaterThan(50);
    expect(sent.filter(({ event }) => event === 'segment_completed').length).toBeGreaterThan(30);
  });

  test('closes once, and says and does nothing after that', () => {
    fc.assert(
      fc.property(conversation, ([happenings, given, quota]) => {
        const { state, effects } = play(happenings, given, quota);
        const close = effects.findIndex(({ type }) => type === 'close');
        expect(close === -1).toBe(state.phase !== 'ended');
        if (close !== -1) expect(effects.slice(close + 1)).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  test('leaves no timer running at its end', () => {
    fc.assert(
      fc.property(conversation, ([happenings, given, quota]) => {
        const { effects } = play([...happenings, { type: 'closed' }], given, quota);
        const running = new Set<string>();
        for (const effect of effects) {
          if (effect.type === 'startTimer') running.add(effect.name);
          if (effect.type === 'stopTimer') running.delete(effect.name);
        }
        expect([...running]).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });

  test('ends a request that was begun exactly once: completed or given up', () => {
    fc.assert(
      fc.property(conversation, ([happenings, given, quota]) => {
        const { effects } = play([...happenings, { type: 'closed' }], given, quota);
        const isBegun = effects.some(
          (effect) => effect.type === 'send' && effect.message.event === 'ready',
        );
        const ends = effects.filter(({ type }) => type === 'complete' || type === 'abandon');
        expect(ends.length).toBe(isBegun ? 1 : 0);
      }),
      { numRuns: RUNS },
    );
  });

  test('speaks one segment at a time, each after it was reserved, in that order', () => {
    fc.assert(
      fc.property(conversation, ([happenings, given, quota]) => {
        const { effects } = play(happenings, given, quota);
        const reserved = effects.flatMap((effect) =>
          effect.type === 'reserve' ? [effect.segment.segmentId] : [],
        );
        const spoken = effects.flatMap((effect) =>
          effect.type === 'speak' ? [effect.segmentId] : [],
        );
        expect(reserved.slice(0, spoken.length)).toEqual(spoken);
      }),
      { numRuns: RUNS },
    );
  });

  test('numbers audio without a gap, and sends none before `ready`', () => {
    fc.assert(
      fc.property(conversation, ([happenings, given, quota]) => {
        const { effects } = play(happenings, given, quota);
        const sent = effects.flatMap((effect) => (effect.type === 'send' ? [effect.message] : []));
        const numbers = sent.flatMap((one) => (one.event === 'audio' ? [one.sequence] : []));
        expect(numbers).toEqual(numbers.map((_number, index) => index + 1));
        const ready = sent.findIndex(({ event }) => event === 'ready');
        const audio = sent.findIndex(({ event }) => event === 'audio');
        expect(audio === -1 || ready < audio).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });

  test('finishes `completed` only when everything that was accepted is over', () => {
    fc.assert(
      fc.property(conversation, ([happenings, given, quota]) => {
        const { effects } = play(happenings, given, quota);
        const sent = effects.flatMap((effect) => (effect.type === 'send' ? [effect.message] : []));
        const finish = sent.find(({ event }) => event === 'finish');
        if (finish?.event !== 'finish' || finish.reason !== 'completed') return;
        const accepted = sent.filter(({ event }) => event === 'segment_accepted');
        const over = sent.filter(({ event }) => event === 'segment_completed');
        expect(over.length).toBe(accepted.length);
      }),
      { numRuns: RUNS },
    );
  });

  test('sends neither `permission_denied` nor a `finish` with `error`: other codes say it', () => {
    fc.assert(
      fc.property(conversation, ([happenings, given, quota]) => {
        const { effects } = play(happenings, given, quota);
        const sent = effects.flatMap((effect) => (effect.type === 'send' ? [effect.message] : []));
        for (const message of sent) {
          if (message.event === 'finish') expect(message.reason).not.toBe('error');
          if (message.event !== 'error') continue;
          expect(message.code).not.toBe('permission_denied');
          expect(Object.keys(REALTIME_ERRORS)).toContain(message.code);
        }
      }),
      { numRuns: RUNS },
    );
  });

  test('says nothing after a terminal error, and closes', () => {
    fc.assert(
      fc.property(conversation, ([happenings, given, quota]) => {
        const { effects } = play(happenings, given, quota);
        const at = effects.findIndex(
          (effect) =>
            effect.type === 'send' && effect.message.event === 'error' && effect.message.terminal,
        );
        if (at === -1) return;
        const rest = effects.slice(at + 1);
        expect(rest.filter(({ type }) => type === 'send')).toEqual([]);
        expect(rest.at(-1)?.type).toBe('close');
      }),
      { numRuns: RUNS },
    );
  });
});
