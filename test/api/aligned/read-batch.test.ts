import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  StreamAlignment,
  AudioMemory,
  readBatch,
  SseEvents,
} from '../../../src/api/resources/aligned-events.ts';

const audio = fc.uint8Array({ minLength: 1, maxLength: 400 });
const word = fc.record({ text: fc.string({ unit: 'grapheme' }), startMs: fc.nat(9) });
const sent = fc.oneof(
  { weight: 4, arbitrary: fc.record({ name: fc.constant('audio' as const), bytes: audio }) },
  fc.record({
    name: fc.constant('alignment_snapshot' as const),
    chunkSeq: fc.nat(3),
    words: fc.array(
      word.map((one) => ({ ...one, endMs: 9 })),
      { maxLength: 3 },
    ),
  }),
  fc.record({ name: fc.constant('alignment_invalidated' as const), chunkSeq: fc.nat(3) }),
);
type Sent = typeof sent extends fc.Arbitrary<infer T> ? T : never;

function textOf(event: Sent): string {
  const { name, ...rest } = event;
  const data =
    name === 'audio' ? { audioBase64: Buffer.from(event.bytes).toString('base64') } : rest;
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

function* cut(bytes: Buffer, sizes: readonly number[]): Generator<Uint8Array> {
  for (let at = 0, index = 0; at < bytes.length; index += 1) {
    const size = sizes[index % sizes.length] ?? 1;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

/**
 * Reads events through all three layers. Looks at a chunk when it is returned, while `held` later ones are in use; every
 * fifth chunk is never returned.
 */
async function readAll(events: readonly Sent[], sizes: readonly number[], held: number) {
  const memory = new AudioMemory();
  const alignment = new StreamAlignment();
  const out: { readonly chunk: Uint8Array; readonly isKept: boolean; read: Buffer }[] = [];
  const bytes = Buffer.from(events.map(textOf).join(''));
  const parser = new SseEvents(100_000);
  for (const part of cut(bytes, sizes)) {
    const { audio: chunk, end } = readBatch(parser.add(part) ?? [], memory, alignment);
    expect(end).toBeUndefined();
    if (chunk === undefined) continue;
    out.push({ chunk, isKept: out.length % 5 === 4, read: Buffer.alloc(0) });
    const done = out.at(-1 - held);
    if (done === undefined || done.isKept) continue;
    done.read = Buffer.from(done.chunk);
    memory.giveBack(done.chunk);
  }
  for (const one of out) if (one.read.length === 0) one.read = Buffer.from(one.chunk);
  return { audio: Buffer.concat(out.map(({ read }) => read)), words: alignment.words() };
}

describe('readBatch', () => {
  test('yields the same audio and times for any chunks, with reused memory', async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 3_000 }), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(sent, { maxLength: 40, size: 'max' }),
        sizes,
        fc.nat(4),
        async (events, cuts, held) => {
          const whole = await readAll(events, [1_000_000], 0);
          expect(await readAll(events, cuts, held)).toEqual(whole);
          const bytes = events.flatMap((event) => (event.name === 'audio' ? [event.bytes] : []));
          expect(whole.audio.equals(Buffer.concat(bytes))).toBe(true);
        },
      ),
    );
  });

  test('returns the audio before the event that ends the stream', () => {
    const heard = { kind: 'event', name: 'audio', data: '{"audioBase64":"b25l"}' } as const;
    const ends = [
      { kind: 'event', name: 'audio', data: '{"audioBase64":"b25l*"}' },
      { kind: 'event', name: 'error', data: '{"code":"quota_exceeded"}' },
      { kind: 'event', name: 'completed', data: '{}' },
    ] as const;
    for (const end of ends) {
      const read = readBatch([heard, end, heard], new AudioMemory(), new StreamAlignment());
      expect(Buffer.from(read.audio ?? []).toString()).toBe('one');
      expect(read.end?.kind).toBe(end.name === 'audio' ? 'unreadable' : end.name);
    }
  });
});
