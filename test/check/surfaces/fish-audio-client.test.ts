import { FishAudioClient, FishAudioError } from 'fish-audio';
import { describe, expect, test } from 'vitest';
import { firstVoiceId, startServe } from '../../binary/support/serve.ts';
import type { ServingFoley } from '../../binary/support/serve.ts';
import { expectSound, withTrueLengths } from '../../binary/support/sound.ts';

const TEXT = 'Hello from a client that does not know who answers.';
const RATE = 24_000;

function clientOf({ baseUrl, apiKey }: Pick<ServingFoley, 'apiKey' | 'baseUrl'>): FishAudioClient {
  return new FishAudioClient({ baseUrl, apiKey });
}

type Client = Pick<FishAudioClient, 'textToSpeech'>;
type Asked = Parameters<FishAudioClient['textToSpeech']['convert']>[0];
type Backend = Parameters<FishAudioClient['textToSpeech']['convert']>[1];

async function speak(client: Client, asked: Asked, backend?: Backend): Promise<Buffer> {
  const stream = await client.textToSpeech.convert(asked, backend);
  const parts: Uint8Array[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts);
}

async function errorOf(promise: Promise<unknown>): Promise<FishAudioError> {
  const error: unknown = await promise.then(
    () => 'it did not fail',
    (reason: unknown) => reason,
  );
  if (error instanceof FishAudioError) return error;
  throw new Error(String(error));
}

describe('the npm client of the other interface, pointed at the service', () => {
  test('gets mp3, wav and pcm that can be played, and mp3 for opus', async () => {
    const serving = await startServe();
    const client = clientOf(serving);
    const asked = { text: TEXT, reference_id: await firstVoiceId(serving) };
    const mp3 = await expectSound(await speak(client, { ...asked, format: 'mp3' }));
    expect(mp3.format).toBe('mp3');
    const wav = await speak(client, { ...asked, format: 'wav' });
    const sound = await expectSound(withTrueLengths(wav));
    const pcm = await speak(client, { ...asked, format: 'pcm' });
    expect(pcm.length / 2 / RATE).toBeCloseTo(sound.durationMs / 1_000, 2);
    const opus = await expectSound(await speak(client, { ...asked, format: 'opus' }));
    expect(opus.format).toBe('mp3');
  });

  test('is followed in its speed, and its backend names the model', async () => {
    const serving = await startServe();
    const client = clientOf(serving);
    const asked = { text: TEXT, reference_id: await firstVoiceId(serving), temperature: 0.7 };
    const slow = await expectSound(await speak(client, asked, 's1'));
    const fast = await expectSound(await speak(client, { ...asked, prosody: { speed: 2 } }, 's1'));
    expect(slow.durationMs / fast.durationMs).toBeGreaterThan(1.7);
    const { rawResponse } = await client.textToSpeech.convert(asked, 's1').withRawResponse();
    expect(rawResponse.headers.get('X-OpenAPI-Credits-Used')).toBe(String(TEXT.length));
  });

  test('gets the status and the code of an error', async () => {
    const serving = await startServe();
    const client = clientOf(serving);
    const voice = await firstVoiceId(serving);
    const unvoiced = await errorOf(speak(client, { text: TEXT }));
    expect(unvoiced).toMatchObject({ statusCode: 400, body: { code: 'ERR_INVALID_REQUEST' } });
    const stranger = clientOf({ ...serving, apiKey: 'nobody' });
    const unknown = await errorOf(speak(stranger, { text: TEXT, reference_id: voice }));
    expect(unknown).toMatchObject({ statusCode: 401, body: { code: 'ERR_UNAUTHORIZED' } });
  });

  test('gets 402 with what is missing', async () => {
    const poor = await startServe(['--credits', '10']);
    const asked = { text: TEXT, reference_id: await firstVoiceId(poor) };
    const broke = await errorOf(speak(clientOf(poor), asked));
    expect(broke).toMatchObject({ statusCode: 402, body: { code: 'ERR_INSUFFICIENT_CREDITS' } });
    const client = clientOf(await startServe(['--rate-limit', '0.1/s']));
    const once = { maxRetries: 0 };
    await errorOf(client.textToSpeech.convert({ text: TEXT }, 's1', once));
    const hasty = await errorOf(client.textToSpeech.convert({ text: TEXT }, 's1', once));
    expect(hasty).toMatchObject({ statusCode: 429, body: { code: 'ERR_RATE_LIMITED' } });
  });

  test('gets 404 for its other calls', async () => {
    const client = clientOf(await startServe());
    for (const call of [client.voices.search(), client.user.get_api_credit()]) {
      expect(await errorOf(call)).toMatchObject({
        statusCode: 404,
        body: { code: 'ERR_NOT_FOUND' },
      });
    }
  });
});
