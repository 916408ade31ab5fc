import { describe, expect, it } from 'vitest';
import type { FailureOptions } from '../../src/errors/failure.ts';
import { Failure } from '../../src/errors/failure.ts';
import type { Billing, NextStep } from '../../src/paid/decide.ts';
import { billingOf, nextStep, outcomeOfRepetition } from '../../src/paid/decide.ts';
import type { PurchaseState } from '../../src/paid/purchase.ts';
import { PURCHASE_STATES } from '../../src/paid/purchase.ts';

/** What continues a purchase: of a stream, of a job, and with the audio on this computer. */
const STEPS: Readonly<Record<PurchaseState, readonly [NextStep, NextStep, NextStep]>> = {
  planned: ['send', 'fetch', 'send'],
  sent: ['send', 'fetch', 'send'],
  accepted: ['give up', 'fetch', 'give up'],
  failed: ['renew', 'renew', 'renew'],
  lost: ['give up', 'give up', 'give up'],
  verified: ['give up', 'fetch', 'use'],
  published: ['give up', 'fetch', 'use'],
};

it.each(PURCHASE_STATES)('a purchase that is %s is continued', (state) => {
  const ways = [
    { state, jobId: undefined, isPresent: false },
    { state, jobId: 'j', isPresent: false },
    { state, jobId: undefined, isPresent: true },
  ];
  expect(ways.map((way) => nextStep(way))).toEqual(STEPS[state]);
});

it.each(['accepted', 'verified', 'published'] as const)(
  'a purchase that is %s, without a job or audio here, is sent again if the service stores its audio',
  (state) => {
    const purchase = { state, jobId: undefined, isPresent: false };
    expect(nextStep({ ...purchase, isStored: true })).toBe('send');
    expect(nextStep({ ...purchase, jobId: 'j', isStored: true })).toBe('fetch');
  },
);

const REFUNDED = failed('ERR_REQUEST_PREVIOUSLY_REFUNDED', { billed: 'no' });

describe('what a failed request cost', () => {
  const rows: readonly (readonly [string, Failure, Billing, Billing])[] = [
    ['refunded', REFUNDED, 'refunded', 'refunded'],
    ['refused', failed('ERR_INVALID_REQUEST', { billed: 'no' }), 'refused', 'refused'],
    ['no answer', failed('unknown_outcome', { billed: 'unknown' }), 'unknown', 'lost'],
    ['completed', failed('ERR_REQUEST_ALREADY_COMPLETED', { billed: 'yes' }), 'lost', 'lost'],
    [
      'stored',
      failed('bad_answer', { billed: 'yes', details: { audio_url: 'https://a.test/1' } }),
      'stored',
      'stored',
    ],
  ];
  it.each(rows)('%s', (_, failure, before, begun) => {
    expect(billingOf(failure, false)).toBe(before);
    expect(billingOf(failure, true)).toBe(begun);
  });
});

describe('an interrupted request whose repetition fails', () => {
  const rows = [
    ['was refunded', 409, 'ERR_REQUEST_PREVIOUSLY_REFUNDED', 'refunded', 'refunded'],
    ['used the key of another request', 409, 'ERR_REQUEST_ID_CONFLICT', 'rejected', 'rejected'],
    ['was invalid', 422, 'ERR_INVALID_REQUEST', 'rejected', 'rejected'],
    ['met a proxy', 400, 'bad_answer', undefined, undefined],
    ['lacks credits', 402, 'ERR_INSUFFICIENT_CREDITS', undefined, undefined],
    ['was completed', 409, 'ERR_REQUEST_ALREADY_COMPLETED', 'lost', undefined],
  ] as const;
  it.each(rows)('%s', (_, status, code, ofStream, ofJob) => {
    const failure = failed(code, { status });
    expect(outcomeOfRepetition(failure, true)).toBe(ofStream);
    expect(outcomeOfRepetition(failure, false)).toBe(ofJob);
  });
});

function failed(
  code: string,
  options: Pick<FailureOptions, 'billed' | 'details' | 'status'>,
): Failure {
  return new Failure('a failure of the test', { code, exit: 'rejected', ...options });
}
