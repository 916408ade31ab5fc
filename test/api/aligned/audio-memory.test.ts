import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AudioMemory } from '../../../src/api/resources/aligned-events.ts';

/** Creates a chunk with unique content. */
function lent(memory: AudioMemory, size: number, mark: number): Uint8Array {
  const block = memory.open(size + (mark % 3));
  expect(block.add(marked(size, mark).toString('base64'))).toBe(true);
  const chunk = memory.lend(block);
  if (chunk === undefined) throw new Error('there was nothing to lend');
  return chunk;
}

function marked(size: number, mark: number): Buffer {
  return Buffer.alloc(size, `${mark} `);
}

describe('reused memory', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('lend' as const), size: fc.integer({ min: 1, max: 5_000 }) }),
    fc.record({ kind: fc.constant('large' as const), size: fc.constant(200_000) }),
    fc.record({ kind: fc.constant('giveBack' as const), which: fc.nat() }),
    fc.record({ kind: fc.constant('giveBackAgain' as const), which: fc.nat() }),
    fc.record({ kind: fc.constant('giveBackPart' as const), which: fc.nat() }),
    fc.record({ kind: fc.constant('openForNothing' as const), size: fc.nat(5_000) }),
  );

  test('is never that of a chunk in use', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100, size: 'max' }), (steps) => {
        const memory = new AudioMemory();
        const out: { readonly chunk: Uint8Array; readonly expected: Buffer }[] = [];
        const back: Uint8Array[] = [];
        for (const [mark, one] of steps.entries()) {
          if (one.kind === 'lend' || one.kind === 'large') {
            const chunk = lent(memory, one.size, mark);
            out.push({ chunk, expected: marked(one.size, mark) });
          } else if (one.kind === 'openForNothing') {
            expect(memory.lend(memory.open(one.size))).toBeUndefined();
          } else if (one.kind === 'giveBack') {
            const [given] = out.splice(one.which % Math.max(out.length, 1), 1);
            if (given === undefined) continue;
            back.push(given.chunk);
            memory.giveBack(given.chunk);
          } else if (one.kind === 'giveBackAgain') {
            memory.giveBack(back[one.which % back.length] ?? Buffer.from('another buffer'));
          } else {
            memory.giveBack(out[one.which % out.length]?.chunk.subarray(0) ?? Buffer.alloc(1));
          }
          for (const { chunk, expected } of out) expect(expected.equals(chunk)).toBe(true);
        }
      }),
    );
  });

  test('is that of a returned chunk', () => {
    const memory = new AudioMemory();
    const first = lent(memory, 1_000, 1);
    memory.giveBack(first);
    const second = lent(memory, 900, 2);
    expect(second.buffer).toBe(first.buffer);
    expect(lent(memory, 900, 3).buffer).not.toBe(first.buffer);
  });

  test('is kept for a limited number of chunks', () => {
    const memory = new AudioMemory();
    const chunks = Array.from({ length: 200 }, () => lent(memory, 1_000, 0));
    chunks.push(lent(memory, 1_000_000, 0));
    for (const chunk of chunks) memory.giveBack(chunk);
    const known = new Set(chunks.map(({ buffer }) => buffer));
    const again = chunks.map(() => lent(memory, 1_000, 0).buffer);
    const kept = again.filter((buffer) => known.has(buffer));
    expect(kept.length).toBe(64);
    expect(Math.max(...kept.map(({ byteLength }) => byteLength))).toBeLessThan(2_000);
  });
});
