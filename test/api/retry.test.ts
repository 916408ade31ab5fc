import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AttemptOutcome, RetryQuestion, RetryRule } from '../../src/api/retry.ts';
import { BACKOFF_CAP_MS, decideRetry, LONGEST_RETRY_AFTER_MS } from '../../src/api/retry.ts';

const RULES = ['safe', 'keyed', 'never'] as const satisfies readonly RetryRule[];

function ask(outcome: AttemptOutcome, more: Partial<RetryQuestion> = {}) {
  return decideRetry({
    outcome,
    attempt: 1,
    maxRetries: 4,
    rule: 'keyed',
    keyMadeByTool: true,
    keyRenewed: false,
    fraction: 0.5,
    ...more,
  });
}

const status = (code: number, more: object = {}): AttemptOutcome => ({
  kind: 'status',
  status: code,
  ...more,
});

function waits(fraction: number): readonly (number | undefined)[] {
  return Array.from({ length: 8 }, (_none, index) => {
    const decision = ask({ kind: 'unanswered' }, { attempt: index + 1, maxRetries: 99, fraction });
    return decision.retry ? decision.delayMs : undefined;
  });
}

// The outcome, and whether the rules safe, keyed and never retry it.
test.each<readonly [string, AttemptOutcome, boolean, boolean, boolean]>([
  ['connection refused', { kind: 'unsent', permanent: false }, true, true, true],
  ['name unknown', { kind: 'unsent', permanent: false, once: true }, true, true, true],
  ['bad certificate', { kind: 'unsent', permanent: true }, false, false, false],
  ['reset before an answer', { kind: 'unanswered' }, true, true, false],
  ['cut body', { kind: 'unusable' }, false, false, false],
  ['400', status(400), false, false, false],
  ['401', status(401), false, false, false],
  ['402', status(402), false, false, false],
  ['403', status(403), false, false, false],
  ['404', status(404), false, false, false],
  ['408', status(408), true, true, false],
  ['409 unknown', status(409), false, false, false],
  ['409 conflict', status(409, { code: 'ERR_REQUEST_ID_CONFLICT' }), false, false, false],
  ['409 completed', status(409, { code: 'ERR_REQUEST_ALREADY_COMPLETED' }), false, false, false],
  ['409 in progress', status(409, { code: 'ERR_REQUEST_IN_PROGRESS' }), true, true, true],
  ['409 refunded', status(409, { code: 'ERR_REQUEST_PREVIOUSLY_REFUNDED' }), false, true, false],
  ['413', status(413), false, false, false],
  ['422', status(422), false, false, false],
  ['425', status(425), true, true, true],
  ['429', status(429), true, true, true],
  ['429 for good', status(429, { retryable: false }), false, false, false],
  ['500', status(500), true, true, false],
  ['500 for good', status(500, { retryable: false }), false, false, false],
  ['501', status(501), false, false, false],
  ['502', status(502), true, true, false],
  ['503', status(503), true, true, false],
  ['503 that may be repeated', status(503, { retryable: true }), true, true, true],
  ['503 in 2 minutes', status(503, { retryAfterMs: 120_000 }), true, true, false],
  ['503 in more', status(503, { retryAfterMs: 120_001 }), false, false, false],
  ['504', status(504), true, true, false],
  ['505', status(505), false, false, false],
  ['511', status(511), false, false, false],
  ['599', status(599), true, true, false],
])('%s is retried if its rule allows', (_name, outcome, ...expected) => {
  expect(RULES.map((rule) => ask(outcome, { rule }).retry)).toEqual(expected);
});

test('a 503 of speech is retried while its model is available or unknown', () => {
  const known = [true, undefined, false];
  expect(known.map((modelAvailable) => ask(status(503), { modelAvailable }).retry)).toEqual([
    true,
    true,
    false,
  ]);
});

