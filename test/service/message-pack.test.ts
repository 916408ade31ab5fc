import { encode } from '@msgpack/msgpack';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TestService } from './support/test-service.ts';
import { testService, voiceId } from './support/test-service.ts';

const PATH = '/v1/tts';
const ASKED = { text: 'Hello.', reference_id: voiceId('Clara'), format: 'wav' };

async function post(
  { call }: TestService,
  body: Uint8Array,
  type = 'application/msgpack',
): Promise<Response> {
  // A copy, since what the encoder gives is a view of something larger.
  return call(PATH, { method: 'POST', headers: { 'Content-Type': type }, body: body.slice() });
}

describe('POST /v1/tts with MessagePack', () => {
  it('is answered as the JSON that it stands for', async () => {
    const service = await testService();
    const packed = await post(service, encode(ASKED));
    expect(packed.headers.get('Content-Type')).toBe('audio/wav');
    const json = await post(service, Buffer.from(JSON.stringify(ASKED)), 'application/json');
    expect(await packed.arrayBuffer()).toEqual(await json.arrayBuffer());
  });

  it.each([
    ['nothing', new Uint8Array()],
    ['half of a body', encode(ASKED).slice(0, 20)],
    ['JSON', Buffer.from(JSON.stringify(ASKED))],
    ['more than one value', Buffer.concat([encode(ASKED), encode(ASKED)])],
    ['a list that announces more than it has', Buffer.from('dd01ffffff', 'hex')],
    ['lists within lists', Buffer.alloc(200_000, 0x91)],
    ['a name that would change every object', encode({ ['__proto__']: { text: 'x' } })],
    ['no object', encode('text')],
    ['a number that is none', encode({ ...ASKED, speed: NaN })],
    ['bytes where text belongs', encode({ ...ASKED, text: new Uint8Array(3) })],
    ['a moment where text belongs', encode({ ...ASKED, text: new Date(0) })],
  ])('of %s is 400', async (_what, body) => {
    const response = await post(await testService(), body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'ERR_INVALID_REQUEST' });
  });

  it('takes the bytes of sounds that it does not use', async () => {
    const references = [{ audio: new Uint8Array(1_000), text: 'Another voice.' }];
    const response = await post(await testService(), encode({ ...ASKED, references }));
    expect(response.status).toBe(200);
    await response.arrayBuffer();
  });

  it('is no other type', async () => {
    const response = await post(await testService(), encode(ASKED), 'application/octet-stream');
    expect(response.status).toBe(415);
    const { message } = Object(await response.json());
    expect(message).toContain('application/json or application/msgpack');
  });

  it('never fails, whatever the bytes', async () => {
    const service = await testService();
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.jsonValue().map((value) => encode(value)),
      fc.tuple(fc.nat(encode(ASKED).length - 1), fc.nat(255)).map(([at, byte]) => {
        const broken = encode(ASKED).slice();
        broken[at] = byte;
        return broken;
      }),
    );
    await fc.assert(
      fc.asyncProperty(bytes, async (body) => {
        const response = await post(service, body);
        expect([200, 400]).toContain(response.status);
        await response.arrayBuffer();
      }),
      { numRuns: 200 },
    );
    expect(service.events.filter(({ type }) => type === 'failure')).toEqual([]);
  });
});

describe('any other endpoint', () => {
  it('takes JSON only', async () => {
    const { call } = await testService();
    const headers = { 'Content-Type': 'application/msgpack' };
    const init = { method: 'POST', headers, body: encode(ASKED).slice() };
    expect((await call('/v1/audio/speech', init)).status).toBe(415);
  });
});
