import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { samplesOf } from '../../../../src/audio/encode/pcm.ts';
import { ProtocolFault, readMessages } from '../../../../src/service/engine/process/messages.ts';

async function* cut(bytes: Buffer, lengths: readonly number[]): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (const length of lengths) {
    yield bytes.subarray(at, at + length);
    at += length;
  }
  yield bytes.subarray(at);
}

async function read(bytes: Buffer, lengths: readonly number[] = []) {
  const received = [];
  for await (const { message, pcm } of readMessages(cut(bytes, lengths))) {
    received.push({ message, pcm: Buffer.from(pcm) });
  }
  return received;
}

const line = (message: unknown) => Buffer.from(`${JSON.stringify(message)}\n`);

describe('what an engine writes', () => {
  it('is read the same however it is cut into pieces', async () => {
    const sound = fc.uint8Array({ minLength: 1, maxLength: 40 }).map((half) => [...half, ...half]);
    await fc.assert(
      fc.asyncProperty(
        fc.array(sound, { maxLength: 5 }),
        fc.array(fc.nat(60), { maxLength: 20 }),
        async (sounds, lengths) => {
          const parts = sounds.flatMap((pcm, index) => [
            line({ type: 'audio', id: index + 1, bytes: pcm.length }),
            Buffer.from(pcm),
          ]);
          const received = await read(
            Buffer.concat([...parts, line({ type: 'done', id: 9 })]),
            lengths,
          );
          expect(received).toEqual([
            ...sounds.map((pcm, index) => ({
              message: { type: 'audio', id: index + 1, bytes: pcm.length },
              pcm: Buffer.from(pcm),
            })),
            { message: { type: 'done', id: 9 }, pcm: Buffer.alloc(0) },
          ]);
        },
      ),
    );
  });

  it('ends where it is cut off', async () => {
    expect(await read(Buffer.from('{"type":"done"'))).toEqual([]);
    expect(await read(line({ type: 'audio', id: 1, bytes: 4 }))).toEqual([]);
    expect(await read(Buffer.alloc(0))).toEqual([]);
  });

  it('is a fault or messages, whatever it is, and nothing else', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), fc.json(), async (noise, json) => {
        for (const text of [noise, json, `${json}\n${noise}\n`]) {
          const outcome = await read(Buffer.from(`${text}\n`)).catch((error: unknown) => error);
          expect(Array.isArray(outcome) || outcome instanceof ProtocolFault).toBe(true);
        }
      }),
    );
  });

  it('may have null for optional fields', async () => {
    const voice = { id: 'v', language: 'en', sampleRate: 16_000 };
    const hello = { type: 'hello', protocol: 2, version: '1', license: 'MIT' };
    const nulls = { models: null, controls: null, maxConcurrent: null, maxTextLength: null };
    const inVoice = { name: null, pitch: null, words: null, controls: null, scripts: null };
    const given = { ...hello, ...nulls, cloning: null, voices: [{ ...voice, ...inVoice }] };
    const messages = [{ type: 'loading', progress: null, message: null }, given];
    const [loading, greeting] = await read(Buffer.concat(messages.map(line)));
    expect(loading?.message).toEqual({ type: 'loading' });
    expect(greeting?.message).toEqual({ ...hello, voices: [voice] });
    for (const message of [{ ...hello, voices: null }, { type: 'done', id: null }, null]) {
      await expect(read(line(message))).rejects.toThrow(ProtocolFault);
    }
  });

  it('has no null in a list', async () => {
    const voice = { id: 'v', language: 'en', sampleRate: 16_000 };
    const hello = { type: 'hello', protocol: 2, version: '1', license: 'MIT', voices: [voice] };
    for (const message of [
      { ...hello, voices: [voice, null] },
      { ...hello, voices: [{ ...voice, scripts: ['Latn', null] }] },
      { ...hello, controls: ['speed', null] },
      { type: 'words', id: 1, words: [null] },
    ]) {
      await expect(read(line(message))).rejects.toThrow(ProtocolFault);
    }
  });

  it.each([
    '{"type":"words","id":1,"words":[{"start":0,"end":2,"startMs":NaN,"endMs":10}]}',
    "{'type': 'done', 'id': 1}",
  ])('names what is not JSON in a message: %s', async (message) => {
    const text = Buffer.from(`${message}\n`);
    await expect(read(text)).rejects.toThrow(/which is not valid JSON: NaN/);
  });

  it('is sound from -1 to 1', () => {
    const pcm = Buffer.from(Int16Array.of(0, 16_384, -32_768, 32_767).buffer);
    expect([...samplesOf(pcm)]).toEqual([0, 0.5, -1, 32_767 / 32_768]);
    const unaligned = Buffer.concat([Buffer.of(7), pcm]).subarray(1);
    expect(samplesOf(unaligned)).toEqual(samplesOf(pcm));
  });
});
