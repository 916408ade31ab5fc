import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { splitParts } from '../../../src/text/parts.ts';
import { decodeAudio } from '../../harness/decode-audio.ts';
import { mp3Frames } from '../../harness/mp3-frames.ts';
import { startFoley } from '../../harness/run-foley.ts';
import type { RunResult } from '../../harness/run-options.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { checkWithMpg123 } from '../../harness/second-opinion.ts';
import { JOBS_PATH } from '../../binary/jobs/job-fixture.ts';
import type { ServingFoley } from '../../binary/support/serve.ts';
import { firstVoiceId, startServe } from '../../binary/support/serve.ts';
import { bookText } from './book-text.ts';
import { verifyBytes } from '../../audio/verify-bytes.ts';

const IS_FULL = process.env['FOLEY_TEST_SIZE'] === 'full';
const CHARACTERS = IS_FULL ? 200_000 : 2_100;
/** The model, and what it takes at once. */
const [MODEL, LIMIT] = IS_FULL ? ['vendor-s21pro-flash', 10_000] : ['vendor-s21pro-free', 1_000];
/** What is said fast is made fast. */
const SPEED = IS_FULL ? '1' : '2';
const TIMEOUT_MS = IS_FULL ? 2_400_000 : 120_000;
const MEBIBYTE = 1024 * 1024;
/** What the client may take, however long the book: node itself takes a third of it. */
const MOST_MEMORY = 200 * MEBIBYTE;

type Format = 'mp3' | 'wav' | 'ogg';

interface Book {
  readonly result: RunResult;
  readonly peakMemoryBytes: number;
  readonly file: string;
  readonly whole: Buffer;
  /** What the service says that it made of each part, in order. */
  readonly parts: readonly Buffer[];
}

/** Has a book spoken by a service of its own, and gets what that made of each part. */
async function speakBook(format: Format): Promise<Book> {
  const text = bookText(CHARACTERS);
  const serving = await startServe([], { timeoutMs: TIMEOUT_MS });
  const sandbox = await createSandbox();
  const { out } = sandbox;
  await writeFile(path.join(out, 'book.txt'), text);
  const voice = await firstVoiceId(serving);
  const args = [
    'tts',
    '-f',
    'book.txt',
    '-v',
    voice,
    '-m',
    MODEL,
    '--speed',
    SPEED,
    '-o',
    `book.${format}`,
    '--json',
  ];
  const options = { sandbox, env: serving.env, timeoutMs: TIMEOUT_MS };
  const running = await startFoley(args, options);
  let peakMemoryBytes = 0;
  const watch = setInterval(() => {
    const now = running.peakMemoryBytes();
    // Nothing is known of a process that has just ended.
    if (now > peakMemoryBytes) peakMemoryBytes = now;
  }, 200);
  const result = await running.done.finally(() => clearInterval(watch));
  expect(result.code, result.stderr).toBe(0);
  const file = path.join(out, `book.${format}`);
  const parts = await partsOf(text, serving);
  expect(JSON.parse(result.stdout.toString())).toMatchObject({ parts: parts.length });
  serving.running.signal('SIGTERM');
  await serving.running.done;
  return { result, peakMemoryBytes, file, whole: await readFile(file), parts };
}

async function partsOf(text: string, serving: ServingFoley): Promise<readonly Buffer[]> {
  const { bytes } = await serving.ask(`${JOBS_PATH}?limit=100`);
  const jobs = new Map<string, string>(
    Object(JSON.parse(bytes.toString())).items.map(
      (job: { textFingerprint: string; taskId: string }) => [job.textFingerprint, job.taskId],
    ),
  );
  const planned = splitParts(text, LIMIT);
  expect(planned.length).toBeGreaterThan(2);
  const parts: Buffer[] = [];
  for (const part of planned) {
    const sum = createHash('sha256').update(part.text).digest('hex');
    const audio = await serving.ask(`${JOBS_PATH}/${jobs.get(`sha256:${sum}`)}/audio`);
    expect(audio.status).toBe(200);
    parts.push(audio.bytes);
  }
  return parts;
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}

