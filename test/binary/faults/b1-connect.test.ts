import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import * as faults from '../../fault-server/catalogue.ts';
import type { Certificate } from '../../fault-server/certificate.ts';
import {
  expiredCertificate,
  makeCertificate,
  notYetValidCertificate,
  wrongHostCertificate,
} from '../../fault-server/certificate.ts';
import { refusedOrigin, startFaultServer } from '../../fault-server/fault-server.ts';
import { PROFILE_PATH, SPEECH_PATH, VOICES_PATH } from '../../fault-server/healthy-service.ts';
import { answer } from '../../fault-server/http-text.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import { errorLine } from '../../harness/error-line.ts';
import { expectOneKey, filesLeft, onSpeech, outputOf, paidAudio, RATES, scene } from './scene.ts';

const { mp3 } = await paidAudio();
const ONE_RETRY = ['--max-retries', '1'];

describe('row 1: the name of the service cannot be found', () => {
  test.each([
    ['ENOTFOUND', 2, 'the name of api.example.test cannot be found'],
    ['EAI_AGAIN', 3, 'the name of api.example.test cannot be looked up now'],
  ])('%s: looked up %d times, and nothing was billed', async (code, lookups, message) => {
    const stage = await scene([]);
    const { env, asked } = await resolverThatSays(code, stage.box);
    const flags = ['--base-url', 'https://api.example.test', '--max-retries', '2'];
    const error = await stage.fail(flags, { env });
    expect(error).toMatchObject({ exitCode: 24, code: 'network', billed: 'no', status: null });
    expect(error.message).toBe(message);
    expect(await asked()).toBe('api.example.test\n'.repeat(lookups));
    expect(await filesLeft(stage.box)).toStrictEqual([]);
  });
});

describe('row 2: nobody answers at the address', () => {
  test('refused: tried again, and nothing was billed', async () => {
    const stage = await scene([]);
    const origin = await refusedOrigin();
    const flags = ['--base-url', origin, ...ONE_RETRY, '--verbose', '--json'];
    const result = await stage.speak(flags);
    const error = errorLine(result);
    expect(error).toMatchObject({ exitCode: 24, code: 'network', billed: 'no', status: null });
    expect(error.message).toBe(`${new URL(origin).host} refuses connections`);
    expect(result.stderr.match(/ECONNREFUSED/g)).toHaveLength(2);
    expect(await filesLeft(stage.box)).toStrictEqual([]);
  });
});

