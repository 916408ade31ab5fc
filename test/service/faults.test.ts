import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseFaultRule } from '../../src/embedded/fault-rule.ts';
import { CODE_OF_STATUS } from '../../src/contract/service-errors.ts';
import type { FaultEffect, FaultRule, FaultWhen } from '../../src/service/http/faults.ts';
import { createFaults, pathMatcher } from '../../src/service/http/faults.ts';
import { KEY, jsonPost, testService, voiceId } from './support/test-service.ts';

const SPEECH = '/api/open/v3/speech/tts';
const BODY = { text: 'Hello. Again.', voiceId: voiceId('Clara'), modelId: 'vendor-s21pro' };
const ALWAYS: FaultWhen = { kind: 'always' };

function rule(effect: FaultEffect, when: FaultWhen = ALWAYS, path = SPEECH): FaultRule {
  return { method: 'POST', path, effect, when };
}

const UNAVAILABLE: FaultEffect = { kind: 'status', status: 503 };

describe('the path of a rule', () => {
  it.each([
    ['/a/b', '/a/b', true],
    ['/a/b', '/a/b/', false],
    ['/a/*', '/a/b', true],
    ['/a/*', '/a/b/c', false],
    ['/a/*', '/a/', true],
    ['/a/**', '/a/b/c', true],
    ['/**/jobs', '/api/open/v3/speech/tts/jobs', true],
    ['/**/jobs', '/api/jobs/1', false],
    ['/v?/x', '/v3/x', true],
    ['/v?/x', '/v//x', false],
    ['/a.b', '/axb', false],
    ['/a(b)+[c]{d}|e^f$g', '/a(b)+[c]{d}|e^f$g', true],
  ])('%s and %s: %j', (glob, path, matches) => {
    expect(pathMatcher(glob)(path)).toBe(matches);
  });

  it('matches itself when it has no wildcard', () => {
    fc.assert(
      fc.property(
        fc.webPath({ size: 'small' }).filter((path) => !/[*?]/.test(path)),
        (path) => {
          expect(pathMatcher(path)(path)).toBe(true);
          expect(pathMatcher(path)(`${path}x`)).toBe(false);
        },
      ),
    );
  });
});

describe('rules', () => {
  const request = { method: 'POST', path: SPEECH };
  const statuses = (rules: readonly FaultRule[], turns: number): (number | undefined)[] => {
    const faults = createFaults(rules);
    return Array.from({ length: turns }, () => faults.ofRequest(request).status?.status);
  };

  it('act the first times, or every so many times, or always', () => {
    const first: FaultWhen = { kind: 'first', times: 2 };
    const third: FaultWhen = { kind: 'every', every: 3 };
    const none = undefined;
    expect(statuses([rule(UNAVAILABLE, first)], 4)).toEqual([503, 503, none, none]);
    expect(statuses([rule(UNAVAILABLE, third)], 6)).toEqual([none, none, 503, none, none, 503]);
    expect(statuses([rule(UNAVAILABLE)], 2)).toEqual([503, 503]);
  });

  it('come one after the other, and count only what they were asked about', () => {
    const limited: FaultEffect = { kind: 'status', status: 429 };
    const rules = [
      rule(UNAVAILABLE, { kind: 'first', times: 2 }),
      rule(limited, { kind: 'first', times: 1 }),
    ];
    expect(statuses(rules, 4)).toEqual([503, 503, 429, undefined]);
  });

  it('act on their method and path only', () => {
    const faults = createFaults([rule(UNAVAILABLE)]);
    expect(faults.ofRequest({ method: 'GET', path: SPEECH })).toEqual({});
    expect(faults.ofRequest({ method: 'POST', path: `${SPEECH}/jobs` })).toEqual({});
    const any = createFaults([{ ...rule(UNAVAILABLE), method: '*' }]);
    expect(any.ofRequest({ method: 'GET', path: SPEECH }).status).toEqual(UNAVAILABLE);
  });

  it('of different kinds act together, but nothing is cut where nothing is done', () => {
    const delay: FaultEffect = { kind: 'delay', ms: 5 };
    const reset: FaultEffect = { kind: 'reset', afterBytes: 1 };
    const times: FaultWhen = { kind: 'first', times: 1 };
    const faults = createFaults([rule(reset, times), rule(UNAVAILABLE, times), rule(delay)]);
    expect(faults.ofRequest(request)).toEqual({ delay, status: UNAVAILABLE });
    expect(faults.ofRequest(request)).toEqual({ delay, cut: reset });
    expect(faults.ofRequest(request)).toEqual({ delay });
  });
});

