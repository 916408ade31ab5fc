import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Client, ClientOptions } from '../../src/library/client.ts';
import { createClient, FoleyError } from '../../src/library/client.ts';
import type { EphemeralService, ServiceOptions } from '../../src/library/service.ts';
import { startService } from '../../src/library/service.ts';
import { VOICES } from '../../src/service/voices/catalogue-voice.ts';

const [{ id: voiceId }] = VOICES;
const SPEECH = 'POST /api/open/v3/speech/tts';

interface Pair {
  readonly service: EphemeralService;
  readonly client: Client;
}

async function connected(
  options?: ServiceOptions,
  clientOptions?: Partial<ClientOptions>,
): Promise<Pair> {
  const service = await startService(options);
  const client = createClient({ ...service, ...clientOptions });
  onTestFinished(async () => {
    await client.close();
    await service.close();
  });
  return { service, client };
}

async function folder(): Promise<string> {
  const made = await mkdtemp(path.join(tmpdir(), 'foley test '));
  onTestFinished(() => rm(made, { recursive: true, force: true }));
  return made;
}

async function* endless() {
  yield 'One sentence is here. ';
  await sleep(30_000, undefined, { ref: false });
}

async function* emptyPiece() {
  yield JSON.parse('{}').missing;
}

async function failureOf(work: Promise<unknown>): Promise<FoleyError> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof FoleyError) return error;
  throw new Error(`it was not refused with a FoleyError: ${String(error)}`);
}

