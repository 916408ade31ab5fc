import { describe, expect, test } from 'vitest';
import * as faults from '../../fault-server/catalogue.ts';
import { makeCertificate } from '../../fault-server/certificate.ts';
import { startFaultServer } from '../../fault-server/fault-server.ts';
import { PROFILE_PATH } from '../../fault-server/healthy-service.ts';
import { answer } from '../../fault-server/http-text.ts';
import { errorLine } from '../../harness/error-line.ts';
import {
  expectOneKey,
  filesLeft,
  onSpeech,
  paidAudio,
  createFixture,
  trusting,
} from '../../binary/support/fixture.ts';

const { mp3 } = await paidAudio();

describe('a redirected speech request', () => {
  test.each([301, 302, 303, 307, 308] as const)('%d to another origin', async (status) => {
    const other = await startFaultServer([]);
    const fixture = await createFixture([
      onSpeech(faults.redirectTo(`${other.origin}/x?sig=1`, status)),
    ]);
    const error = await fixture.fail(['--max-retries', '4']);
    expectOneKey(fixture, 1);
    expect(other.connections).toBe(0);
    expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer', billed: 'no' });
    expect(error.message).toBe(`cannot follow the redirect: it sends a POST to ${other.origin}`);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([]);
  });

  test('308 within the origin keeps key, idempotency key and body', async () => {
    const fixture = await createFixture([
      onSpeech(faults.redirectTo('/elsewhere', 308)),
      { method: 'POST', path: '/elsewhere', answer: faults.audio(mp3) },
    ]);
    expect((await fixture.speak()).code).toBe(0);
    const [first, second] = fixture.server.requests;
    expect(second?.header('authorization')).toBe(`Bearer ${fixture.key}`);
    expect(second?.header('idempotency-key')).toBe(first?.header('idempotency-key'));
    expect(second?.body).toStrictEqual(first?.body);
  });
});

const profile = answer(
  200,
  { 'Content-Type': 'application/json' },
  '{"user_id":"u","api_quota_remaining":1,"tier":"t","credits":1}',
);

describe('a redirected read', () => {
  test('to another origin has no key and ids', async () => {
    const other = await startFaultServer([{ answer: profile }]);
    const to = `${other.origin}/p?signature=secret`;
    const fixture = await createFixture([{ path: PROFILE_PATH, answer: faults.redirectTo(to) }]);
    const result = await fixture.run(['profile', '--verbose']);
    expect(result.code).toBe(0);
    const names = other.requests[0]?.headers.map(([name]) => name.toLowerCase()).sort();
    expect(names).toStrictEqual(['accept', 'accept-encoding', 'connection', 'host', 'user-agent']);
    expect(result.stderr).not.toContain('signature=secret');
  });

  test('within the origin keeps its key, five times and not six', async () => {
    const fixture = await createFixture([
      ...faults.redirectChain(PROFILE_PATH, 5),
      { path: `${PROFILE_PATH}/5`, answer: profile },
    ]);
    expect((await fixture.run(['profile'])).code).toBe(0);
    const keys = fixture.server.requests.map((request) => request.header('authorization'));
    expect(keys).toStrictEqual(Array.from({ length: 6 }, () => `Bearer ${fixture.key}`));
    const longer = await createFixture(faults.redirectChain(PROFILE_PATH, 6));
    const error = errorLine(await longer.run(['profile', '--json']));
    expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer', billed: 'no' });
    expect(error.message).toContain('more than 5 redirects');
  });
});

describe('a read with an invalid redirect', () => {
  test('in a circle', async () => {
    const fixture = await createFixture(faults.redirectLoop(PROFILE_PATH));
    const error = errorLine(await fixture.run(['profile', '--json', '--max-retries', '4']));
    expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer', billed: 'no' });
    expect(fixture.server.requests).toHaveLength(6);
  });

  const { credentials, ...impossible } = faults.FORBIDDEN_LOCATIONS;

  test.each(Object.values(impossible))('to %s', async (location) => {
    const fixture = await createFixture([
      { path: PROFILE_PATH, answer: faults.redirectTo(location) },
    ]);
    const error = errorLine(await fixture.run(['profile', '--json', '--max-retries', '4']));
    expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer', billed: 'no' });
    expect(error.message).toMatch(/^cannot follow the redirect: /);
    expect(fixture.server.requests).toHaveLength(1);
  });

  test('with a user name and password: they are neither sent nor shown', async () => {
    const other = await startFaultServer([{ answer: profile }]);
    const to = credentials.replace('127.0.0.1:9', `127.0.0.1:${other.port}`);
    const fixture = await createFixture([{ path: PROFILE_PATH, answer: faults.redirectTo(to) }]);
    const result = await fixture.run(['profile', '--verbose']);
    expect(result.code).toBe(0);
    expect(other.requests[0]?.header('authorization')).toBeUndefined();
    expect(result.stderr).not.toContain('password');
  });

  test('from https to http, and http on another computer', async () => {
    const plain = await startFaultServer([]);
    const tls = makeCertificate();
    const fixture = await createFixture(
      [{ path: PROFILE_PATH, answer: faults.redirectTo(`${plain.origin}/p`) }],
      { tls },
    );
    const env = await trusting(tls, fixture.sandbox);
    const error = errorLine(await fixture.run(['profile', '--json'], { env }));
    expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer' });
    expect(error.message).toContain('it leads from https to http://');
    expect(plain.connections).toBe(0);
    const away = faults.redirectTo('http://192.0.2.1/p');
    const other = await createFixture([{ path: PROFILE_PATH, answer: away }]);
    const second = errorLine(await other.run(['profile', '--json']));
    expect(second.message).toContain('it leads to http://192.0.2.1 without encryption');
  });

  test('without a location', async () => {
    const fixture = await createFixture([{ path: PROFILE_PATH, answer: faults.redirectNowhere() }]);
    const error = errorLine(await fixture.run(['profile', '--json']));
    expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer' });
    expect(error.message).toContain('its Location is missing or invalid');
  });
});
