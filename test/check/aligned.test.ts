import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { VOICES } from '../../src/service/voices/catalogue-voice.ts';
import { PROFILE_PATH, VOICES_PATH } from '../fault-server/healthy-service.ts';
import { decodeAudio, isSilent } from '../harness/decode-audio.ts';
import type { ReadStream } from '../harness/read-events.ts';
import { parseEvents } from '../harness/read-events.ts';
import { skipWithout } from '../harness/require-tool.ts';
import { runFoley } from '../harness/run-foley.ts';
import { createSandbox } from '../harness/sandbox.ts';
import type { RawConnection } from '../harness/raw-connection.ts';
import { connectRaw, rawPost } from '../harness/raw-connection.ts';
import { codeOf, type ServingFoley, startServe } from '../binary/support/serve.ts';

const PATH = '/api/open/v3/speech/tts/aligned';
const ENGINE = fileURLToPath(new URL('../fixtures/wordless-engine.mjs', import.meta.url));

function voiceId(name: string): string {
  return VOICES.find((voice) => voice.name === name)?.id ?? '';
}

async function serving(...args: Parameters<typeof startServe>): Promise<ServingFoley> {
  const service = await startServe(...args);
  onTestFinished(async () => {
    service.running.signal('SIGKILL');
    await service.running.done;
  });
  return service;
}

/** Asks in HTTP/1.0, whose bodies are bare bytes until the connection ends. */
async function askRaw({ apiKey, baseUrl }: ServingFoley, body: object): Promise<RawConnection> {
  const connection = await connectRaw(baseUrl);
  const headers = { Authorization: `Bearer ${apiKey}` };
  connection.socket.write(rawPost(PATH, body, headers).replace('HTTP/1.1', 'HTTP/1.0'), 'utf8');
  return connection;
}

async function streamOf(connection: RawConnection): Promise<ReadStream> {
  const answer = Buffer.from(await connection.untilClosed(), 'latin1');
  const head = answer.indexOf('\r\n\r\n');
  expect(answer.subarray(0, head).toString()).toMatch(/^HTTP\/1\.1 200 /);
  return parseEvents(answer.subarray(head + 4).toString());
}

async function creditsOf({ ask }: ServingFoley): Promise<number> {
  return Object(JSON.parse((await ask(PROFILE_PATH)).bytes.toString())).credits;
}

test('an aligned stream on a bare socket has whole audio and every word of the text', async () => {
  const service = await serving();
  const text = 'Hello there. It costs $42.50 — doesn’t it, Dr. Smith?';
  const connection = await askRaw(service, { text, voiceId: voiceId('Clara'), format: 'mp3' });
  const { audio, events, last, words } = await streamOf(connection);
  const decoded = await decodeAudio(audio);
  expect(isSilent(decoded)).toBe(false);
  expect(words.map((word) => word.text)).toEqual(
    ['Hello', 'there', 'It', 'costs', '$42.50', 'doesn’t', 'it', 'Dr', 'Smith'], // as written
  );
  expect(words.at(-1)?.endMs).toBeLessThan(decoded.durationMs);
  expect(last).toMatchObject({ name: 'completed', data: { alignmentStatus: 'complete' } });
  const chunks = events.flatMap(({ data }) => data['chunkSeq'] ?? []);
  expect(chunks).toEqual([0, 0, 1, 1]);
});

test('a sentence that the voice cannot say is invalidated, and the alignment is partial', async () => {
  const service = await serving();
  const body = { text: 'Hello there. 你好。 Goodbye.', voiceId: voiceId('Jonas'), format: 'wav' };
  const { events, last, words } = await streamOf(await askRaw(service, body));
  expect(events).toContainEqual({ name: 'alignment_invalidated', data: { chunkSeq: 1 } });
  expect(words.map((word) => word.text)).toEqual(['Hello', 'there', 'Goodbye']);
  expect(last?.data['alignmentStatus']).toBe('partial');
});

