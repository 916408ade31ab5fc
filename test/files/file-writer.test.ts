import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FileWriter, writeAll } from '../../src/durable/files.ts';
import { failureOf } from './file-simulation.ts';

/** An open file that takes, of each write, as many bytes as `sizes` says, turn by turn. */
function grudgingFile(sizes: readonly number[]) {
  const taken: Buffer[] = [];
  let calls = 0;
  return {
    get content() {
      return Buffer.concat(taken);
    },
    get calls() {
      return calls;
    },
    async writev<T extends readonly NodeJS.ArrayBufferView[]>(buffers: T) {
      const size = sizes[calls % sizes.length] ?? 1;
      calls += 1;
      const all = Buffer.concat(
        buffers.map((one) => Buffer.from(one.buffer, one.byteOffset, one.byteLength)),
      );
      taken.push(Buffer.from(all.subarray(0, size)));
      return { bytesWritten: Math.min(size, all.length), buffers };
    },
  };
}

describe('writing behind', () => {
  it('loses and doubles nothing, however short the system stops', async () => {
    const chunks = fc.array(fc.uint8Array({ maxLength: 50 }), { maxLength: 90 });
    const sizes = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 5 });
    await fc.assert(
      fc.asyncProperty(chunks, sizes, async (given, takes) => {
        const file = grudgingFile(takes);
        const writer = new FileWriter(file);
        const own = given.map((chunk) => Buffer.from(chunk));
        // Whoever gave a chunk may write over it from then on.
        await Promise.all(own.map((chunk) => writer.write(chunk, () => chunk.fill(0x5a))));
        await writer.flush();
        expect(file.content.equals(Buffer.concat(given))).toBe(true);
        expect([writer.bytes, writer.written]).toEqual([file.content.length, file.content.length]);
        expect(writer.unwritten).toEqual([]);
        expect(own.every((chunk) => chunk.every((byte) => byte === 0x5a))).toBe(true);
      }),
    );
  });

  it('lets the chunks that came meanwhile leave together', async () => {
    const file = grudgingFile([1_000_000]);
    const writer = new FileWriter(file);
    await Promise.all(Array.from({ length: 50 }, () => writer.write(Buffer.alloc(10))));
    await writer.flush();
    expect(file.calls).toBe(2);
  });

  it('takes no more than about two MiB while the disk does not answer', async () => {
    const writer = new FileWriter({ writev: () => new Promise(() => undefined) });
    const chunk = Buffer.alloc(65_536);
    let isFull = false;
    while (!isFull) {
      // The write that waits for room never resolves; the others do before the next turn.
      isFull = await Promise.race([
        writer.write(chunk).then(() => false),
        nextTurn().then(() => true),
      ]);
    }
    expect(writer.bytes).toBeLessThanOrEqual(2 * 1_048_576 + chunk.length);
  });

  it('does not try for ever where nothing is taken', async () => {
    const writer = new FileWriter({
      writev: async (buffers) => ({ bytesWritten: 0, buffers }),
    });
    await writer.write(Buffer.from('x')).catch(() => undefined);
    expect(await failureOf(writer.flush())).toMatchObject({ code: 'EIO' });
    expect(await failureOf(writer.write(Buffer.from('y')))).toMatchObject({ code: 'EIO' });
    expect(writer.unwritten).toEqual([Buffer.from('x'), Buffer.from('y')]);
  });

  it('writes a single piece as well', async () => {
    const file = grudgingFile([3, 1]);
    await writeAll(file, Buffer.from('all of it'));
    expect(file.content.toString()).toBe('all of it');
  });
});

async function nextTurn(): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
}
