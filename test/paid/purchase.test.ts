import { crc32 } from 'node:zlib';
import { describe, expect, it, test } from 'vitest';
import { logLine, parseLog } from '../../src/durable/log.ts';
import type { Purchase, PurchaseMetadata, PurchaseState } from '../../src/paid/purchase.ts';
import {
  isMetadata,
  isSettled,
  mergeStep,
  OUTCOMES,
  PURCHASE_STATES,
  stateIn,
} from '../../src/paid/purchase.ts';
import { oldLogLine } from '../harness/old-log.ts';

describe('the states of earlier logs', () => {
  test.each<[string, PurchaseState]>([
    ['intent', 'planned'],
    ['sent', 'sent'],
    ['accepted', 'accepted'],
    ['done', 'accepted'],
    ['verified', 'verified'],
    ['published', 'published'],
    ['kept', 'published'],
    ['rejected', 'failed'],
    ['failed', 'failed'],
    ['lost', 'lost'],
    ['abandoned', 'lost'],
  ])('of a request: %s', (state, expected) => {
    expect(stateIn({ id: 'a', generation: 0, state })).toBe(expected);
  });

  test.each<[string, PurchaseState]>([
    ['keyed', 'planned'],
    ['accepted', 'accepted'],
    ['done', 'verified'],
    ['failed', 'failed'],
    ['delivered', 'published'],
  ])('of a part of a long text: %s', (state, expected) => {
    expect(stateIn({ part: 0, state })).toBe(expected);
  });

  test.each(PURCHASE_STATES)('of an item: %s', (state) => {
    expect(stateIn({ item: 'a', body: 'b', generation: 0, state })).toBe(state);
  });

  it('are not guessed', () => {
    expect([{}, { state: 'odd' }, { part: 0, state: 'kept' }, { state: 1 }].map(stateIn)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});

test('a purchase that has an outcome has ended, and others are open', () => {
  expect(PURCHASE_STATES.filter((state) => isSettled(state))).toEqual([
    'failed',
    'lost',
    'published',
  ]);
  expect(new Set(Object.values(OUTCOMES))).toEqual(new Set(['failed', 'lost', 'published']));
});

test('a log with these states is refused by an earlier foley, which read version 1', () => {
  const record = { id: 'a', generation: 0, state: 'planned', at: 'now' };
  const json = JSON.stringify(record);
  const sum = crc32(`v2 ${json}`).toString(16).padStart(8, '0');
  expect(logLine(record).toString()).toBe(`\nv2 ${sum} ${json}\n`);
});

test('a log that two versions of foley wrote is read whole', () => {
  const old = oldLogLine({ part: 0, state: 'done' });
  const content = Buffer.concat([old, logLine({ part: 0, state: 'verified' })]).toString();
  const { garbled, isNewer, records } = parseLog(content);
  expect({ garbled, isNewer, states: records.map(stateIn) }).toEqual({
    garbled: 0,
    isNewer: false,
    states: ['verified', 'verified'],
  });
});

describe('the records of one purchase', () => {
  test.each([
    ['the later state wins', [stepTo('lost'), stepTo('verified', { bytes: 9 })], 'verified'],
    [
      'an outcome wins over a later state: verified audio can be lost',
      [stepTo('verified', { bytes: 9 }), stepTo('lost', { outcome: 'lost' })],
      'lost',
    ],
  ] as const)('%s, in any order', (_, steps, state) => {
    for (const order of [steps, steps.toReversed()]) {
      expect(merged(order)).toMatchObject({ state, facts: { bytes: 9 } });
    }
  });

  it('have no metadata of an unknown kind', () => {
    const strange = [
      { creditsUsed: '1' },
      { jobId: 1 },
      { outcome: 'odd' },
      { ignoredParameters: 'volume' },
      { ignoredParameters: [1] },
    ];
    expect(strange.filter((one) => isMetadata(one))).toEqual([]);
    expect(isMetadata({ ignoredParameters: ['volume'], outcome: 'spooled' })).toBe(true);
  });
});

function stepTo(state: PurchaseState, facts: PurchaseMetadata = {}): Purchase<unknown> {
  return { generation: 0, state, about: undefined, facts };
}

function merged(steps: readonly Purchase<unknown>[]): Purchase<unknown> | undefined {
  return steps.reduce<Purchase<unknown> | undefined>(
    (before, next) => mergeStep(before, next),
    undefined,
  );
}
