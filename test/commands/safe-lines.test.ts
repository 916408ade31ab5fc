import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { safeLines } from '../../commands/api/show-response.ts';
import { HOSTILE_STRINGS } from '../fault-server/faults/hostile.ts';
import { unsafeCharacters } from '../harness/unsafe-characters.ts';

async function shown(...chunks: Uint8Array[]): Promise<string> {
  let text = '';
  for await (const line of safeLines(chunks)) text += line;
  return text;
}

describe('text from a server on a terminal', () => {
  test('lines and tabs stay, and the last line is ended', async () => {
    expect(await shown(Buffer.from('a\tb\r\nc'))).toBe('a\tb\nc\n');
    expect(await shown(Buffer.from('a\n'))).toBe('a\n');
    expect(await shown()).toBe('');
  });

  test('is the same however it arrives', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'binary' }),
        fc.integer({ min: 1, max: 7 }),
        async (text, size) => {
          const bytes = Buffer.from(text);
          const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
            bytes.subarray(index * size, (index + 1) * size),
          );
          expect(await shown(...chunks)).toBe(await shown(bytes));
        },
      ),
    );
  });

  test.each(Object.entries(HOSTILE_STRINGS))('%s does no harm', async (_name, text) => {
    const lines = await shown(Buffer.from(text));
    expect(unsafeCharacters(lines)).toEqual([]);
  });

  test('a line without an end does not fill the memory', async () => {
    const pieces: string[] = [];
    const chunk = Buffer.alloc(10_000, 'x');
    for await (const piece of safeLines([chunk, chunk, chunk])) pieces.push(piece);
    expect(pieces.length).toBeGreaterThan(1);
    expect(pieces.join('')).toBe(`${'x'.repeat(30_000)}\n`);
  });
});
