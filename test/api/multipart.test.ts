import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FormPart } from '../../src/api/multipart.ts';
import { multipartBody } from '../../src/api/multipart.ts';

async function bytesOf(parts: readonly FormPart[]): Promise<{ type: string; bytes: Buffer }> {
  const body = multipartBody(parts, 'foley-boundary');
  const chunks: Uint8Array[] = [];
  for await (const chunk of body.open()) chunks.push(chunk);
  const bytes = Buffer.concat(chunks);
  expect(bytes.length, 'the announced length').toBe(body.byteLength);
  return { type: body.contentType, bytes };
}

/** Parses a form with Node's parser. */
async function readBack(parts: readonly FormPart[]): Promise<FormData> {
  const { bytes, type } = await bytesOf(parts);
  return new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData();
}

function file(name: string, filename: string, content: string): FormPart {
  const bytes = Buffer.from(content);
  return {
    name,
    filename,
    contentType: 'audio/wav',
    byteLength: bytes.length,
    open: async function* () {
      yield bytes.subarray(0, 1);
      yield bytes.subarray(1);
    },
  };
}

describe('a multipart body', () => {
  test('is parsed by Node, with repeated names', async () => {
    const form = await readBack([
      { name: 'name', value: 'Ada' },
      file('audioFiles', 'a.wav', 'RIFF one'),
      file('audioFiles', 'b.wav', 'RIFF two'),
    ]);
    expect(form.get('name')).toBe('Ada');
    const files = form.getAll('audioFiles');
    expect(files.map((one) => (one instanceof File ? one.name : one))).toEqual(['a.wav', 'b.wav']);
    expect(await Promise.all(files.map((one) => new Response(one).text()))).toEqual([
      'RIFF one',
      'RIFF two',
    ]);
  });

  test('can be opened again, for another attempt', async () => {
    const body = multipartBody([file('f', 'a.wav', 'RIFF')], 'b');
    const read = async (): Promise<string> => {
      let text = '';
      for await (const chunk of body.open()) text += Buffer.from(chunk).toString();
      return text;
    };
    expect(await read()).toBe(await read());
  });

  test('a name cannot break out of its header', async () => {
    const { bytes } = await bytesOf([file('a"\r\nX-Evil: 1', 'b"\nc.wav', 'x')]);
    const head = bytes.toString().split('\r\n\r\n', 1)[0] ?? '';
    expect(head).toContain('name="a%22%0D%0AX-Evil: 1"; filename="b%22%0Ac.wav"');
    expect(head.split('\r\n')).toHaveLength(3);
  });

  test('values of any characters arrive whole', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: 'grapheme' }), { minLength: 1 }),
        async (values) => {
          const form = await readBack(values.map((value) => ({ name: 'v', value })));
          expect(form.getAll('v')).toEqual(values);
        },
      ),
      { numRuns: 50 },
    );
  });
});