function report(format: Format, { peakMemoryBytes, result, whole, parts }: Book): void {
  if (!IS_FULL) return;
  console.log(
    `${format}: ${parts.length} parts, ${megabytes(whole.length)} MB in ${(result.ms / 1000).toFixed(1)} s, ` +
      `the client took ${megabytes(peakMemoryBytes)} MB`,
  );
}

describe(`a book of ${CHARACTERS} characters`, () => {
  test('becomes one wav with the samples of all its parts', { timeout: TIMEOUT_MS }, async () => {
    const book = await speakBook('wav');
    const { parts, peakMemoryBytes, whole } = book;
    report('wav', book);
    const samples = Buffer.concat(parts.map((part) => part.subarray(44)));
    expect(whole.subarray(44).equals(samples)).toBe(true);
    expect(verifyBytes('wav', whole)).toMatchObject({ complete: true, endIsProven: true });
    expect(peakMemoryBytes).toBeLessThan(MOST_MEMORY);
  });

  test('becomes one mp3 with the frames of all its parts', { timeout: TIMEOUT_MS }, async () => {
    const book = await speakBook('mp3');
    const { file, parts, peakMemoryBytes, whole } = book;
    report('mp3', book);
    const frames = Buffer.concat(parts.map((part) => afterTag(part)));
    expect(afterTag(whole).equals(frames)).toBe(true);
    expect(verifyBytes('mp3', whole)).toMatchObject({ complete: true, endIsProven: true });
    if (!IS_FULL) expect((await decodeAudio(whole)).channels[0]?.length).toBeGreaterThan(44_100);
    expect(peakMemoryBytes).toBeLessThan(MOST_MEMORY);
    await checkWithMpg123(file);
  });

  test('becomes one ogg as long as all its parts', { timeout: TIMEOUT_MS }, async () => {
    const book = await speakBook('ogg');
    const { parts, peakMemoryBytes, whole } = book;
    report('ogg', book);
    const sum = parts.reduce((total, part) => total + samplesIn(part), 0);
    expect(samplesIn(whole)).toBe(sum);
    expect(verifyBytes('ogg', whole)).toMatchObject({ complete: true, endIsProven: true });
    if (!IS_FULL) expect((await decodeAudio(whole)).channels[0]?.length).toBe(sum);
    expect(peakMemoryBytes).toBeLessThan(MOST_MEMORY);
  });
});

/** The frames of an mp3 behind that of its Info tag. */
function afterTag(mp3: Buffer): Buffer {
  return mp3.subarray(mp3Frames(mp3)[0]?.length);
}

/** How many samples an ogg says that it has. */
function samplesIn(ogg: Buffer): number {
  return Math.round(((verifyBytes('ogg', ogg).durationMs ?? 0) * 44_100) / 1000);
}

test(
  'parts are spoken at the same time: faster than in turn',
  { timeout: TIMEOUT_MS },
  async () => {
    // Each create waits as long, so that what is done in turn takes at least all of their time.
    const delay = 'POST /api/open/v3/speech/tts/jobs; delay=1s';
    const serving = await startServe(['--fault', delay], { timeoutMs: TIMEOUT_MS });
    // Long to read and soon said.
    const text = Array.from({ length: 6 }, (_, at) => `Word ${at} ${'-'.repeat(975)} end.`).join(
      ' ',
    );
    const voice = await firstVoiceId(serving);
    const speak = async (concurrency: number): Promise<number> => {
      const sandbox = await createSandbox();
      await writeFile(path.join(sandbox.out, 'book.txt'), text);
      await writeFile(path.join(sandbox.out, 'foley.config.json'), JSON.stringify({ concurrency }));
      const args = [
        'tts',
        '-f',
        'book.txt',
        '-v',
        voice,
        '-m',
        'vendor-s21pro-free',
        '-o',
        'b.wav',
      ];
      const running = await startFoley(args, { sandbox, env: serving.env, timeoutMs: TIMEOUT_MS });
      const result = await running.done;
      expect(result.code, result.stderr).toBe(0);
      return result.ms;
    };
    const answersInSequence = await speak(1);
    expect(await speak(4)).toBeLessThan(0.8 * answersInSequence);
  },
);
