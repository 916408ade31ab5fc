import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import * as faults from '../../fault-server/catalogue.ts';
import {
  expiredCertificate,
  makeCertificate,
  notYetValidCertificate,
  wrongHostCertificate,
} from '../../fault-server/certificate.ts';
import { refusedOrigin, startFaultServer } from '../../fault-server/fault-server.ts';
import { SPEECH_PATH, VOICES_PATH } from '../../fault-server/healthy-service.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import { errorLine } from '../../harness/error-line.ts';
import {
  expectOneKey,
  filesLeft,
  onSpeech,
  outputOf,
  paidAudio,
  RATES,
  createFixture,
  trusting,
  VOICE,
} from '../../binary/support/fixture.ts';

const { mp3 } = await paidAudio();
const ONE_RETRY = ['--max-retries', '1'];

describe('an unresolvable host name', () => {
  test.each([
    ['ENOTFOUND', 2, 'cannot resolve api.example.test: no such host'],
    ['EAI_AGAIN', 3, 'cannot resolve api.example.test: the DNS server did not answer'],
  ])('%s: looked up %d times, and nothing was billed', async (code, lookups, message) => {
    const fixture = await createFixture([]);
    const { env, asked } = await resolverThatSays(code, fixture.sandbox);
    const flags = ['--base-url', 'https://api.example.test', '--max-retries', '2'];
    const error = await fixture.fail(flags, { env });
    expect(error).toMatchObject({ exitCode: 24, code: 'network', billed: 'no', status: null });
    expect(error.message).toBe(message);
    expect(await asked()).toBe('api.example.test\n'.repeat(lookups));
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([]);
  });
});

describe('an address without a service', () => {
  test('refused: retried, and nothing was billed', async () => {
    const fixture = await createFixture([]);
    const origin = await refusedOrigin();
    const flags = ['--base-url', origin, ...ONE_RETRY, '--verbose', '--json'];
    const result = await fixture.speak(flags);
    const error = errorLine(result);
    expect(error).toMatchObject({ exitCode: 24, code: 'network', billed: 'no', status: null });
    expect(error.message).toBe(`${new URL(origin).host} refused the connection`);
    expect(result.stderr.match(/ECONNREFUSED/g)).toHaveLength(2);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([]);
  });
});