test('a refunded request gets one new key, if foley generated its key', () => {
  const refunded = status(409, { code: 'ERR_REQUEST_PREVIOUSLY_REFUNDED' });
  expect(ask(refunded)).toMatchObject({ retry: true, newKey: true });
  expect(ask(refunded, { attempt: 5, maxRetries: 4 })).toMatchObject({ retry: true, newKey: true });
  expect(ask(refunded, { keyRenewed: true }).retry).toBe(false);
  expect(ask(refunded, { keyMadeByTool: false }).retry).toBe(false);
});

test('the wait doubles from half a second to twenty, with full jitter', () => {
  expect(waits(1)).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 20_000, 20_000]);
  expect(waits(0)).toEqual(Array(8).fill(0));
});

test('a request in progress is retried after at least a second', () => {
  const inProgress = status(409, { code: 'ERR_REQUEST_IN_PROGRESS' });
  expect(ask(inProgress, { fraction: 0 })).toMatchObject({ delayMs: 500 });
  expect(ask(inProgress, { fraction: 0.999, attempt: 4 })).toMatchObject({
    delayMs: expect.closeTo(7_996, 0),
  });
});

const anyOutcome: fc.Arbitrary<AttemptOutcome> = fc.oneof(
  fc.record({ kind: fc.constant('unsent' as const), permanent: fc.boolean() }),
  fc.constant({ kind: 'unanswered' as const }),
  fc.constant({ kind: 'unusable' as const }),
  fc.record(
    {
      kind: fc.constant('status' as const),
      status: fc.integer({ min: 100, max: 999 }),
      code: fc.constantFrom(
        undefined,
        'ERR_REQUEST_IN_PROGRESS',
        'ERR_REQUEST_ALREADY_COMPLETED',
        'ERR_REQUEST_PREVIOUSLY_REFUNDED',
        'ERR_RATE_LIMITED',
      ),
      retryable: fc.option(fc.boolean(), { nil: undefined }),
      retryAfterMs: fc.option(fc.integer({ min: 0, max: 10 ** 9 }), { nil: undefined }),
    },
    { requiredKeys: ['kind', 'status'] },
  ),
);

const anyQuestion: fc.Arbitrary<RetryQuestion> = fc.record({
  outcome: anyOutcome,
  attempt: fc.integer({ min: 1, max: 50 }),
  maxRetries: fc.integer({ min: 0, max: 50 }),
  rule: fc.constantFrom(...RULES),
  keyMadeByTool: fc.boolean(),
  keyRenewed: fc.boolean(),
  modelAvailable: fc.option(fc.boolean(), { nil: undefined }),
  fraction: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
});

test('every outcome: retries stay within the limit and the delays', () => {
  fc.assert(
    fc.property(anyQuestion, (question) => {
      const decision = decideRetry(question);
      if (!decision.retry) return;
      const { outcome } = question;
      const asked = outcome.kind === 'status' ? (outcome.retryAfterMs ?? 0) : 0;
      if (!decision.newKey) expect(question.attempt).toBeLessThanOrEqual(question.maxRetries);
      expect(decision.delayMs).toBeGreaterThanOrEqual(asked);
      expect(decision.delayMs).toBeLessThanOrEqual(
        Math.max(asked, LONGEST_RETRY_AFTER_MS) + BACKOFF_CAP_MS,
      );
    }),
  );
});

test('every outcome: an unprotected request is not repeated if it may have been processed', () => {
  fc.assert(
    fc.property(anyQuestion, (question) => {
      if (question.rule !== 'never' || !decideRetry(question).retry) return;
      const { outcome } = question;
      const harmless =
        outcome.kind === 'unsent' ||
        (outcome.kind === 'status' &&
          (outcome.status === 429 ||
            outcome.status === 425 ||
            outcome.status === 409 ||
            outcome.retryable === true));
      expect(harmless).toBe(true);
    }),
  );
});

test('every outcome: begun bodies and permanent refusals are never retried', () => {
  fc.assert(
    fc.property(anyQuestion, (question) => {
      const { outcome } = question;
      const final =
        outcome.kind === 'unusable' || (outcome.kind === 'status' && outcome.retryable === false);
      if (final) expect(decideRetry(question)).toEqual({ retry: false });
    }),
  );
});
