import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseFaultRule, printFaultRule } from '../../src/embedded/fault-rule.ts';
import { CODE_OF_STATUS } from '../../src/contract/service-errors.ts';
import { Failure } from '../../src/errors/failure.ts';
import type { FaultEffect, FaultRule, FaultWhen } from '../../src/service/http/faults.ts';

const POST = { method: 'POST', path: '/x', when: { kind: 'always' } } as const;

describe('a fault rule', () => {
  it.each<readonly [string, FaultRule]>([
    ['POST /x; status=503', { ...POST, effect: { kind: 'status', status: 503 } }],
    ['post /x;delay=2s', { ...POST, effect: { kind: 'delay', ms: 2_000 } }],
    ['  POST   /x ; reset-after = 0 ', { ...POST, effect: { kind: 'reset', afterBytes: 0 } }],
    ['POST /x; truncate=44', { ...POST, effect: { kind: 'truncate', afterBytes: 44 } }],
    ['POST /x; job=fail', { ...POST, effect: { kind: 'job', outcome: 'fail' } }],
    [
      '* /**; times=2; retry-after=3; status=429',
      {
        method: '*',
        path: '/**',
        effect: { kind: 'status', status: 429, retryAfter: 3 },
        when: { kind: 'first', times: 2 },
      },
    ],
    [
      'POST /a/*/b?; job=partial_fail; every=3',
      {
        method: 'POST',
        path: '/a/*/b?',
        effect: { kind: 'job', outcome: 'partial_fail' },
        when: { kind: 'every', every: 3 },
      },
    ],
  ])('is parsed: %s', (text, rule) => {
    expect(parseFaultRule(text)).toEqual(rule);
  });

  it('is parsed as the same rule after printing', () => {
    fc.assert(
      fc.property(arbitraryRule(), (rule) => {
        expect(parseFaultRule(printFaultRule(rule))).toEqual(rule);
      }),
    );
  });

  it('is parsed, or refused as a usage failure, for any text', () => {
    const pieces = fc.oneof(
      fc.constantFrom('POST', ' ', '/x', ';', '=', 'status', '503', 'times', 'job', 'fail', '**'),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(pieces), (parts) => {
        const failure = failureOf(parts.join(''));
        if (failure !== undefined) expect(failure).toMatchObject({ code: 'usage', exit: 'usage' });
      }),
    );
  });
});

describe('an invalid rule', () => {
  it.each([
    ['', /the method is ""; it takes GET,|no effect/],
    ['POST; status=503', /the method must be followed by one path/],
    ['POST /a /b; status=503', /the method must be followed by one path/],
    ['FETCH /x; status=503', /the method is "FETCH".*GET, HEAD, POST/],
    ['POST x; status=503', /the path is "x"; it must begin with \//],
    ['POST /x?page=1; status=503', /query/],
    ['POST /x', /no effect; add one of status, delay, reset-after, truncate, job/],
    ['POST /x; times=2', /no effect/],
    ['POST /x; status', /status has no value/],
    ['POST /x; status=', /status is ""; it takes 400, 401/],
    ['POST /x; status=200', /status is "200"; it takes 400, 401/],
    ['POST /x; status=503; delay=2s', /both status and delay/],
    ['POST /x; status=503; status=500', /status is given twice/],
    ['POST /x; status=503;', /unknown field ""; it takes status, delay/],
    ['POST /x; delay=soon', /delay is "soon"; it takes a duration/],
    ['POST /x; delay=25h', /delay is "25h".*at most 24h/],
    ['POST /x; delay=1s; retry-after=2', /retry-after requires status; the effect is delay/],
    ['POST /x; reset-after=-1', /reset-after is "-1"; it takes a whole number from 0/],
    ['POST /x; truncate=1k', /truncate is "1k"/],
    ['POST /x; job=success', /job is "success"; it takes fail, partial_fail/],
    ['GET /x; job=fail', /job requires POST/],
    ['POST /x; status=503; times=0', /times is "0"; it takes a whole number from 1/],
    ['POST /x; status=503; every=0.5', /every is "0.5"/],
    ['POST /x; status=503; times=1; every=2', /both times and every/],
  ])('is refused: %s', (text, problem) => {
    const failure = failureOf(text);
    expect(failure?.message).toMatch(/^--fault "/);
    expect(failure?.message).toMatch(problem);
    expect(failure?.hint).toBeTypeOf('string');
  });

  it('has a hint with the nearest name', () => {
    expect(failureOf('POST /x; statsu=503')?.hint).toBe('Did you mean status?');
  });
});

function failureOf(text: string): Failure | undefined {
  try {
    parseFaultRule(text);
    return undefined;
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

function arbitraryRule(): fc.Arbitrary<FaultRule> {
  const bytes = fc.nat({ max: 999_999_999 });
  const count = fc.integer({ min: 1, max: 999_999_999 });
  const status = fc.constantFrom(...Object.keys(CODE_OF_STATUS).map(Number)).map((value) => {
    const parsed = parseFaultRule(`GET /; status=${value}`).effect;
    if (parsed.kind !== 'status') throw new TypeError('a status is a status');
    return parsed.status;
  });
  const effect: fc.Arbitrary<FaultEffect> = fc.oneof(
    fc.record({ kind: fc.constant('status' as const), status }),
    fc.record({ kind: fc.constant('status' as const), status, retryAfter: bytes }),
    fc.record({ kind: fc.constant('delay' as const), ms: fc.nat({ max: 86_400_000 }) }),
    fc.record({ kind: fc.constantFrom('reset' as const, 'truncate' as const), afterBytes: bytes }),
    fc.record({
      kind: fc.constant('job' as const),
      outcome: fc.constantFrom('fail' as const, 'partial_fail' as const),
    }),
  );
  const when: fc.Arbitrary<FaultWhen> = fc.oneof(
    fc.constant({ kind: 'always' as const }),
    fc.record({ kind: fc.constant('first' as const), times: count }),
    fc.record({ kind: fc.constant('every' as const), every: count }),
  );
  const path = fc
    .array(fc.constantFrom('a', 'b.c', '*', '**', '?', 'v3', '{x}', '%20', '-'))
    .map((segments) => `/${segments.join('/')}`);
  return fc
    .record({ method: fc.constantFrom('GET', 'POST', 'DELETE', '*'), path, effect, when })
    .map((rule) => (rule.effect.kind === 'job' ? { ...rule, method: 'POST' } : rule));
}
