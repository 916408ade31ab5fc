import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/system/clock.ts';
import { systemRandom } from '../../src/system/random.ts';
import type { BodyCut, FaultRule } from '../../src/service/http/faults.ts';
import { startServer } from '../../src/service/http/serve.ts';
import { connectRaw, rawPost } from '../harness/raw-connection.ts';
import type { TestService } from './support/test-service.ts';
import { KEY, testService, voiceId } from './support/test-service.ts';

const SPEECH = '/api/open/v3/speech/tts';
const BODY = {
  text: 'One. Two. Three.',
  voiceId: voiceId('Clara'),
  modelId: 'vendor-s21pro',
  format: 'wav',
};
const COST = 16;
const AUTHORIZED = { Authorization: `Bearer ${KEY}` };

interface Fixture extends TestService {
  /** What comes back until the connection ends, and how it ended. */
  ask(request: string): Promise<{
    readonly head: string;
    readonly body: string;
    readonly brokenBy: string | undefined;
  }>;
}

/** A service on a socket whose answers to a path stop early. */
async function createFixture(
  kind: BodyCut['kind'],
  afterBytes: number,
  path = SPEECH,
): Promise<Fixture> {
  const faults: FaultRule[] = [
    { method: '*', path, effect: { kind, afterBytes }, when: { kind: 'always' } },
  ];
  const service = await testService({ faults });
  const effects = { clock: systemClock, random: systemRandom };
  const server = await startServer({
    service: service.service,
    host: '127.0.0.1',
    port: 0,
    ...effects,
  });
  onTestFinished(() => server.close());
  return {
    ...service,
    async ask(request) {
      const connection = await connectRaw(server.baseUrl);
      connection.send(request);
      const received = await connection.untilClosed();
      const [head = '', ...rest] = received.split('\r\n\r\n');
      return { head, body: rest.join('\r\n\r\n'), brokenBy: connection.brokenBy };
    },
  };
}

/** The bytes in the chunks of a body, whole or not. */
function unchunked(body: string): { readonly bytes: string; readonly isEnded: boolean } {
  let bytes = '';
  let rest = body;
  for (;;) {
    const [line = '', size = ''] = /^([\da-f]+)\r\n/.exec(rest) ?? [];
    if (line === '') return { bytes, isEnded: false };
    const length = Number.parseInt(size, 16);
    if (length === 0) return { bytes, isEnded: true };
    bytes += rest.slice(line.length, line.length + length);
    rest = rest.slice(line.length + length + 2);
  }
}

const SPEAK = rawPost(SPEECH, BODY, AUTHORIZED);
const READ = `GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`;

describe('reset-after', () => {
  it('breaks the connection after so many bytes of the body', async () => {
    const { ask } = await createFixture('reset', 1_000);
    const { head, body, brokenBy } = await ask(SPEAK);
    expect(head).toMatch(/^HTTP\/1\.1 200 /);
    const { bytes, isEnded } = unchunked(body);
    expect([bytes.length, bytes.slice(0, 4), isEnded]).toEqual([1_000, 'RIFF', false]);
    expect(brokenBy).toBe('ECONNRESET');
  });

  it('leaves nothing of the answer after no byte at all, and it is charged all the same', async () => {
    const { ask, balance, store } = await createFixture('reset', 0);
    expect(await ask(SPEAK)).toEqual({ head: '', body: '', brokenBy: 'ECONNRESET' });
    expect((await balance()).credits).toBe(1_000_000 - COST);
    expect(store.read((db) => db.all('SELECT state FROM operation'))).toEqual([
      { state: 'completed' },
    ]);
  });
});

describe('truncate', () => {
  it('ends the connection in order, without the last chunk', async () => {
    const { ask, balance } = await createFixture('truncate', 1_000);
    const { body, brokenBy } = await ask(SPEAK);
    const { bytes, isEnded } = unchunked(body);
    expect([bytes.length, isEnded, brokenBy]).toEqual([1_000, false, undefined]);
    expect((await balance()).credits).toBe(1_000_000 - COST);
  });

  it('is shorter than the announced length', async () => {
    const path = '/api/open/tts/cached/*';
    const { ask, call } = await createFixture('truncate', 100, path);
    const made = await call('/api/open/v1/speech/tts', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ ...BODY, cache: true }),
    });
    const { pathname, search } = new URL(String(Object(await made.json()).audio_url));
    const answer = await ask(`GET ${pathname}${search} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
    const told = Number(/content-length: (\d+)/i.exec(answer.head)?.[1]);
    expect(told).toBeGreaterThan(1_000);
    expect([answer.body.length, answer.brokenBy]).toEqual([100, undefined]);
  });

  it('sends the headers only after no byte at all', async () => {
    const { ask } = await createFixture('truncate', 0);
    const { head, body, brokenBy } = await ask(SPEAK);
    expect(head).toMatch(/^HTTP\/1\.1 200 /);
    expect([body, brokenBy]).toEqual(['', undefined]);
  });
});

describe('a body that has no more bytes than that', () => {
  it.each(['reset', 'truncate'] as const)('goes whole: %s', async (kind) => {
    const whole = await (await createFixture(kind, 1_000_000, '/elsewhere')).ask(READ);
    const { length } = unchunked(whole.body).bytes || whole.body;
    const { head, body, brokenBy } = await (
      await createFixture(kind, length, '/healthz')
    ).ask(READ);
    expect(head).toMatch(/^HTTP\/1\.1 200 /);
    expect(unchunked(body)).toEqual({
      bytes: unchunked(whole.body).bytes || whole.body,
      isEnded: true,
    });
    expect(brokenBy).toBeUndefined();
  });
});

describe('an answer that is no success', () => {
  it('is cut too', async () => {
    const { ask } = await createFixture('truncate', 5, '/nothing');
    const { head, body } = await ask('GET /nothing HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 404 /);
    expect(unchunked(body)).toEqual({ bytes: '{"cod', isEnded: false });
  });
});