describe('untrusted encryption', () => {
  test.each([
    ['expired', expiredCertificate, 'CERT_HAS_EXPIRED'],
    ['not yet valid', notYetValidCertificate, 'CERT_NOT_YET_VALID'],
    ['of another host', wrongHostCertificate, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ])('%s: reported with the clock, never retried, no key sent', async (_how, make, code) => {
    const tls = make();
    const fixture = await createFixture([], { tls });
    const env = await trusting(tls, fixture.sandbox);
    const error = await fixture.fail(['--max-retries', '4'], { env });
    expect(error).toMatchObject({ exitCode: 24, code: 'network', billed: 'no', status: null });
    expect(error.message).toContain(`(${code}); nothing was sent`);
    expect(error.hint).toMatch(/clock of this computer \(\d{4}-\d\d-\d\dT/);
    expect(fixture.server.requests).toHaveLength(0);
    expect(fixture.server.connections).toBe(1);
  });

  test.each([
    ['', {}],
    [', even with NODE_TLS_REJECT_UNAUTHORIZED=0', { NODE_TLS_REJECT_UNAUTHORIZED: '0' }],
  ])('of an unknown authority%s', async (_how, env) => {
    const fixture = await createFixture([], { tls: makeCertificate() });
    const error = await fixture.fail(['--max-retries', '4'], { env });
    expect(error).toMatchObject({ exitCode: 24, code: 'network', billed: 'no' });
    expect(error.message).toContain('(DEPTH_ZERO_SELF_SIGNED_CERT)');
    expect(fixture.server.requests).toHaveLength(0);
  });

  test('a server without TLS', async () => {
    const fixture = await createFixture([]);
    const origin = await originOfPlainServer();
    const error = await fixture.fail(['--base-url', origin, '--max-retries', '4']);
    expect(error).toMatchObject({ exitCode: 24, code: 'network', billed: 'no' });
    expect(error.message).toContain('does not speak TLS');
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([]);
  });

  test('trusted with its authority', async () => {
    const tls = makeCertificate();
    const fixture = await createFixture([], { tls });
    const result = await fixture.speak([], { env: await trusting(tls, fixture.sandbox) });
    expect(result.code).toBe(0);
  });
});

describe('http to another computer', () => {
  test.each(['http://api.example.test', 'http://192.0.2.1:4747', 'http://127.0.0.1.example.test'])(
    '%s is refused before a connection is made',
    async (origin) => {
      const fixture = await createFixture([]);
      const error = await fixture.fail(['--base-url', origin]);
      expect(error).toMatchObject({ exitCode: 2, code: 'usage', billed: 'no', status: null });
      expect(error.message).toContain('is not encrypted');
      expect(await filesLeft(fixture.sandbox)).toStrictEqual([]);
    },
  );

  test('a realtime host is refused too', async () => {
    const fixture = await createFixture([]);
    const error = await fixture.fail(['--realtime-url', 'ws://realtime.example.test']);
    expect(error).toMatchObject({ exitCode: 2, code: 'usage' });
    expect(fixture.server.requests).toHaveLength(0);
  });
});

// The contract's table has a 200 of the wrong type at 25, not at 24.
test('a captive portal is an unusable response, and its page is not shown', async () => {
  const fixture = await createFixture([onSpeech(faults.captivePortal())]);
  const error = await fixture.fail(['--max-retries', '4']);
  expectOneKey(fixture, 1);
  expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer', billed: 'unknown' });
  expect(error.message).toBe('the response is text/html, not audio');
  expect(error.hint).toContain('login page');
  expect(JSON.stringify(error)).not.toContain('Accept our terms');
});

describe('a proxy', () => {
  const SECRET = 'proxy-password';

  test('that requires a password: the given one is not shown', async () => {
    const proxy = await startFaultServer([
      { method: 'CONNECT', answer: faults.proxyAuthenticationRequired() },
    ]);
    const fixture = await createFixture([]);
    const address = proxy.origin.replace('://', `://user:${SECRET}@`);
    const result = await fixture.speak(
      ['--base-url', 'https://api.example.test', '--verbose', '--json'],
      { env: { HTTPS_PROXY: address } },
    );
    const error = errorLine(result);
    expect(error).toMatchObject({ exitCode: 24, code: 'network', billed: 'no' });
    expect(error.message).toBe(
      `the proxy ${new URL(proxy.origin).host} did not connect to api.example.test: ` +
        'it requires a user name and password (407)',
    );
    expect(error.hint).toBe('Check the user name and password in HTTPS_PROXY.');
    expect(result.stderr).not.toContain(SECRET);
    const [asked] = proxy.requests;
    expect(asked?.target).toBe('api.example.test:443');
    expect(asked?.header('authorization')).toBeUndefined();
    expect(await filesLeft(fixture.sandbox)).toStrictEqual([]);
  });

  test.each([
    ['refuses connections', refusedOrigin, 'it refused the connection'],
    [
      'sends invalid HTTP',
      () => originOfTalker('SSH-2.0-OpenSSH_9.6\r\n'),
      'its response is not valid HTTP',
    ],
    [
      'answers 502',
      () => originOfTalker('HTTP/1.1 502 Bad\r\nContent-Length: 0\r\n\r\n'),
      'it returned 502',
    ],
    ['hangs up', () => originOfTalker(''), /it closed the connection/],
  ])(
    'that %s is named in the error, over HTTP and in a conversation',
    async (_how, start, problem) => {
      const fixture = await createFixture([]);
      const origin = await start();
      const env = { HTTPS_PROXY: origin.replace('://', `://user:${SECRET}@`) };
      const flags = ['--base-url', 'https://api.example.test', '--max-retries', '0', '--json'];
      for (const command of [['tts'], ['live', '--request-id', 'r', '-m', 'a-model']]) {
        const args = [...command, 'hi', '-v', VOICE, '-o', 'hi.mp3', ...flags];
        const result = await fixture.run(args, { env });
        const error = errorLine(result);
        expect(error).toMatchObject({ exitCode: 24, code: 'network', billed: 'no' });
        expect(error.message).toContain(`the proxy ${new URL(origin).host} did not connect to api`);
        expect(error.message).toMatch(problem);
        expect(error.hint).toBe('Check HTTPS_PROXY, or name the host in NO_PROXY.');
        expect(result.stderr).not.toContain(SECRET);
      }
    },
  );

  test('that tunnels to a server without TLS is named too', async () => {
    const fixture = await createFixture([]);
    const proxy = await originOfTalker('HTTP/1.1 200 OK\r\n\r\nnonsense, and more of it');
    const error = await fixture.fail(['--base-url', 'https://api.example.test'], {
      env: { HTTPS_PROXY: proxy },
    });
    expect(error).toMatchObject({ exitCode: 24, billed: 'no' });
    expect(error.message).toContain(`through the proxy ${new URL(proxy).host} from HTTPS_PROXY`);
  });

  test('with an invalid URL', async () => {
    const fixture = await createFixture([]);
    const env = { HTTPS_PROXY: `socks5://user:${SECRET}@127.0.0.1:1` };
    const result = await fixture.speak(['--base-url', 'https://api.example.test', '--json'], {
      env,
    });
    expect(errorLine(result)).toMatchObject({ exitCode: 2, code: 'usage', billed: 'no' });
    expect(result.stderr).not.toContain(SECRET);
  });

  test('is not used for this computer', async () => {
    const fixture = await createFixture([]);
    const env = { HTTP_PROXY: await refusedOrigin(), HTTPS_PROXY: await refusedOrigin() };
    expect((await fixture.speak([], { env })).code).toBe(0);
  });
});

describe('a reused connection that the service has closed', () => {
  test('for speech after the voices: retried once with the same key', async () => {
    const fixture = await createFixture([
      { path: SPEECH_PATH, nth: 1, answer: faults.resetBeforeHeaders() },
    ]);
    const args = ['tts', 'hi', '--voice-name', 'nadia', '-o', 'hi.mp3', ...ONE_RETRY];
    const result = await fixture.run(args);
    expect(result.code).toBe(0);
    const [voices, first, second] = fixture.server.requests;
    expect([voices?.path, first?.path, second?.path]).toStrictEqual([
      VOICES_PATH,
      SPEECH_PATH,
      SPEECH_PATH,
    ]);
    expect(first?.connection).toBe(voices?.connection);
    expect(second?.connection).not.toBe(first?.connection);
    expectOneKey(fixture, 2);
    expect(await outputOf(fixture.sandbox)).toStrictEqual(mp3.bytes);
    expect(await filesLeft(fixture.sandbox)).toStrictEqual(['out/hi.mp3', RATES]);
  });
});

/** Responds in plain text, like a web server at the wrong port. */
async function originOfPlainServer(): Promise<string> {
  const origin = await originOfTalker('HTTP/1.1 400 Bad Request\r\n\r\n');
  return origin.replace('http', 'https');
}

/** Sends one response to any data, and closes the connection. */
async function originOfTalker(words: string): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.end(words));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${Object(server.address()).port}`;
}

/** A resolver with one result, which records its lookups. */
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
