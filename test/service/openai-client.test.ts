import OpenAI, {
  APIError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
} from 'openai';
import { describe, expect, it } from 'vitest';
import { BASE_URL, KEY, testService, voiceId } from './support/test-service.ts';
import type { TestService } from './support/test-service.ts';

const ASKED = { model: 'vendor-s21pro', input: 'Hello. Again.', voice: voiceId('Clara') };

/** The official client; what it sends goes straight to the service. */
function clientOf({ service }: Pick<TestService, 'service'>, apiKey = KEY): OpenAI {
  return new OpenAI({
    baseURL: `${BASE_URL}/v1`,
    apiKey,
    maxRetries: 0,
    fetch: (url, init) => service.fetch(new Request(url, init)),
  });
}

async function errorOf(promise: Promise<unknown>): Promise<APIError> {
  const error: unknown = await promise.then(
    () => 'it did not fail',
    (reason: unknown) => reason,
  );
  if (error instanceof APIError) return error;
  throw new Error(String(error));
}

describe('the official openai client', () => {
  it('is answered with audio and what it cost', async () => {
    const response = await clientOf(await testService()).audio.speech.create(ASKED);
    expect(response.headers.get('Content-Type')).toBe('audio/mpeg');
    expect(response.headers.get('X-OpenAPI-Credits-Used')).toBe('13');
    expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(100);
  });

  it.each([
    ['a model of the other interface', { model: 'tts-1' }],
    ['a voice of the other interface', { voice: 'alloy' }],
    ['a format that is not made', { response_format: 'opus' as const }],
    ['a speed that is too high', { speed: 4 }],
    ['no text', { input: '' }],
  ])('throws a BadRequestError for %s', async (_what, change) => {
    const service = await testService();
    const error = await errorOf(clientOf(service).audio.speech.create({ ...ASKED, ...change }));
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({ status: 400, requestID: expect.stringMatching(/^[\w-]{8,}$/) });
  });

  it('throws an AuthenticationError for an unknown key', async () => {
    const service = await testService();
    const error = await errorOf(clientOf(service, 'nobody').audio.speech.create(ASKED));
    expect(error).toBeInstanceOf(AuthenticationError);
    expect(error.status).toBe(401);
  });

  it('throws an APIError with 402 when there is too little left', async () => {
    const service = await testService({ allowance: { credits: 10, quota: 10 } });
    const error = await errorOf(clientOf(service).audio.speech.create(ASKED));
    expect(error.constructor).toBe(APIError);
    expect(error.status).toBe(402);
  });

  it('throws an InternalServerError when the engine fails', async () => {
    const service = await testService();
    service.engine.failBefore(0);
    const error = await errorOf(clientOf(service).audio.speech.create(ASKED));
    expect(error).toBeInstanceOf(InternalServerError);
    expect((await service.balance()).credits).toBe(1_000_000);
  });
});
