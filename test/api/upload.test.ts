import { describe, expect, test } from 'vitest';
import type { StreamedBody } from '../../src/api/request.ts';
import { startUpload } from '../../src/api/upload.ts';

function bodyOf(byteLength: number, ...chunks: readonly (string | Error)[]): StreamedBody {
  return {
    contentType: 'a/b',
    byteLength,
    open: async function* () {
      for (const chunk of chunks) {
        if (typeof chunk !== 'string') throw chunk;
        yield Buffer.from(chunk);
      }
    },
  };
}

async function read(
  body: StreamedBody,
): Promise<{ text: string; error: unknown; failure: unknown }> {
  const upload = startUpload(body);
  let text = '';
  try {
    for await (const chunk of upload.bytes) text += String(chunk);
  } catch (error) {
    return { text, error, failure: upload.failure };
  }
  return { text, error: undefined, failure: upload.failure };
}

describe('a body on its way', () => {
  test('arrives whole', async () => {
    expect(await read(bodyOf(5, 'he', 'llo'))).toEqual({
      text: 'hello',
      error: undefined,
      failure: undefined,
    });
  });

  test.each([
    ['shorter', bodyOf(6, 'hello')],
    ['longer', bodyOf(4, 'he', 'llo')],
  ])('that is %s than was announced is not sent as if it were whole', async (_how, body) => {
    const { error, failure } = await read(body);
    expect(error).toMatchObject({ exit: 'usage', message: expect.stringContaining('changed') });
    expect(failure).toBe(error);
  });

  test('that cannot be read says why', async () => {
    const problem = new Error('the disk is gone');
    expect(await read(bodyOf(5, 'he', problem))).toMatchObject({ failure: problem });
  });
});