describe('row 3: encryption that cannot be trusted', () => {
  test.each([
    ['expired', expiredCertificate, 'CERT_HAS_EXPIRED'],
    ['not yet valid', notYetValidCertificate, 'CERT_NOT_YET_VALID'],
    ['of another host', wrongHostCertificate, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ])('%s: told with the clock, never tried again, no key sent', async (_how, make, code) => {
    const tls = make();
    const stage = await scene([], { tls });
    const env = await trusting(tls, stage.box);
    const error = await stage.fail(['--max-retries', '4'], { env });
    expect(error).toMatchObject({ exitCode: 24, code: 'network', billed: 'no', status: null });
    expect(error.message).toContain(`(${code}); nothing was sent`);
    expect(error.hint).toMatch(/clock, which says \d{4}-\d\d-\d\dT/);
    expect(stage.server.requests).toHaveLength(0);
    expect(stage.server.connections).toBe(1);
  });

  test.each([
    ['', {}],
    [', even where Node is told to trust everybody', { NODE_TLS_REJECT_UNAUTHORIZED: '0' }],
  ])('of an unknown authority%s', async (_how, env) => {
    const stage = await scene([], { tls: makeCertificate() });
    const error = await stage.fail(['--max-retries', '4'], { env });
    expect(error).toMatchObject({ exitCode: 24, code: 'network', billed: 'no' });
    expect(error.message).toContain('(DEPTH_ZERO_SELF_SIGNED_CERT)');
    expect(stage.server.requests).toHaveLength(0);
  });

  test('something that does not speak TLS: the same', async () => {
    const stage = await scene([]);
    const origin = await originOfPlainServer();
    const error = await stage.fail(['--base-url', origin, '--max-retries', '4']);
    expect(error).toMatchObject({ exitCode: 24, code: 'network', billed: 'no' });
    expect(error.message).toContain('cannot be trusted');
    expect(await filesLeft(stage.box)).toStrictEqual([]);
  });

  test('good, once its authority is trusted', async () => {
    const tls = makeCertificate();
    const stage = await scene([], { tls });
    const result = await stage.speak([], { env: await trusting(tls, stage.box) });
    expect(result.code).toBe(0);
  });
});

describe('row 4: http to another computer', () => {
  test.each(['http://api.example.test', 'http://192.0.2.1:4747', 'http://127.0.0.1.example.test'])(
    '%s is refused before a connection is made',
    async (origin) => {
      const stage = await scene([]);
      const error = await stage.fail(['--base-url', origin]);
      expect(error).toMatchObject({ exitCode: 2, code: 'usage', billed: 'no', status: null });
      expect(error.message).toContain('would be called without encryption');
      expect(await filesLeft(stage.box)).toStrictEqual([]);
    },
  );

  test('so is a realtime host', async () => {
    const stage = await scene([]);
    const error = await stage.fail(['--realtime-url', 'ws://realtime.example.test']);
    expect(error).toMatchObject({ exitCode: 2, code: 'usage' });
    expect(stage.server.requests).toHaveLength(0);
  });
});

// The contract's table has a 200 of the wrong type at 25, not at 24.
test('row 5: a captive portal is no answer, and its page is not shown', async () => {
  const stage = await scene([onSpeech(faults.captivePortal())]);
  const error = await stage.fail(['--max-retries', '4']);
  expectOneKey(stage, 1);
  expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer', billed: 'unknown' });
  expect(error.message).toBe('the answer is text/html, not audio');
  expect(error.hint).toContain('login page');
  expect(JSON.stringify(error)).not.toContain('Accept our terms');
});

describe('row 6: a proxy', () => {
  const SECRET = 'proxy-password';

  test('that wants a password: told without the one that was given', async () => {
    const proxy = await startFaultServer([
      { method: 'CONNECT', answer: faults.proxyAuthenticationRequired() },
    ]);
    const stage = await scene([]);
    const address = proxy.origin.replace('://', `://user:${SECRET}@`);
    const result = await stage.speak(
      ['--base-url', 'https://api.example.test', '--verbose', '--json'],
      { env: { HTTPS_PROXY: address } },
    );
    const error = errorLine(result);
    expect(error).toMatchObject({ exitCode: 24, code: 'network', billed: 'no' });
    expect(error.message).toBe('the proxy gives no connection to api.example.test');
    expect(error.hint).toContain('HTTPS_PROXY');
    expect(result.stderr).not.toContain(SECRET);
    const [asked] = proxy.requests;
    expect(asked?.target).toBe('api.example.test:443');
    expect(asked?.header('authorization')).toBeUndefined();
    expect(await filesLeft(stage.box)).toStrictEqual([]);
  });

  test('whose address is none', async () => {
    const stage = await scene([]);
    const env = { HTTPS_PROXY: `socks5://user:${SECRET}@127.0.0.1:1` };
    const result = await stage.speak(['--base-url', 'https://api.example.test', '--json'], { env });
    expect(errorLine(result)).toMatchObject({ exitCode: 2, code: 'usage', billed: 'no' });
    expect(result.stderr).not.toContain(SECRET);
  });

  test('is not asked for this computer', async () => {
    const stage = await scene([]);
    const env = { HTTP_PROXY: await refusedOrigin(), HTTPS_PROXY: await refusedOrigin() };
    expect((await stage.speak([], { env })).code).toBe(0);
  });
});

describe('row 7: a speech request that is sent on', () => {
  test.each([301, 302, 303, 307, 308] as const)('%d to another origin', async (status) => {
    const other = await startFaultServer([]);
    const stage = await scene([onSpeech(faults.redirectTo(`${other.origin}/x?sig=1`, status))]);
    const error = await stage.fail(['--max-retries', '4']);
    expectOneKey(stage, 1);
    expect(other.connections).toBe(0);
    expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer', billed: 'no' });
    expect(error.message).toBe(`the answer is of no use: it redirects a POST to ${other.origin}`);
    expect(await filesLeft(stage.box)).toStrictEqual([]);
  });

  test('308 within the origin goes on with key, idempotency key and body', async () => {
    const stage = await scene([
      onSpeech(faults.redirectTo('/elsewhere', 308)),
      { method: 'POST', path: '/elsewhere', answer: faults.audio(mp3) },
    ]);
    expect((await stage.speak()).code).toBe(0);
    const [first, second] = stage.server.requests;
    expect(second?.header('authorization')).toBe(`Bearer ${stage.key}`);
    expect(second?.header('idempotency-key')).toBe(first?.header('idempotency-key'));
    expect(second?.body).toStrictEqual(first?.body);
  });
});

const profile = answer(
  200,
  { 'Content-Type': 'application/json' },
  '{"user_id":"u","api_quota_remaining":1,"tier":"t","credits":1}',
);

describe('row 8: a read that is sent on', () => {
  test('to another origin goes there without anything of ours', async () => {
    const other = await startFaultServer([{ answer: profile }]);
    const to = `${other.origin}/p?signature=secret`;
    const stage = await scene([{ path: PROFILE_PATH, answer: faults.redirectTo(to) }]);
    const result = await stage.run(['profile', '--verbose']);
    expect(result.code).toBe(0);
    const names = other.requests[0]?.headers.map(([name]) => name.toLowerCase()).sort();
    expect(names).toStrictEqual(['accept', 'accept-encoding', 'connection', 'host', 'user-agent']);
    expect(result.stderr).not.toContain('signature=secret');
  });

  test('within the origin keeps its key, five times and not six', async () => {
    const stage = await scene([
      ...faults.redirectChain(PROFILE_PATH, 5),
      { path: `${PROFILE_PATH}/5`, answer: profile },
    ]);
    expect((await stage.run(['profile'])).code).toBe(0);
    const keys = stage.server.requests.map((request) => request.header('authorization'));
    expect(keys).toStrictEqual(Array.from({ length: 6 }, () => `Bearer ${stage.key}`));
    const longer = await scene(faults.redirectChain(PROFILE_PATH, 6));
    const error = errorLine(await longer.run(['profile', '--json']));
    expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer', billed: 'no' });
    expect(error.message).toContain('more than 5 times');
  });
});

describe('row 9: a read that is sent somewhere impossible', () => {
  test('in a circle', async () => {
    const stage = await scene(faults.redirectLoop(PROFILE_PATH));
    const error = errorLine(await stage.run(['profile', '--json', '--max-retries', '4']));
    expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer', billed: 'no' });
    expect(stage.server.requests).toHaveLength(6);
  });

  const { credentials, ...impossible } = faults.FORBIDDEN_LOCATIONS;

  test.each(Object.values(impossible))('to %s', async (location) => {
    const stage = await scene([{ path: PROFILE_PATH, answer: faults.redirectTo(location) }]);
    const error = errorLine(await stage.run(['profile', '--json', '--max-retries', '4']));
    expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer', billed: 'no' });
    expect(error.message).toMatch(/^the answer is of no use: it redirects to /);
    expect(stage.server.requests).toHaveLength(1);
  });

  test('with a user name and password: they are neither sent nor shown', async () => {
    const other = await startFaultServer([{ answer: profile }]);
    const to = credentials.replace('127.0.0.1:9', `127.0.0.1:${other.port}`);
    const stage = await scene([{ path: PROFILE_PATH, answer: faults.redirectTo(to) }]);
    const result = await stage.run(['profile', '--verbose']);
    expect(result.code).toBe(0);
    expect(other.requests[0]?.header('authorization')).toBeUndefined();
    expect(result.stderr).not.toContain('password');
  });

  test('from https to http, and http on another computer', async () => {
    const plain = await startFaultServer([]);
    const tls = makeCertificate();
    const stage = await scene(
      [{ path: PROFILE_PATH, answer: faults.redirectTo(`${plain.origin}/p`) }],
      { tls },
    );
    const env = await trusting(tls, stage.box);
    const error = errorLine(await stage.run(['profile', '--json'], { env }));
    expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer' });
    expect(error.message).toContain('it redirects from https to http://');
    expect(plain.connections).toBe(0);
    const away = faults.redirectTo('http://192.0.2.1/p');
    const other = await scene([{ path: PROFILE_PATH, answer: away }]);
    const second = errorLine(await other.run(['profile', '--json']));
    expect(second.message).toContain('it redirects to http://192.0.2.1, without encryption');
  });

  test('nowhere', async () => {
    const stage = await scene([{ path: PROFILE_PATH, answer: faults.redirectNowhere() }]);
    const error = errorLine(await stage.run(['profile', '--json']));
    expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer' });
    expect(error.message).toContain('it redirects to nowhere');
  });
});

describe('row 10: a connection that was kept and is gone when it is used again', () => {
  test('for speech after the voices: once more, under the same key', async () => {
    const stage = await scene([{ path: SPEECH_PATH, nth: 1, answer: faults.resetBeforeHeaders() }]);
    const args = ['tts', 'hi', '--voice-name', 'nadia', '-o', 'hi.mp3', ...ONE_RETRY];
    const result = await stage.run(args);
    expect(result.code).toBe(0);
    const [voices, first, second] = stage.server.requests;
    expect([voices?.path, first?.path, second?.path]).toStrictEqual([
      VOICES_PATH,
      SPEECH_PATH,
      SPEECH_PATH,
    ]);
    expect(first?.connection).toBe(voices?.connection);
    expect(second?.connection).not.toBe(first?.connection);
    expectOneKey(stage, 2);
    expect(await outputOf(stage.box)).toStrictEqual(mp3.bytes);
    expect(await filesLeft(stage.box)).toStrictEqual(['out/hi.mp3', RATES]);
  });
});

/** Makes the command trust a certificate as its own authority. */
async function trusting(
  { certificate }: Certificate,
  { harness }: Sandbox,
): Promise<Record<string, string>> {
  const file = path.join(harness, 'authority.pem');
  await writeFile(file, certificate);
  return { NODE_EXTRA_CA_CERTS: file };
}

/** Answers whatever comes in plain text, as a web server does at the wrong port. */
async function originOfPlainServer(): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `https://127.0.0.1:${Object(server.address()).port}`;
}

/** A resolver that always says the same, and notes what it was asked for. */
async function resolverThatSays(code: string, { harness }: Sandbox) {
  const file = path.join(harness, 'resolver.cjs');
  const notes = path.join(harness, 'lookups');
  const script = `
    const error = Object.assign(new Error('made up'), { code: '${code}', syscall: 'getaddrinfo' });
    require('node:dns').lookup = (name, options, callback) => {
      require('node:fs').appendFileSync(process.env.LOOKUPS, name + '\\n');
      setImmediate(callback, error);
    };`;
  await writeFile(file, script);
  return {
    env: { NODE_OPTIONS: `--require "${file}"`, LOOKUPS: notes },
    asked: () => readFile(notes, 'utf8'),
  };
}