describe('speech', () => {
  test('create returns verified audio and its cost, and passes the audio on while it arrives', async () => {
    const { client } = await connected();
    const chunks: Uint8Array[] = [];
    const onAudio = (chunk: Uint8Array): void => void chunks.push(chunk);
    const request = { text: 'Hello there.', voiceId, format: 'wav', speed: 1.2, onAudio } as const;
    const speech = await client.speech.create(request);
    expect(speech).toMatchObject({ format: 'wav', creditsUsed: 6, unspoken: [] });
    expect(speech.durationMs).toBeGreaterThan(300);
    expect(Buffer.from(speech.audio.subarray(0, 4)).toString()).toBe('RIFF');
    // The length in the header is right, although the service did not know it.
    expect(Buffer.from(speech.audio).readUInt32LE(4)).toBe(speech.audio.length - 8);
    expect(Buffer.concat(chunks)).toHaveLength(speech.audio.length);
  });

  test('create sends every control, and names the words that the voice left out', async () => {
    const { client } = await connected();
    const request = {
      text: 'Hello 你好.',
      voiceId,
      modelId: 'vendor-s1',
      emotion: 'happy',
    } as const;
    const { ignoredParameters, unspoken } = await client.speech.create(request);
    expect(ignoredParameters).toContain('emotion');
    expect(unspoken).toEqual([{ text: '你好', start: 6, end: 8 }]);
  });

  test('create retries with the same idempotency key and is billed once', async () => {
    const faults = [`${SPEECH}; status=503; retry-after=0; times=2`];
    const { client, service } = await connected({ faults });
    await client.speech.create({ text: 'Hello.', voiceId });
    const requests = service.requests();
    expect(requests.map(({ status }) => status)).toEqual([503, 503, 200]);
    expect(new Set(requests.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
  });

  test('aligned returns the time of each word', async () => {
    const { client } = await connected();
    const speech = await client.speech.aligned({ text: 'Hello there.', voiceId });
    expect(speech).toMatchObject({ complete: true, words: [{ text: 'Hello' }, { text: 'there' }] });
    expect(speech.audio.length).toBeGreaterThan(1_000);
  });

  test('live speaks text while it arrives', async () => {
    const { client } = await connected();
    let heard = 0;
    async function* pieces() {
      yield 'One sentence is here. ';
      await expect.poll(() => heard).toBeGreaterThan(0);
      yield 'Another one.';
    }
    const onAudio = (chunk: Uint8Array): void => void (heard += chunk.length);
    const speech = await client.speech.live({ text: pieces(), voiceId, onAudio });
    expect(speech).toMatchObject({ format: 'mp3', segments: 2 });
    expect(speech.audio).toHaveLength(heard);
    expect(await client.speech.live({ text: 'Short.', voiceId })).toMatchObject({ segments: 0 });
  });

  test('live throws the error of the text, and of the listener', async () => {
    const { client } = await connected();
    const broken = new Error('the model stopped');
    async function* pieces(): AsyncGenerator<string> {
      yield 'One sentence is here. ';
      throw broken;
    }
    await expect(client.speech.live({ text: pieces(), voiceId })).rejects.toBe(broken);
    const onAudio = (): Promise<void> => Promise.reject(broken);
    await expect(client.speech.live({ text: 'Hello.', voiceId, onAudio })).rejects.toBe(broken);
    await expect(client.speech.create({ text: 'Hi.', voiceId, onAudio })).rejects.toBe(broken);
  });

  test('throws the reason of an aborted signal', async () => {
    const { client } = await connected({ faults: [`${SPEECH}; delay=20s`] });
    const signal = AbortSignal.timeout(50);
    const speech = client.speech.create({ text: 'Hi.', voiceId, signal });
    await expect(speech).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});

describe('jobs', () => {
  test('are created, awaited, listed and downloaded', async () => {
    const { client, service } = await connected();
    const { id } = await client.jobs.create({ text: 'A job.', voiceId, format: 'ogg' });
    expect(await client.jobs.wait(id)).toMatchObject({ id, phase: 'success', status: 'success' });
    expect(await client.jobs.get(id)).toMatchObject({ id, phase: 'success', creditsUsed: 3 });
    expect(await client.jobs.list()).toMatchObject({ items: [{ id, textPreview: 'A job.' }] });
    const whole = await client.jobs.download(id);
    expect(whole).toMatchObject({ format: 'ogg' });
    expect((await client.jobs.download(id, { segment: 0 })).data).toHaveLength(whole.data.length);
    expect(service.requests().filter(({ method }) => method === 'POST')).toHaveLength(1);
  });

  test('that fail or take too long throw', async () => {
    const { client, service } = await connected({ faults: ['POST /**; job=fail'] });
    const { id } = await client.jobs.create({ text: 'A job.', voiceId });
    expect(await failureOf(client.jobs.wait(id))).toMatchObject({ exitCode: 20, billed: 'no' });
    service.setFaults([]);
    const text = 'A long text takes a while to speak. '.repeat(100);
    const { id: slow } = await client.jobs.create({ text, voiceId });
    const late = await failureOf(client.jobs.wait(slow, { timeoutMs: 1 }));
    expect(late).toMatchObject({ exitCode: 28, code: 'deadline', billed: 'yes' });
  });
});

describe('voices and media', () => {
  test('voices are listed, created from recordings and deleted', async () => {
    const { client } = await connected();
    const { items, total } = await client.voices.list({ pageSize: 2 });
    expect(items).toHaveLength(2);
    expect(total).toBeGreaterThan(2);
    expect(await client.voices.get(voiceId)).toMatchObject({ voiceId });
    const file = path.join(await folder(), 'ada.wav');
    const text = 'I read the news every morning, and then I walk to the river.';
    await writeFile(file, (await client.speech.create({ text, voiceId, format: 'wav' })).audio);
    const made = await client.voices.create({ name: 'Ada', files: [file], languages: ['en'] });
    expect(made).toMatchObject({ name: 'Ada' });
    expect((await client.voices.list({ includePersonal: true })).total).toBe(total + 1);
    await client.voices.delete(made.voiceId);
    expect(await failureOf(client.voices.get(made.voiceId))).toMatchObject({ status: 404 });
  });

  test('an image is created, awaited and downloaded', async () => {
    const { client } = await connected();
    const body = { prompt: 'a lighthouse', model: 'vendor-image-1-flash' };
    const { id } = await client.media.create('image', body);
    expect(await client.media.wait('image', id)).toMatchObject({ id, phase: 'success' });
    const image = await client.media.download('image', id);
    expect(image.format).toMatch(/^(png|jpe?g|webp)$/);
    expect(image.data.length).toBeGreaterThan(1_000);
  });
});

describe('errors', () => {
  test('have the exit code, the code, the request id and the billing outcome', async () => {
    const { client } = await connected({ credits: 0 });
    const error = await failureOf(client.speech.create({ text: 'Hello.', voiceId }));
    expect(error).toMatchObject({ exitCode: 21, status: 402, billed: 'no', name: 'FoleyError' });
    expect(error.code).toMatch(/^ERR_/);
    expect(error.requestId).toMatch(/^[\da-f-]{36}$/);
  });

  test('have the idempotency key, with which the request is not billed again', async () => {
    const faults = [`${SPEECH}; reset-after=0; times=1`];
    const { client, service } = await connected({ faults }, { maxRetries: 0 });
    const request = { text: 'Hello.', voiceId };
    const error = await failureOf(client.speech.create(request));
    expect(error).toMatchObject({ exitCode: 26, code: 'unknown_outcome', billed: 'unknown' });
    const { idempotencyKey } = error;
    expect(service.requests()).toMatchObject([{ idempotencyKey }]);
    const again = await failureOf(client.speech.create({ ...request, idempotencyKey }));
    expect(again.code).toMatch(/^ERR_REQUEST_/);
  });

  test('say when audio is cut off', async () => {
    const { client } = await connected({ faults: [`${SPEECH}; truncate=4000`] });
    const error = await failureOf(client.speech.create({ text: 'Hello there.', voiceId }));
    expect(error).toMatchObject({ exitCode: 25, code: 'bad_answer' });
  });

  test.each<readonly [object, RegExp]>([
    [{ text: ' ' }, /^speech\.create: text is " "; it takes a string that is not empty$/],
    [{ voiceId: undefined }, /^speech\.create: voiceId is missing; it takes a string/],
    [{ speed: 9 }, /^speech\.create: speed is 9; it takes a number from 0\.5 to 2$/],
    [{ speed: '1' }, /^speech\.create: speed is "1"; it takes a number from 0\.5 to 2$/],
    [{ format: 'flac' }, /^speech\.create: format is "flac"; it takes mp3, wav, ogg$/],
    [{ language: '' }, /^speech\.create: language is ""; it takes 1 to 64 characters$/],
    [{ filterEmoji: 1 }, /^speech\.create: filterEmoji is 1; it takes a boolean$/],
    [{ speed: Number.NaN }, /^speech\.create: speed is NaN; it takes a number from 0\.5 to 2$/],
    [{ speed: 1n }, /^speech\.create: speed is 1n; it takes a number from 0\.5 to 2$/],
    [{ signal: {} }, /^speech\.create: signal is \{\}; it takes an AbortSignal$/],
    [{ onAudio: 'x' }, /^speech\.create: onAudio is "x"; it takes a function$/],
    [{ voice: 'x' }, /^speech\.create has no option voice\. Did you mean voiceId\?$/],
  ])('name a wrong option of a request: %o', async (wrong, message) => {
    const { client, service } = await connected();
    const request = { text: 'Hello.', voiceId, ...wrong };
    const error = await failureOf(client.speech.create(request));
    expect(error).toMatchObject({ exitCode: 2, code: 'usage', billed: 'no' });
    expect(error.message).toMatch(message);
    expect(service.requests()).toEqual([]);
  });

  test('name a piece of text that is not a string', async () => {
    const { client } = await connected();
    const error = await failureOf(client.speech.live({ text: emptyPiece(), voiceId }));
    expect(error).toMatchObject({ exitCode: 2, code: 'usage' });
    expect(error.message).toBe('speech.live: a piece of text is missing; it takes a string');
  });

  test('say that the client was closed while it spoke live', async () => {
    const { client } = await connected();
    const onAudio = (): void => void client.close();
    const error = await failureOf(client.speech.live({ text: endless(), voiceId, onAudio }));
    expect(error).toMatchObject({ exitCode: 26, billed: 'unknown' });
    const again = await failureOf(client.speech.live({ text: 'Hi.', voiceId, modelId: 'x' }));
    expect(again).toMatchObject({ exitCode: 24, billed: 'no', message: 'the client is closed' });
  });

  test('say that the client is closed, and whether an interrupted request may be billed', async () => {
    const { client, service } = await connected({ faults: [`${SPEECH}; delay=20s`] });
    const speak = () => failureOf(client.speech.create({ text: 'Hi.', voiceId }));
    const interrupted = speak();
    await sleep(500);
    await client.close();
    const unknown = { exitCode: 26, code: 'unknown_outcome', billed: 'unknown' };
    expect(await interrupted).toMatchObject(unknown);
    const message = 'the client is closed';
    expect(await speak()).toMatchObject({ exitCode: 24, billed: 'no', message });
    expect(await failureOf(client.voices.list())).toMatchObject({ exitCode: 24, message });
    expect(service.requests().length).toBeLessThan(2);
  });

  const GIVEN = { baseUrl: 'https://api.example.com', apiKey: 'key' };
  test.each<readonly [Partial<ClientOptions>, number, RegExp]>([
    [{ baseUrl: 'api.example.com' }, 2, /^baseUrl is not a service URL$/],
    [{ baseUrl: 'http://api.example.com' }, 2, /^baseUrl is http:.*not encrypted$/],
    [{ realtimeUrl: 'ftp://x' }, 2, /^realtimeUrl is not a service URL$/],
    [{ apiKey: '' }, 4, /^apiKey is empty$/],
    [{ apiKey: 'a b' }, 4, /^apiKey has an invalid character at position 2$/],
    [
      { maxRetries: -1 },
      2,
      /^createClient: maxRetries is -1; it takes a whole number of at least 0$/,
    ],
    [Object({ baseURL: 'x' }), 2, /^createClient has no option baseURL\. Did you mean baseUrl\?$/],
  ])('name a wrong option of a client: %j', (wrong, exitCode, message) => {
    const make = (): Client => createClient({ ...GIVEN, ...wrong });
    expect(make).toThrow(message);
    expect(make).toThrow(expect.objectContaining({ name: 'FoleyError', exitCode }));
  });
});

describe('a client with a journal', () => {
  test('records a request whose outcome is unknown, and forgets one that succeeded', async () => {
    const journal = await folder();
    const faults = [`${SPEECH}; reset-after=0; times=1`];
    const { client } = await connected({ faults }, { journal, maxRetries: 0 });
    await client.jobs.create({ text: 'Hello.', voiceId });
    expect(await readdir(path.join(journal, 'journal'))).toEqual([]);
    await failureOf(client.speech.create({ text: 'Hello.', voiceId }));
    expect(await readdir(path.join(journal, 'journal'))).toHaveLength(1);
  });

  test('saves audio that was cut off', async () => {
    const journal = await folder();
    const { client } = await connected({ faults: [`${SPEECH}; truncate=4000`] }, { journal });
    await failureOf(client.speech.create({ text: 'Hello there.', voiceId }));
    expect(await readdir(path.join(journal, 'spool'))).toHaveLength(2);
  });
});
