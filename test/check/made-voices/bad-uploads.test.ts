import path from 'node:path';
import { expect, test } from 'vitest';
import { createSandbox } from '../../harness/sandbox.ts';
import type { ServingFoley } from '../../binary/support/serve.ts';
import { firstVoiceId, startServe } from '../../binary/support/serve.ts';
import type { BadUpload, Encoded } from './bad-uploads.ts';
import { badUploads } from './bad-uploads.ts';
import { CREATE, stateOf } from './service-state.ts';

const TIME = { timeout: 120_000 };

async function encoded(service: ServingFoley): Promise<Encoded> {
  const voiceId = await firstVoiceId(service);
  const speak = async (format: string): Promise<Buffer> => {
    const body = { text: 'Only half of this will be sent, and not all of it.', voiceId, format };
    const answer = await service.ask('/api/open/v3/speech/tts', { method: 'POST', body });
    expect(answer.status).toBe(200);
    return answer.bytes;
  };
  return { mp3: await speak('mp3'), ogg: await speak('ogg') };
}

async function send({ baseUrl, apiKey }: ServingFoley, { body }: BadUpload) {
  const headers = { Authorization: `Bearer ${apiKey}`, ...body.headers };
  const response = await fetch(baseUrl + CREATE, { method: 'POST', headers, body: body.bytes });
  return { status: response.status, error: Object(await response.json()) };
}

test(
  'an upload that no voice can be made of is refused with what is wrong, and nothing is left of it or paid for it',
  TIME,
  async () => {
    const sandbox = await createSandbox();
    const dataDir = path.join(sandbox.out, 'data');
    const service = await startServe(['--data-dir', dataDir], { sandbox, timeoutMs: TIME.timeout });
    const uploads = badUploads(await encoded(service));
    expect(uploads.length).toBeGreaterThan(30);
    const before = await stateOf(service, dataDir);
    for (const upload of uploads) {
      const { status, error } = await send(service, upload);
      const { code, message, details } = error;
      expect({ what: upload.what, status, message }).toEqual({
        what: upload.what,
        status: upload.status,
        message: expect.stringMatching(upload.message),
      });
      if (status === 400) {
        expect([code, details?.errors.length > 0]).toEqual(['ERR_INVALID_REQUEST', true]);
      }
    }
    expect(await stateOf(service, dataDir)).toEqual({
      ...before,
      voices: 0,
      uploads: [],
      open: [],
    });
  },
);
