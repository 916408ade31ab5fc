import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/system/clock.ts';
import { systemRandom } from '../../src/system/random.ts';
import type { FaultEffect } from '../../src/service/http/faults.ts';
import { startServer } from '../../src/service/http/serve.ts';
import type { RawConnection } from '../harness/raw-connection.ts';
import { connectRaw, rawPost } from '../harness/raw-connection.ts';
import { KEY, testService, voiceId } from './support/test-service.ts';

const SPEECH = '/api/open/v3/speech/tts';
const BODY = { text: 'One. Two. Three.', voiceId: voiceId('Clara'), format: 'wav' };
const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n';

/** Speech that is held, and behind it on the same connection a request whose answer is to be cut. */
async function cutBehindSpeech(effect: FaultEffect): Promise<{
  readonly connection: RawConnection;
  readonly release: () => void;
}> {
  const rule = { method: 'GET', path: '/healthz', effect, when: { kind: 'always' } } as const;
  const { service, engine } = await testService({ faults: [rule] });
  const effects = { clock: systemClock, random: systemRandom };
  const server = await startServer({ service, host: '127.0.0.1', port: 0, ...effects });
  onTestFinished(() => server.close());
  const release = engine.holdBefore(1);
  const connection = await connectRaw(server.baseUrl);
  connection.send(rawPost(SPEECH, BODY, { Authorization: `Bearer ${KEY}` }) + HEALTH);
  await expect.poll(() => connection.text).toContain('200 OK');
  return { connection, release };
}

describe('an answer that is cut while the one before it on the connection still runs', () => {
  it.each([
    { kind: 'reset', afterBytes: 0 },
    { kind: 'reset', afterBytes: 4 },
    { kind: 'truncate', afterBytes: 4 },
  ] as const)('comes after it: %j', async (effect) => {
    const { connection, release } = await cutBehindSpeech(effect);
    release();
    const received = await connection.untilClosed();
    expect(connection.brokenBy).toBe(effect.kind === 'reset' ? 'ECONNRESET' : undefined);
    const [speech = '', health] = received.split(/(?=HTTP\/1\.1 200 OK)/);
    expect(speech.endsWith('\r\n0\r\n\r\n')).toBe(true);
    if (effect.afterBytes === 0) expect(health).toBeUndefined();
    else expect(health).toMatch(/\r\n\r\n4\r\n.{4}\r\n$/s);
  });

  it('is forgotten with its connection', async () => {
    const { connection } = await cutBehindSpeech({ kind: 'reset', afterBytes: 0 });
    connection.socket.destroy();
    // The server is closed at the end of the test without waiting.
    await connection.untilClosed();
  });
});
