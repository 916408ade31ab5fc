import { expect, test } from 'vitest';
import type { IntentAbout, FinishedOperation } from '../../src/paid/intents.ts';
import { isSameBilledRequest } from '../../src/paid/intents.ts';
import type { PurchaseMetadata, PurchaseState } from '../../src/paid/purchase.ts';

const ABOUT: IntentAbout = {
  what: 'speech',
  endpoint: 'POST /api/open/v3/text-to-speech',
  origin: 'https://api.example',
  target: 'hosted',
  idempotencyKey: 'chapter-1',
  payer: '0f0f0f0f',
  requestId: null,
  output: null,
  temporary: null,
};
const DONE = { about: ABOUT, jobId: undefined, isDelivered: true, isResumed: false };
const EMBEDDED = { ...ABOUT, target: 'embedded' } as const;

function same(
  state: PurchaseState,
  done: Partial<FinishedOperation> = {},
  about: Partial<IntentAbout> = {},
  facts: PurchaseMetadata = {},
): boolean {
  const left = { id: 'a', generation: 0, state, at: '', about: { ...ABOUT, ...about }, facts };
  return isSameBilledRequest(left, { ...DONE, ...done });
}

test('what was under way under the key is the same purchase', () => {
  expect([same('planned'), same('sent'), same('sent', { isDelivered: false })]).toEqual([
    true,
    true,
    true,
  ]);
});

test.each<[string, Partial<IntentAbout>]>([
  ['another key', { idempotencyKey: 'chapter-2' }],
  ['no key', { idempotencyKey: null }],
  ['another account', { payer: 'f0f0f0f0' }],
  ['an unknown account', { payer: undefined }],
  ['another service', { origin: 'https://other.example' }],
  ['the embedded service', { target: 'embedded' }],
  ['another request', { endpoint: 'POST /api/open/v2/speech/tts' }],
])('%s makes it another one', (_what, about) => {
  expect(same('sent', {}, about)).toBe(false);
});

test('two without a key, or two without a known account, are two', () => {
  const keyless = { ...ABOUT, idempotencyKey: null };
  expect(same('sent', { about: keyless }, keyless)).toBe(false);
  const unmarked = { ...ABOUT, payer: undefined };
  expect(same('sent', { about: unmarked }, unmarked)).toBe(false);
});

test('the embedded service has one account, and another port each time', () => {
  const about = { ...EMBEDDED, origin: 'http://127.0.0.1:1', payer: undefined };
  expect(same('sent', { about: EMBEDDED }, about)).toBe(true);
});

test.each<[string, PurchaseState, Partial<FinishedOperation>, PurchaseMetadata, boolean]>([
  ['a stream that had begun was another one', 'accepted', {}, {}, false],
  ['a conversation went on', 'accepted', { isResumed: true }, {}, true],
  ['a conversation whose audio is whole is there', 'verified', { isResumed: true }, {}, false],
  ['the same job', 'accepted', { jobId: 'j' }, { jobId: 'j' }, true],
  ['another job', 'accepted', { jobId: 'k' }, { jobId: 'j' }, false],
  ['only its id', 'accepted', { jobId: 'j', isDelivered: false }, { jobId: 'j' }, false],
])('%s', (_what, state, done, facts, isSame) => {
  expect(same(state, done, {}, facts)).toBe(isSame);
});
