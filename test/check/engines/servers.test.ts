import { readdir, readFile, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { SOON } from '../../binary/support/fixture.ts';
import { startServe } from '../../binary/support/serve.ts';
import { meanFrequency } from '../../harness/mean-frequency.ts';
import { runFoley } from '../../harness/run-foley.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { readWav, writeWav } from '../../harness/wav.ts';

const RATE = 24_000;
const FIRST_HZ = 400;
const STEP_HZ = 160;

const IS_FULL_SIZE = process.env['FOLEY_TEST_SIZE'] === 'full';
// The service speaks a longer text in segments.
const SENTENCES = IS_FULL_SIZE ? 400 : 150;
const SENTENCE_MS = IS_FULL_SIZE ? 1_000 : 20;

interface Asked {
  readonly input: string;
  readonly voice: string;
  readonly model: string;
  readonly response_format: string;
  readonly speed?: number;
  readonly authorization: string | undefined;
}

type Answer = (request: Asked, response: ServerResponse) => void;

/** Starts a server of the interface. It says "Number 3." as a tone that stands for the 3. */
async function startSpeechServer(answer: Answer = speak, voices: unknown = { voices: ['alloy'] }) {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    if (request.url === '/v1/audio/voices') return void response.end(JSON.stringify(voices));
    if (request.url !== '/v1/audio/speech') {
      response.statusCode = 404;
      return void response.end('{"detail":"Not Found"}');
    }
    void bodyOf(request).then((body) => {
      const one = { ...JSON.parse(body), authorization: request.headers.authorization };
      asked.push(one);
      return answer(one, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, asked, server };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function toneOf({ input, speed = 1 }: Asked): Buffer {
  const number = Number(/\d+/.exec(input)?.[0] ?? wordNumber(input));
  const hertz = FIRST_HZ + STEP_HZ * number;
  const length = Math.round((RATE * 0.06 * input.length) / speed);
  return writeWav(
    Float32Array.from(
      { length },
      (_, at) =>
        0.3 *
        Math.sin((2 * Math.PI * hertz * at) / RATE) *
        Math.min(1, at / 200, (length - at) / 200),
    ),
    RATE,
  );
}

const WORDS = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ');

// foley reads numbers before it asks the server.
function wordNumber(input: string): number {
  const found = input
    .toLowerCase()
    .split(/\W+/)
    .map((word) => WORDS.indexOf(word));
  return Math.max(0, ...found);
}

const speak: Answer = (request, response) => {
  response.setHeader('content-type', 'audio/wav');
  response.end(toneOf(request));
};

/** A text of sentences, and the tones that it must become, in order. */
function numbered(count: number): string {
  return Array.from({ length: count }, (_, index) => `This is number ${WORDS[index + 1]}.`).join(
    ' ',
  );
}

/** The numbers of the tones in a file, one for each stretch of sound. */
function numbersIn(bytes: Buffer): number[] {
  const { channels, sampleRate } = readWav(bytes);
  const [samples = new Float32Array()] = channels;
  const size = Math.round(sampleRate * 0.02);
  const stretches: Float32Array[] = [];
  let from: number | undefined;
  for (let at = 0; at <= samples.length; at += size) {
    const piece = samples.subarray(at, at + size);
    const isLoud = piece.some((sample) => Math.abs(sample) > 0.03);
    if (isLoud) from ??= at;
    else if (from !== undefined) {
      stretches.push(samples.subarray(from, at));
      from = undefined;
    }
  }
  return stretches.map((stretch) =>
    Math.round((meanFrequency({ samples: stretch, sampleRate }) - FIRST_HZ) / STEP_HZ),
  );
}

async function add(urls: readonly string[], options: readonly string[] = [], box?: Sandbox) {
  const sandbox = box ?? (await createSandbox());
  const flags = urls.flatMap((url) => ['--url', url]);
  return {
    sandbox,
    added: await runFoley(['engine', 'add', 'farm', ...flags, ...options], { sandbox }),
  };
}

async function say(sandbox: Sandbox, text: string, voice = 'alloy') {
  const args = ['tts', text, '-v', voice, '--local', '-o', 'a.wav', '--json'];
  const spoken = await runFoley(args, { sandbox });
  const bytes = await readFile(path.join(sandbox.out, 'a.wav')).catch(() => Buffer.alloc(0));
  return { spoken, bytes };
}

describe('servers as an engine', () => {
  test('speak the sentences of a text in order, and share the work', async () => {
    const [first, second] = [await startSpeechServer(), await startSpeechServer()];
    const { added, sandbox } = await add([first.url, `${second.url}/v1/audio/speech`]);
    expect(added).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('added farm: 1 voice'),
    });
    const { bytes, spoken } = await say(sandbox, numbered(12));
    expect(spoken.code, spoken.stderr).toBe(0);
    expect(numbersIn(bytes)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    // Both work.
    for (const { asked } of [first, second]) expect(asked.length).toBeGreaterThan(3);
  });

  test('can be another foley, whose voices then have captions here', async () => {
    const { apiKey, baseUrl } = await startServe();
    const sandbox = await createSandbox();
    await writeFile(path.join(sandbox.out, 'key.txt'), apiKey);
    const options = ['--key-file', 'key.txt', '--model', 'vendor-s21pro'];
    const { added } = await add([baseUrl], options, sandbox);
    expect(added.code, added.stderr).toBe(0);
    const listed = await runFoley(['voices', 'list', '--local', '--json'], { sandbox });
    const { items } = JSON.parse(listed.stdout.toString());
    const remote = items.find(
      ({ modelIds, name }: { readonly modelIds: readonly string[]; readonly name: string }) =>
        name === 'Martin' && modelIds.includes('local-farm'),
    );
    const text = 'The ship left at noon. Nobody on the shore waved to it.';
    const args = ['tts', text, '-v', remote.voiceId, '--local', '--subtitles', 'a.srt'];
    const spoken = await runFoley([...args, '-o', 'a.wav'], { sandbox });
    expect(spoken.code, spoken.stderr).toBe(0);
    const srt = await readFile(path.join(sandbox.out, 'a.srt'), 'utf8');
    expect(srt.replaceAll(/\s+/g, ' ')).toMatch(/The ship left at noon\..*waved to it\./);
  });

  test('are asked once for the level of a voice, not by each command', async () => {
    const { asked, url } = await startSpeechServer(speak, { voices: ['alloy', 'nova'] });
    const { sandbox } = await add([url]);
    const requestsOf = async (voice: string) => {
      const before = asked.length;
      const { spoken } = await say(sandbox, 'Number one.', voice);
      expect(spoken.code, spoken.stderr).toBe(0);
      return asked.length - before;
    };
    // `engine add` measured the first voice.
    expect(await requestsOf('alloy')).toBe(1);
    expect(await requestsOf('nova')).toBe(2);
    expect(await requestsOf('nova')).toBe(1);
  });

  test('send the model, the speed and the key from its file, which is nowhere else', async () => {
    const { asked, url } = await startSpeechServer();
    const sandbox = await createSandbox();
    await writeFile(path.join(sandbox.out, 'key.txt'), 'canary-of-the-farm\n');
    const { added } = await add([url], ['--model', 'kokoro', '--key-file', 'key.txt'], sandbox);
    expect(added.code, added.stderr).toBe(0);
    const fast = ['tts', 'One.', '-v', 'alloy', '--local', '--speed', '1.5', '-o', 'a.wav'];
    expect((await runFoley(fast, { sandbox })).code).toBe(0);
    expect(asked.at(-1)).toMatchObject({
      model: 'kokoro',
      voice: 'alloy',
      response_format: 'wav',
      speed: 1.5,
      authorization: 'Bearer canary-of-the-farm',
    });
    const listed = await runFoley(['engine', 'list', '--json'], { sandbox });
    expect(listed.stdout.toString()).toContain('key.txt');
    expect(listed.stdout.toString()).not.toContain('canary');
  });

  test('are asked for raw samples if they have no wav, and the rate comes from the type', async () => {
    const { asked, url } = await startSpeechServer((request, response) => {
      if (request.response_format !== 'pcm') {
        response.statusCode = 422;
        return void response.end('{"error":{"message":"response_format must be pcm"}}');
      }
      response.setHeader('content-type', `audio/pcm; rate=${RATE}`);
      response.end(toneOf(request).subarray(44));
    });
    const { added, sandbox } = await add([url]);
    expect(added.code, added.stderr).toBe(0);
    const { bytes } = await say(sandbox, numbered(3));
    expect(numbersIn(bytes)).toEqual([1, 2, 3]);
    // Each process of the engine asks for wav once.
    const inWav = asked.filter(({ response_format: format }) => format === 'wav');
    expect(inWav).toHaveLength(2);
  });

  test.each<[string, Answer, RegExp]>([
    [
      'an HTML page',
      (_, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
      /answered with an HTML page/,
    ],
    [
      'another format',
      (_, response) => void response.end(Buffer.from('ID3\u0004aaaaaaaaaaaa')),
      /sent mp3 although wav/,
    ],
    [
      'audio that is cut off',
      (request, response) => void response.end(toneOf(request).subarray(0, 2_000)),
      /cut its audio off/,
    ],
    [
      'a connection that breaks',
      (request, response) => {
        response.writeHead(200, { 'content-length': 100_000 });
        response.write(toneOf(request).subarray(0, 2_000), () => response.destroy());
      },
      /cut its answer off|does not answer/,
    ],
    [
      'silence',
      (_, response) => void response.end(writeWav(new Float32Array(9_000), RATE)),
      /sent silence/,
    ],
    [
      'an error in its own words',
      (_, response) => void response.writeHead(500).end('{"detail":"the GPU is on fire"}'),
      /answered 500: the GPU is on fire/,
    ],
    [
      'a redirect',
      (_, response) => void response.writeHead(307, { location: 'http://127.0.0.1:9/' }).end(),
      /redirects to http:\/\/127\.0\.0\.1:9\/: foley follows no redirects/,
    ],
  ])('%s is refused, with the words for it', async (_what, answer, words) => {
    const { url } = await startSpeechServer(answer);
    const { added } = await add([url]);
    expect(added.code).toBe(2);
    expect(added.stderr).toMatch(words);
  });

  test('one that is dead, one that is slow and one that lies leave nothing out', async () => {
    let isLying = false;
    const good = await startSpeechServer();
    const slow = await startSpeechServer(
      (request, response) => void setTimeout(() => speak(request, response), 300),
    );
    const liar = await startSpeechServer((request, response) =>
      isLying ? void response.end('<html>') : speak(request, response),
    );
    const dead = await startSpeechServer();
    const all = [good, slow, liar, dead].map(({ url }) => url);
    const { sandbox } = await add(all);
    isLying = true;
    dead.server.closeAllConnections();
    dead.server.close();
    const { bytes, spoken } = await say(sandbox, numbered(12));
    expect(spoken.code, spoken.stderr).toBe(0);
    expect(numbersIn(bytes)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    expect(good.asked.length).toBeGreaterThan(slow.asked.length);
  });

  test('one that dies while it speaks a batch loses nothing, and nothing is bought twice', async () => {
    const servers = [];
    for (let index = 0; index < 4; index += 1) {
      servers.push(
        await startSpeechServer((request, response) => {
          setTimeout(() => speak(request, response), 20);
        }),
      );
    }
    const [, , , dying] = servers;
    const { sandbox } = await add(servers.map(({ url }) => url));
    const lines = Array.from({ length: 12 }, (_, index) => `This is number ${WORDS[index + 1]}.`);
    await writeFile(path.join(sandbox.out, 'lines.txt'), lines.join('\n'));
    const running = runFoley(
      [
        'batch',
        '--lines',
        'lines.txt',
        '--local',
        '-v',
        'alloy',
        '--format',
        'wav',
        '--output-dir',
        'book',
        '--json',
      ],
      { sandbox },
    );
    await vi.waitFor(() => expect(dying?.asked.length).toBeGreaterThan(1), SOON);
    dying?.server.closeAllConnections();
    dying?.server.close();
    const { code, stderr, stdout } = await running;
    expect(code, stderr).toBe(0);
    const summary = stdout.toString().trim().split('\n').at(-1) ?? '';
    const characters = lines.reduce((sum, line) => sum + line.length, 0);
    const { creditsUsed, ...counts } = JSON.parse(summary);
    expect(counts).toMatchObject({ done: 12, failed: 0 });
    const names = (await readdir(path.join(sandbox.out, 'book'))).filter((name) =>
      name.endsWith('wav'),
    );
    const heard = [];
    for (const name of names)
      heard.push(...numbersIn(await readFile(path.join(sandbox.out, 'book', name))));
    expect(heard.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    expect(creditsUsed).toBeLessThanOrEqual(characters);
  });

  test('one that dies in the middle of a book leaves every sentence in its place, billed once', async () => {
    let begun = 0;
    const servers: Awaited<ReturnType<typeof startSpeechServer>>[] = [];
    for (let index = 0; index < 4; index += 1) {
      const answer: Answer = (request, response) => {
        begun += 1;
        if (index === 3 && begun > SENTENCES / 2) {
          // With the sentence that it was asked for.
          servers[3]?.server.closeAllConnections();
          servers[3]?.server.close();
        } else setTimeout(() => speak(request, response), SENTENCE_MS);
      };
      servers.push(await startSpeechServer(answer));
    }
    const { sandbox } = await add(servers.map(({ url }) => url));
    const tones = Array.from({ length: SENTENCES }, (_, index) => 1 + (index % 12));
    const text = tones.map((tone) => `This is number ${WORDS[tone]}.`).join(' ');
    await writeFile(path.join(sandbox.out, 'book.txt'), text);
    const before = servers.reduce((sum, { asked }) => sum + asked.length, 0);
    const args = ['tts', '-f', 'book.txt', '-v', 'alloy', '--local', '-o', 'book.wav', '--json'];
    const { code, stderr, stdout } = await runFoley(args, { sandbox, timeoutMs: 500_000 });
    expect(code, stderr).toBe(0);
    expect(numbersIn(await readFile(path.join(sandbox.out, 'book.wav')))).toEqual(tones);
    const asked = servers.reduce((sum, one) => sum + one.asked.length, 0) - before;
    // The sentence that died with its server is asked for again.
    expect(asked).toBeGreaterThan(SENTENCES);
    expect(asked).toBeLessThanOrEqual(SENTENCES + 4);
    const { creditsUsed } = JSON.parse(stdout.toString());
    expect(creditsUsed).toBeLessThanOrEqual(text.length);
    const profile = await runFoley(['profile', '--local', '--json'], { sandbox });
    expect(JSON.parse(profile.stdout.toString())).toMatchObject({
      credits: 1_000_000 - creditsUsed,
    });
  }, 600_000);

  test('that all fail give their words, and nothing is billed', async () => {
    let isFailing = false;
    const { url } = await startSpeechServer((request, response) => {
      if (!isFailing) return speak(request, response);
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end('{"error":{"message":"voice alloy is gone"}}');
    });
    const { sandbox } = await add([url]);
    isFailing = true;
    const { spoken } = await say(sandbox, 'One.');
    expect(spoken.code).not.toBe(0);
    expect(spoken.stderr).toContain('answered 400: voice alloy is gone');
    const profile = await runFoley(['profile', '--local', '--json'], { sandbox });
    expect(JSON.parse(profile.stdout.toString())).toMatchObject({ credits: 1_000_000 });
  });

  test.each([
    [['--url', 'ftp://localhost'], /--url ftp:\/\/localhost is not the URL of a server/],
    [['--url', 'http://me:secret@localhost'], /--url has a password/],
    [['--url', 'http://localhost/?a=1'], /has a query or a fragment/],
    [['--model', 'x'], /--model requires --url/],
    [['--url', 'http://localhost', '--', 'python3'], /--url and a program cannot be combined/],
    [
      ['--url', 'http://localhost', '--key-file', 'missing.txt'],
      /--key-file .*missing\.txt cannot be read/,
    ],
    [['--url', 'http://localhost', '--from', 'x'], /--from works with/],
    [['--url', 'http://192.0.2.1'], /192\.0\.2\.1 is not in a private network: use https/],
  ])('%j is refused', async (args, words) => {
    const { code, stderr } = await runFoley(['engine', 'add', 'farm', ...args]);
    expect(code).toBe(2);
    expect(stderr).toMatch(words);
    expect(stderr).not.toContain('secret');
  });
});
