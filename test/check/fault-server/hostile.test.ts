import { describe, expect, test } from 'vitest';
import { request } from 'undici';
import * as catalogue from '../../fault-server/catalogue.ts';
import { startFaultServer } from '../../fault-server/fault-server.ts';
import { getRaw } from '../../harness/raw-connection.ts';
import type { Answer } from '../../fault-server/script.ts';
import { fin } from '../../fault-server/steps.ts';
import { tinyAudio } from '../../fault-server/tiny-audio.ts';

const { mp3 } = await tinyAudio();
const strings = Object.entries(catalogue.HOSTILE_STRINGS);

async function ask(answer: Answer, headers: Record<string, string> = {}): Promise<string> {
  const server = await startFaultServer([{ answer }]);
  return (await request(server.origin, { headers })).body.text();
}

describe.each(strings)('%s', (_name, text) => {
  test('stands in every string of an error', async () => {
    expect(JSON.parse(await ask(catalogue.hostileError(400, text)))).toStrictEqual({
      code: text,
      message: text,
      requestId: text,
      details: JSON.parse(
        JSON.stringify({ [text]: text, media_kind: text, stage: text, retryable: false }),
      ),
    });
  });

  test('stands in every string of a voice and of a model', async () => {
    const voices = JSON.parse(await ask(catalogue.hostileVoices(text)));
    expect(voices).toMatchObject({ items: [{ voiceId: text, name: text, modelIds: [text] }] });
    const capabilities = JSON.parse(await ask(catalogue.hostileCapabilities(text)));
    expect(capabilities).toMatchObject({ models: [{ id: text, outputFormats: [text] }] });
  });

  test('stands in the head as it is', async () => {
    const server = await startFaultServer([
      { path: '/headers', answer: [...catalogue.hostileHeaders(mp3, text), fin()] },
      { path: '/reason', answer: [...catalogue.hostileReason(500, text), fin()] },
      { path: '/type', answer: [...catalogue.hostileType(text), fin()] },
    ]);
    const bytes = Buffer.from(text).toString('latin1');
    expect((await getRaw(server.origin, '/headers')).text).toContain(`X-Request-Id: ${bytes}\r\n`);
    expect((await getRaw(server.origin, '/reason')).text).toContain(`HTTP/1.1 500 ${bytes}\r\n`);
    expect((await getRaw(server.origin, '/type')).text).toContain(
      `Content-Type: text/${bytes}\r\n`,
    );
  });
});

test('a long error is as long as it says', async () => {
  const { message } = JSON.parse(await ask(catalogue.longError(500)));
  expect(message).toMatch(/^EVILx{999996}$/);
});

test('a poisoned body has own keys that are named like the prototype', async () => {
  const body = JSON.parse(await ask(catalogue.prototypeBody(500)));
  expect(Object.keys(body)).toContain('__proto__');
  expect(Object.keys(body.details)).toStrictEqual(['__proto__']);
  expect({}).not.toHaveProperty('EVIL');
});

test('an echo repeats the credential', async () => {
  const text = await ask(catalogue.echoOfRequest(401), { Authorization: 'Bearer some-key' });
  expect(JSON.parse(text)).toMatchObject({
    message: expect.stringContaining('Bearer some-key'),
    details: { credential: 'some-key' },
  });
});
