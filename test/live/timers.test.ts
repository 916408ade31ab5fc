import { expect, test } from 'vitest';
import type { TimerName } from '../../src/live/state.ts';
import { Timers } from '../../src/live/conversation.ts';
import { manualClock } from '../api/manual-clock.ts';

function started() {
  const clock = manualClock();
  const out: TimerName[] = [];
  return { clock, out, timers: new Timers(clock, (name) => out.push(name)) };
}

test('a timer fires once', () => {
  const { clock, out, timers } = started();
  timers.start('ping', 100);
  clock.advance(99);
  expect(out).toEqual([]);
  clock.advance(1);
  clock.advance(1_000);
  expect([out, clock.running()]).toEqual([['ping'], []]);
});

test('a restarted timer fires later', () => {
  const { clock, out, timers } = started();
  for (let turn = 0; turn < 10; turn += 1) {
    timers.start('silence', 100);
    clock.advance(60);
  }
  expect(out).toEqual([]);
  clock.advance(40);
  expect([out, clock.running()]).toEqual([['silence'], []]);
});

test('a timer restarted with less time fires sooner', () => {
  const { clock, out, timers } = started();
  timers.start('reply', 1_000);
  timers.start('reply', 10);
  clock.advance(10);
  expect([out, clock.running()]).toEqual([['reply'], []]);
});

test('a stopped timer does not fire', () => {
  const { clock, out, timers } = started();
  timers.start('progress', 10);
  timers.stop('progress');
  clock.advance(10);
  expect([out, clock.running()]).toEqual([[], []]);
});