describe('a status rule', () => {
  it('answers each status with its code, in the envelope', async () => {
    const codes = Object.entries(CODE_OF_STATUS);
    const faults = codes.map(([status]) =>
      parseFaultRule(`POST ${SPEECH}; status=${status}; retry-after=7; times=1`),
    );
    const { speak } = await testService({ faults });
    for (const [status, code] of codes) {
      const response = await speak(BODY, { 'X-Request-Id': `of-${status}` });
      expect(response.status).toBe(Number(status));
      expect(response.headers.get('Retry-After')).toBe('7');
      expect(await response.json()).toEqual({
        code,
        message: expect.stringContaining(status),
        requestId: `of-${status}`,
      });
    }
    await (await speak(BODY)).arrayBuffer();
  });

  it('has nothing done: no charge, no key used up', async () => {
    const faults = [rule(UNAVAILABLE, { kind: 'first', times: 1 })];
    const { speak, balance, events } = await testService({ faults });
    expect((await speak(BODY, { 'Idempotency-Key': 'k' })).status).toBe(503);
    expect((await balance()).credits).toBe(1_000_000);
    const again = await speak(BODY, { 'Idempotency-Key': 'k' });
    expect(again.status).toBe(200);
    await again.arrayBuffer();
    expect((await balance()).credits).toBe(1_000_000 - 13);
    const [first, , second] = events.filter(({ type }) => type === 'request');
    expect(first).toMatchObject({ status: 503, faults: [UNAVAILABLE] });
    expect(second).toMatchObject({ status: 200, faults: [] });
  });

  it('is counted exactly when many come at once', async () => {
    const faults = [
      rule(UNAVAILABLE, { kind: 'first', times: 7 }),
      rule({ kind: 'status', status: 429 }, { kind: 'every', every: 4 }),
    ];
    const { speak } = await testService({ faults });
    const answers = await Promise.all(Array.from({ length: 47 }, () => speak({})));
    const count = (status: number): number =>
      answers.filter((answer) => answer.status === status).length;
    expect([count(503), count(429), count(400)]).toEqual([7, 10, 30]);
  });

  it('does not open what the guard closes', async () => {
    const faults = [{ ...rule(UNAVAILABLE, ALWAYS, '/**'), method: '*' }];
    const { service } = await testService({ faults });
    const headers = { Authorization: `Bearer ${KEY}`, Origin: 'https://evil.example' };
    const response = await service.fetch(new Request('http://127.0.0.1/healthz', { headers }));
    expect(response.status).toBe(403);
  });
});

describe('a delay rule', () => {
  const faults = [rule({ kind: 'delay', ms: 2_000 })];

  it('lets the answer begin later, and changes nothing else', async () => {
    const { speak, clock, balance } = await testService({ faults });
    let isAnswered = false;
    const answer = speak(BODY).then((response) => {
      isAnswered = true;
      return response;
    });
    await balance();
    expect(isAnswered).toBe(false);
    clock.advance(2_000);
    const response = await answer;
    expect(response.status).toBe(200);
    await response.arrayBuffer();
    expect((await balance()).credits).toBe(1_000_000 - 13);
  });

  it('keeps no service from closing', async () => {
    const { speak, service } = await testService({ faults });
    const answer = speak(BODY);
    await service.close();
    expect((await answer).status).toBe(503);
  });

  it('ends when the client goes, and nothing is charged', async () => {
    const { call, balance } = await testService({ faults });
    const client = new AbortController();
    const answer = call(SPEECH, { ...jsonPost(BODY), signal: client.signal });
    client.abort();
    expect((await answer).status).toBeGreaterThanOrEqual(400);
    expect((await balance()).credits).toBe(1_000_000);
  });
});
