import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { LivePlan } from '../../src/live/state.ts';
import type { Message } from '../realtime/wire-names.ts';
import { newService, RELIABLE, SIMPLE, Simulation } from './simulation.ts';

const TIMES = process.env['FOLEY_TEST_SIZE'] === 'full' ? 50 : 2;
const texts = fc.array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }), {
  minLength: 1,
  maxLength: 6,
});
const frameBytes = fc.integer({ min: 1, max: 20 });
const plan = fc.constantFrom(RELIABLE, SIMPLE);
/** For each frame: how far its copy moves, and whether it changes places with the next one. */
const lots = fc.array(fc.nat({ max: 30 }), { minLength: 1, maxLength: 40 });

test('frames of any content are delivered unchanged', () => {
  fc.assert(
    fc.property(texts, frameBytes, plan, (spoken, size, how) => {
      const quiet = new Simulation(how, newService({ frameBytes: size })).speak(spoken);
      expect(quiet.ending?.exit).toBe('ok');
      expect(quiet.heard).toBe(spoken.join(''));
    }),
    { numRuns: 10 * TIMES },
  );
}, 300_000);

test('a repeated frame is delivered once', () => {
  const numbering = fc.constantFrom('request' as const, 'segment' as const);
  fc.assert(
    fc.property(texts, frameBytes, lots, numbering, (spoken, size, drawn, numbers) => {
      const tamper = copies(drawn);
      const service = newService({ frameBytes: size, numbering: numbers });
      const again = new Simulation(RELIABLE, service, { tamper }).speak(spoken);
      expect(again.ending?.exit).toBe('ok');
      expect(again.heard).toBe(spoken.join(''));
    }),
    { numRuns: 20 * TIMES },
  );
}, 300_000);

test('frames in another order are delivered in order', () => {
  fc.assert(
    fc.property(texts, frameBytes, lots, plan, (spoken, size, drawn, how) => {
      const copied = copies(drawn);
      const tamper = (said: readonly Message[]) => moved(copied(said), drawn);
      const shuffled = new Simulation(how, newService({ frameBytes: size }), { tamper });
      shuffled.speak(spoken);
      expect(shuffled.ending?.exit).toBe('ok');
      expect(shuffled.heard).toBe(spoken.join(''));
    }),
    { numRuns: 20 * TIMES },
  );
}, 300_000);

test('a missing frame is fetched on v3, lost on v2, and ends simple mode', () => {
  const v3 = speakWithout(RELIABLE);
  expect([v3.ending?.exit, v3.heard]).toEqual(['ok', 'The first one. The second one.']);
  const v2 = speakWithout({
    ...RELIABLE,
    protocol: 'v2',
    request: { parameterProfile: 'product_v1', voiceId: 'voice', modelId: 'model' },
  });
  expect(v2.ending).toMatchObject({ exit: 'lost', lostSegments: ['s1'] });
  expect(v2.heard).toBe('The first');
  expect(speakWithout(SIMPLE).ending).toMatchObject({ exit: 'badAnswer' });
});

const withoutTheFourth = (said: readonly Message[]) => said.filter((one) => one['sequence'] !== 4);

/** Repeats earlier frames after some of the frames. */
function copies(drawn: readonly number[]) {
  const before: Message[] = [];
  return (said: readonly Message[]): readonly Message[] =>
    said.flatMap((one, index) => {
      if (one.event === 'audio') before.push(one);
      const lot = drawn[index % drawn.length] ?? 0;
      const copy = one.event === 'finish' ? undefined : before.at(-1 - lot);
      return copy === undefined ? [one] : [one, copy];
    });
}

/** Moves audio frames up to some places later. */
function moved(said: readonly Message[], drawn: readonly number[]): readonly Message[] {
  let run = 0;
  return said
    .map((one, index) => {
      if (one.event !== 'audio') run += 1;
      const lot = one.event === 'audio' ? (drawn[index % drawn.length] ?? 0) : 0;
      return { one, run: run * 2 + (one.event === 'audio' ? 1 : 0), place: index + lot };
    })
    .toSorted((left, right) => left.run - right.run || left.place - right.place)
    .map(({ one }) => one);
}

function speakWithout(how: LivePlan): Simulation {
  const line = { tamper: withoutTheFourth };
  return new Simulation(how, newService(), line).speak(['The first one. ', 'The second one.']);
}
