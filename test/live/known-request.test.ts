import { describe, expect, test } from 'vitest';
import type { ReceivedFrame } from '../../src/live/server-message.ts';
import type { LivePlan } from '../../src/live/state.ts';
import { newConversation } from '../../src/live/state.ts';
import { transition } from '../../src/live/transition.ts';
import { startScriptedServer } from '../realtime/scripted-server.ts';
import { speak } from './driven.ts';
import type { Event } from './simulation.ts';
import { newService, RELIABLE, Simulation } from './simulation.ts';

/** More audio than the queue holds. */
const TEXTS = Array.from({ length: 150 }, (_none, index) => `The sentence number ${index}. `);

function spokenBefore() {
  const service = newService({ frameBytes: 100 });
  expect(new Simulation(RELIABLE, service).speak(TEXTS).ending).toMatchObject({ exit: 'ok' });
  return service;
}

/** Sends texts like the driver: none while the input is paused. */
function sayMore(simulation: Simulation, texts: string[]): void {
  while (!simulation.state.isInputPaused && texts.length > 0) {
    simulation.happen({ type: 'text', text: texts.shift() ?? '' });
  }
}

describe('retrying a completed request', () => {
  test.each([
    ['comes after the service has reported that it knows the request', 0],
    ['is too long to be read before that', TEXTS.length],
  ])('fetches it at no cost when its text %s', (_when, early) => {
    const service = spokenBefore();
    const again = new Simulation(RELIABLE, service);
    const left = [...TEXTS];
    const first = left.splice(0, early);
    sayMore(again, first);
    again.happen({ type: 'begin' });
    left.unshift(...first);
    sayMore(again, left);
    expect(left).toEqual([]);
    again.happen({ type: 'end' });
    expect(again.ending).toMatchObject({ exit: 'ok' });
    expect(again.heard).toBe(TEXTS.join(''));
    expect(service.charges).toEqual(TEXTS.map(() => 1));
  });

  test('speaks additional text in another session', () => {
    const service = spokenBefore();
    const more = 'And one more. ';
    const again = new Simulation(RELIABLE, service);
    again.happen({ type: 'begin' });
    sayMore(again, [...TEXTS, more]);
    again.happen({ type: 'end' });
    expect(again.ending).toMatchObject({ exit: 'ok' });
    expect(again.heard).toBe([...TEXTS, more].join(''));
    expect(service.charges).toEqual([...TEXTS, more].map(() => 1));
  });

  test('opens no other session without additional text', () => {
    const service = spokenBefore();
    const again = new Simulation(RELIABLE, service);
    again.happen({ type: 'begin' });
    sayMore(again, [...TEXTS]);
    again.happen({ type: 'end' });
    expect([again.ending?.exit, [...service.requests.keys()]]).toEqual(['ok', ['request']]);
  });

  test('rejects another text that comes later', () => {
    const again = new Simulation(RELIABLE, spokenBefore());
    again.happen({ type: 'begin' });
    again.happen({ type: 'text', text: 'Quite another sentence. ' });
    expect(again.ending).toMatchObject({ exit: 'rejected', code: 'idempotency_conflict' });
    expect(again.heard).toBe('');
  });
});

const completed = (
  segments: Extract<ReceivedFrame, { event: 'request_status' }>['status']['segments'],
) =>
  [
    { type: 'opened', connection: 1 },
    { type: 'message', connection: 1, message: { event: 'authenticated' } },
    {
      type: 'message',
      connection: 1,
      message: { event: 'request_status', status: { state: 'completed', segments } },
    },
  ] as const satisfies readonly Event[];

function follow(plan: LivePlan, events: readonly Event[]) {
  const start = { state: newConversation(plan), sent: [] as string[] };
  return events.reduce(({ state, sent }, event) => {
    const step = transition(state, { ...event, fraction: 0.5 });
    const said = step.effects.flatMap((one) => (one.type === 'send' ? [one.message.event] : []));
    return { state: step.state, sent: [...sent, ...said] };
  }, start);
}

test.each(['v2', 'v3'] as const)(
  'a completed request of %s whose audio is not stored is lost, and not spoken again',
  (protocol) => {
    const plan = { ...RELIABLE, protocol };
    const { state, sent } = follow(plan, [
      { type: 'begin' },
      { type: 'text', text: 'Hello. ' },
      { type: 'end' },
      ...completed([]),
    ]);
    expect(state.ending).toMatchObject({ exit: 'lost', billed: 'yes' });
    expect(sent).toEqual(['start']);
  },
);

test('an empty segment is not fetched', () => {
  const nothing = { segmentId: 's1', isStored: true, characters: 3, audioBytes: 0 };
  const { state } = follow(RELIABLE, [
    { type: 'begin' },
    ...completed([nothing]),
    { type: 'text', text: '...' },
    { type: 'end' },
  ]);
  expect(state.ending).toMatchObject({ exit: 'rejected', code: 'empty_segment', billed: 'no' });
});

test('missing stored audio is lost: it was billed', async () => {
  const gone = 'GET /v3/tts/requests/request-1/segments/s1/audio';
  const server = await startScriptedServer({ http: { [gone]: { status: 404 } } });
  expect((await speak(server, ['One.'])).failure).toBeUndefined();
  const { failure } = await speak(server, ['One.']);
  expect(failure).toMatchObject({ exit: 'lost', code: 'lost', billed: 'yes', status: 404 });
});
