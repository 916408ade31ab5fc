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

  it('is sound from -1 to 1', () => {
    const pcm = Buffer.from(Int16Array.of(0, 16_384, -32_768, 32_767).buffer);
    expect([...samplesOf(pcm)]).toEqual([0, 0.5, -1, 32_767 / 32_768]);
    const unaligned = Buffer.concat([Buffer.of(7), pcm]).subarray(1);
    expect(samplesOf(unaligned)).toEqual(samplesOf(pcm));
  });
});
