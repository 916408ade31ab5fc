import { EventSourceParserStream } from 'eventsource-parser/stream';
import OpenAI, {
  APIError,
  AuthenticationError,
  BadRequestError,
  NotFoundError,
  RateLimitError,
} from 'openai';
import { describe, expect, test } from 'vitest';
import { decodeAudio } from '../../harness/decode-audio.ts';
import { firstVoiceId, startServe } from '../../binary/support/serve.ts';
import type { ServingFoley } from '../../binary/support/serve.ts';
import { expectSound, withTrueLengths } from '../../binary/support/sound.ts';

const INPUT = 'Hello from a client that does not know who answers.';
const MODEL = 'vendor-s21pro';
const RATE = 24_000;

function clientOf({ baseUrl, apiKey }: Pick<ServingFoley, 'apiKey' | 'baseUrl'>): OpenAI {
  return new OpenAI({ baseURL: `${baseUrl}/v1`, apiKey, maxRetries: 0 });
}

async function bytesOf(response: Response): Promise<Buffer> {
  return Buffer.from(await response.arrayBuffer());
}

describe('the official openai client, pointed at /v1', () => {
  test('gets mp3, wav and pcm that can be played', async () => {
    const serving = await startServe();
    const { audio } = clientOf(serving);
    const voice = await firstVoiceId(serving);
    const plain = await audio.speech.create({ model: MODEL, input: INPUT, voice });
    const mp3 = await expectSound(await bytesOf(plain));
    expect(mp3.format).toBe('mp3');
    expect(plain.headers.get('X-OpenAPI-Credits-Used')).toBe(String(INPUT.length));
    const asked = { model: MODEL, input: INPUT, voice: { id: voice } };
    const wav = await audio.speech.create({ ...asked, response_format: 'wav' });
    const sound = await expectSound(withTrueLengths(await bytesOf(wav)));
    const raw = await audio.speech.create({ ...asked, response_format: 'pcm' });
    const pcm = await bytesOf(raw);
    expect(pcm.length / 2 / RATE).toBeCloseTo(sound.durationMs / 1_000, 2);
    expect(mp3.durationMs - sound.durationMs).toBeLessThan(100);
  });

  test('is followed in its speed, and may stream', async () => {
    const serving = await startServe();
    const { audio } = clientOf(serving);
    const voice = await firstVoiceId(serving);
    const lengths = [];
    for (const speed of [1, 2]) {
      const response = await audio.speech.create({ model: MODEL, input: INPUT, voice, speed });
      const parts: Uint8Array[] = [];
      for await (const part of response.body ?? []) parts.push(part);
      lengths.push((await decodeAudio(Buffer.concat(parts))).durationMs);
    }
    expect((lengths[0] ?? 0) / (lengths[1] ?? 1)).toBeGreaterThan(1.7);
  });

  test('throws its own class for 400, 401, 402 and 429', async () => {
    const serving = await startServe(['--credits', '10']);
    const asked = { model: MODEL, input: INPUT, voice: await firstVoiceId(serving) };
    const speak = async (change: object, client: OpenAI = clientOf(serving)) =>
      errorOf(client.audio.speech.create({ ...asked, ...change }));
    const wrong = await speak({ speed: 4 });
    expect(wrong).toBeInstanceOf(BadRequestError);
    expect(wrong).toMatchObject({ status: 400, requestID: expect.stringMatching(/^\S{8,}$/) });
    expect(wrong.message).toBe('400 speed is 4; allowed: 0.5 to 2');
    expect(fieldsOf(wrong)).toEqual(['ERR_INVALID_REQUEST', 'speed', 'invalid_request_error']);
    const unknown = await speak({}, clientOf({ ...serving, apiKey: 'nobody' }));
    expect(unknown).toBeInstanceOf(AuthenticationError);
    expect(unknown.message).toMatch(/^401 \S+ \S+/);
    expect(fieldsOf(unknown)).toEqual(['ERR_UNAUTHORIZED', null, 'authentication_error']);
    const poor = await speak({});
    expect([poor.constructor, poor.status]).toEqual([APIError, 402]);
    expect(poor.message).toMatch(/^402 .*credits/);
    expect(fieldsOf(poor)).toEqual(['ERR_INSUFFICIENT_CREDITS', null, 'insufficient_quota']);
    const limited = await startServe(['--rate-limit', '0.1/s']);
    const hasty = await errorsOf(clientOf(limited), { ...asked, speed: 4 }, 2);
    expect(hasty[0]).toBeInstanceOf(BadRequestError);
    expect(hasty[1]).toBeInstanceOf(RateLimitError);
    expect(hasty[1]?.headers?.get('retry-after')).toMatch(/^\d+$/);
    expect(fieldsOf(hasty[1])).toEqual(['ERR_RATE_LIMITED', null, 'rate_limit_error']);
  });

  test('reads the message of what this service does not have, and of a fault', async () => {
    const client = clientOf(await startServe(['--fault', 'GET /v1/models; status=500; times=1']));
    const broken = await errorOf(client.models.list());
    expect(fieldsOf(broken)).toEqual(['ERR_INTERNAL', null, 'server_error']);
    const chat = await errorOf(client.chat.completions.create({ model: MODEL, messages: [] }));
    expect(chat).toBeInstanceOf(NotFoundError);
    expect(chat.message).toMatch(/^404 No such endpoint/);
    const model = await errorOf(client.models.retrieve('tts-1'));
    expect(model.message).toMatch(/^404 .*tts-1/);
  });

  test('lists models, and gets one', async () => {
    const { models } = clientOf(await startServe());
    const listed = [];
    for await (const model of models.list()) listed.push(model);
    expect(listed).toContainEqual({
      id: MODEL,
      object: 'model',
      created: expect.any(Number),
      owned_by: 'foley',
    });
    expect(await models.retrieve(MODEL)).toMatchObject({ id: MODEL, object: 'model' });
  });

  test('streams events, whose sound is the same as without them', async () => {
    const serving = await startServe();
    const { audio } = clientOf(serving);
    const order = { model: MODEL, input: INPUT, voice: await firstVoiceId(serving) };
    const plain = await bytesOf(await audio.speech.create(order));
    const streamed = await audio.speech.create({ ...order, stream_format: 'sse' });
    expect(streamed.headers.get('Content-Type')).toMatch(/^text\/event-stream/);
    const events = await eventsOf(streamed);
    const sound = events.flatMap(({ audio: part }) =>
      typeof part === 'string' ? [Buffer.from(part, 'base64')] : [],
    );
    expect(Buffer.concat(sound).equals(plain)).toBe(true);
    expect(events.at(-1)).toEqual({
      type: 'speech.audio.done',
      usage: { input_tokens: INPUT.length, output_tokens: 0, total_tokens: INPUT.length },
    });
    const wrong = await errorOf(
      // @ts-expect-error a value that the client does not know either
      audio.speech.create({ ...order, stream_format: 'mp4' }),
    );
    expect(fieldsOf(wrong)).toEqual([
      'ERR_INVALID_REQUEST',
      'stream_format',
      'invalid_request_error',
    ]);
  });
});

async function eventsOf(response: Response): Promise<readonly Record<string, unknown>[]> {
  const events: Record<string, unknown>[] = [];
  const stream = response.body
    ?.pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  for await (const { data } of stream ?? []) events.push(JSON.parse(data));
  return events;
}

/** What the client reads from the `error` of a body. */
function fieldsOf(error: APIError | undefined): readonly unknown[] {
  return [error?.code, error?.param, error?.type];
}

async function errorsOf(
  { audio }: OpenAI,
  asked: Parameters<OpenAI['audio']['speech']['create']>[0],
  times: number,
): Promise<readonly APIError[]> {
  const errors = [];
  for (let time = 0; time < times; time += 1)
    errors.push(await errorOf(audio.speech.create(asked)));
  return errors;
}

async function errorOf(promise: Promise<unknown>): Promise<APIError> {
  const error: unknown = await promise.then(
    () => 'it did not fail',
    (reason: unknown) => reason,
  );
  if (error instanceof APIError) return error;
  throw new Error(String(error));
}
