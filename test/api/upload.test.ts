import { describe, expect, test } from 'vitest';
import type { StreamedBody } from '../../src/api/request.ts';
import { TransportError } from '../../src/api/transport/transport-error.ts';
import { startUpload } from '../../src/api/transport/http.ts';

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

describe('an upload', () => {
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
  ])('that is %s than announced fails', async (_how, body) => {
    const { error, failure } = await read(body);
    expect(error).toMatchObject({ exit: 'usage', message: expect.stringContaining('changed') });
    expect(failure).toBe(error);
  });

  test('that was not sent whole was not processed', async () => {
    const taken: string[] = [];
    const upload = startUpload(bodyOf(5, 'he', 'l', 'lo'), () => taken.push('piece'));
    const explained = (fault: 'cut' | 'reset' | 'timeout'): unknown =>
      upload.explain(new TransportError(fault, 'host'));
    expect(explained('reset')).toMatchObject({ fault: 'upload_reset', unsent: true });
    expect(explained('timeout')).toMatchObject({ fault: 'upload_timeout', unsent: true });
    expect(explained('cut')).toMatchObject({ fault: 'cut', unsent: false });
    for await (const _ of upload.bytes);
    expect(explained('reset')).toMatchObject({ fault: 'reset', unanswered: true });
    expect(taken).toHaveLength(3);
  });

  test('of no bytes is whole at once', () => {
    const reset = new TransportError('reset', 'host');
    expect(startUpload(bodyOf(0)).explain(reset)).toBe(reset);
  });

  test('that cannot be read has the error of the reader', async () => {
    const problem = new Error('the disk is gone');
    expect(await read(bodyOf(5, 'he', problem))).toMatchObject({ failure: problem });
  });
});