test('a reader that stops stops the engine, and gets all when it reads on', async () => {
  const service = await serving();
  const cpuBefore = await cpuOf(service.running.pid);
  const text = 'The quick brown fox jumps over the lazy dog, and nobody knows why. '.repeat(100);
  const body = { text, voiceId: voiceId('Jonas'), format: 'wav' };
  const connection = await askRaw(service, body);
  await expect.poll(() => connection.text).toContain('event: audio');
  connection.socket.pause();
  const atRest = (await cpuAtRest(service.running.pid)) - cpuBefore;
  connection.socket.resume();
  const { last, words } = await streamOf(connection);
  expect(last).toMatchObject({ name: 'completed', data: { alignmentStatus: 'complete' } });
  expect(words).toHaveLength(1_300);
  const whole = (await cpuOf(service.running.pid)) - cpuBefore;
  expect(atRest / whole).toBeLessThan(0.7);
});

test('a client that leaves after the first audio has paid, and its key says so', async () => {
  const service = await serving();
  const before = await creditsOf(service);
  const body = { text: 'One two three. '.repeat(200), voiceId: voiceId('Jonas'), format: 'wav' };
  const leaving = new AbortController();
  const headers = {
    Authorization: `Bearer ${service.apiKey}`,
    'Content-Type': 'application/json',
    'Idempotency-Key': 'leaving',
  };
  const init = { method: 'POST', headers, body: JSON.stringify(body) };
  const response = await fetch(service.baseUrl + PATH, { ...init, signal: leaving.signal });
  await response.body?.getReader().read();
  leaving.abort();
  const codeNow = async (): Promise<unknown> => {
    const { bytes } = await service.ask(PATH, {
      method: 'POST',
      headers: { 'Idempotency-Key': 'leaving' },
      body,
    });
    return codeOf(bytes);
  };
  await expect.poll(codeNow).toBe('ERR_REQUEST_ALREADY_COMPLETED');
  expect(await creditsOf(service)).toBeLessThan(before);
});

test('an engine without words has invalidated chunks; one that ends in its speech an error, refunded', async () => {
  const sandbox = await createSandbox();
  const added = await runFoley(['engine', 'add', 'tones', '--', 'node', ENGINE], { sandbox });
  expect(added.code, added.stderr).toBe(0);
  const service = await serving([], { sandbox });
  const list = JSON.parse((await service.ask(`${VOICES_PATH}?pageSize=100`)).bytes.toString());
  const voice = Object(list).items.find((one: { name: string }) => one.name === 'tone');
  const speak = async (text: string): Promise<ReadStream> =>
    streamOf(await askRaw(service, { text, voiceId: voice.voiceId, format: 'wav' }));

  const wordless = await speak('One two. Three.');
  expect(wordless.names.filter((name) => name !== 'audio')).toEqual([
    'alignment_invalidated',
    'alignment_invalidated',
    'completed',
  ]);
  expect(wordless.last?.data['alignmentStatus']).toBe('partial');

  const before = await creditsOf(service);
  const broken = await speak('One two three four. halt');
  expect(broken.last).toMatchObject({ name: 'error', data: { code: 'ERR_GENERATION_FAILED' } });
  expect(broken.audio.byteLength).toBeGreaterThan(0);
  expect(await creditsOf(service)).toBe(before);
});

/** Processor time that a process has used, in the system's ticks. */
async function cpuOf(pid: number | undefined): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() =>
    skipWithout('/proc/PID/stat'),
  );
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

/** Waits until a process works no more; gives what it has used by then. */
async function cpuAtRest(pid: number | undefined): Promise<number> {
  let last = -1;
  await expect
    .poll(
      async () => {
        const before = last;
        last = await cpuOf(pid);
        return last - before;
      },
      { interval: 500, timeout: 20_000 },
    )
    .toBeLessThanOrEqual(2);
  return last;
}
