import { chmod, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { PROFILE_PATH, VOICES_PATH } from '../../fault-server/healthy-service.ts';
import { canaryKey } from '../../harness/canary.ts';
import { errorLine } from '../../harness/error-line.ts';
import { runFoley } from '../../harness/run-foley.ts';
import { sandbox } from '../../harness/sandbox.ts';
import { SECOND } from '../../service/engine/process/engine-under-test.ts';
import { startServe } from '../../binary/support/serve.ts';
import type { Fault } from './faulty-purchases.ts';
import { startFaultyService } from './faulty-purchases.ts';

const LONG = Array.from(
  { length: 150 },
  (_, index) => `Sentence number ${index} of this text says something about the weather again.`,
).join(' ');
const TIMEOUT_MS = 300_000;
const FILES = {
  'one.txt': 'Hello there.',
  'paused.txt': 'Hello there. [pause 300ms] Goodbye.',
  'long.txt': LONG,
  'talk.txt': 'ADA: Hello there.\nADA: Goodbye.\n',
};
const AUDIO = ['-o', 'o.mp3'];

// The engine tells its word times, so that the service need not find them.
const VOICE = { id: 'v', language: 'en', sampleRate: 16_000, words: true };

/** Each way to buy speech, as a command. Two retries, so that three requests are expected for each text. */
const WAYS = {
  sync: ['tts', '-f', 'one.txt', '--via', 'sync', ...AUDIO],
  aligned: ['tts', '-f', 'one.txt', '--subtitles', 'o.srt', ...AUDIO],
  job: ['tts', '-f', 'one.txt', '--via', 'job', ...AUDIO],
  'long text': ['tts', '-f', 'long.txt', ...AUDIO],
  'long text, captions': ['tts', '-f', 'long.txt', '--subtitles', 'o.srt', ...AUDIO],
  pauses: ['tts', '-f', 'paused.txt', '--pauses', ...AUDIO],
  'pauses as jobs': ['tts', '-f', 'paused.txt', '--pauses', '--via', 'job', ...AUDIO],
  batch: ['batch', 'one.txt', '-j', '1'],
  'batch, captions': ['batch', 'one.txt', '-j', '1', '--subtitles', 'srt'],
  'batch, pauses': ['batch', 'paused.txt', '-j', '1', '--pauses'],
  script: ['script', 'talk.txt', ...AUDIO],
} as const;
type Way = keyof typeof WAYS;
const DOWNLOADED: ReadonlySet<Way> = new Set([
  'job',
  'pauses as jobs',
  'batch',
  'batch, pauses',
  'script',
]);

const always = (fate: ReturnType<NonNullable<Fault['purchase']>>): Fault => ({
  purchase: () => fate,
});
const once = (fate: ReturnType<NonNullable<Fault['purchase']>>): Fault => ({
  purchase: (nth) => (nth === 1 ? fate : 'answered'),
});
const UNAVAILABLE = { status: 503, code: 'ERR_MODEL_UNAVAILABLE', retryAfter: 0 };

const FAULTS: Readonly<Record<string, Fault>> = {
  'no fault': {},
  '503, Retry-After: 0, always': always(UNAVAILABLE),
  '503, Retry-After: 0, once': once(UNAVAILABLE),
  '503, Retry-After: 300': always({ ...UNAVAILABLE, retryAfter: 300 }),
  '500 without Retry-After, always': always({ status: 500, code: 'ERR_INTERNAL' }),
  '429, Retry-After: 0, always': always({ status: 429, code: 'ERR_RATE_LIMITED', retryAfter: 0 }),
  '400': always({ status: 400, code: 'ERR_INVALID_REQUEST' }),
  '401': always({ status: 401, code: 'ERR_UNAUTHORIZED' }),
  '402': always({ status: 402, code: 'ERR_INSUFFICIENT_CREDITS' }),
  'reset before the answer, always': always('reset'),
  'reset before the answer, once': once('reset'),
  'the answer is lost, once': once('lost'),
  'the answer is lost, always': always('lost'),
  'refunded, once': once({ status: 409, code: 'ERR_REQUEST_PREVIOUSLY_REFUNDED' }),
  'in progress, once': once({ status: 409, code: 'ERR_REQUEST_IN_PROGRESS', retryAfter: 0 }),
  'key conflict': always({ status: 409, code: 'ERR_REQUEST_ID_CONFLICT' }),
  'the download is reset, once': { download: (nth) => (nth === 1 ? 'reset' : 'answered') },
  'the download: 503, once': { download: (nth) => (nth === 1 ? UNAVAILABLE : 'answered') },
  'the download: 404, always': { download: () => ({ status: 404, code: 'ERR_NOT_FOUND' }) },
};

const TABLE = await readFile(new URL('table.txt', import.meta.url), 'utf8');

test.each(Object.entries(FAULTS))('%s', { timeout: TIMEOUT_MS }, async (name, fault) => {
  // What is not made as a job has no download.
  const ways = (Object.keys(WAYS) as Way[]).filter(
    (way) => fault.download === undefined || DOWNLOADED.has(way),
  );
  const box = await sandbox();
  const keys = new Map(ways.map((way) => [way, canaryKey()]));
  const file = path.join(box.out, 'keys.txt');
  await writeFile(file, [...keys.values()].map((key, index) => `${key} a${index}\n`).join(''));
  await chmod(file, 0o600);
  const engine = ['node', SECOND, JSON.stringify({ voices: [VOICE] }), 'speaks at once'];
  await runFoley(['engine', 'add', 'mine', '--', ...engine], { box });
  const flags = ['--accept-keys-file', 'keys.txt'];
  const service = await startServe(flags, { box, timeoutMs: TIMEOUT_MS });
  const outcomes: Outcome[] = [];
  for (const [way, key] of keys) outcomes.push(await buy(way, key, service, fault));
  const { lines, reasons } = sectionOf(name);
  expect(outcomes.map(({ line }) => line)).toEqual(lines);
  const [usual] = outcomes;
  const others = outcomes.filter(({ kind }) => kind !== usual?.kind).map(({ way }) => way);
  expect(reasons).toEqual(others);
});

/** Returns the lines of a fault in the table, and the ways for which it says why they differ from the first. */
function sectionOf(fault: string): { lines: readonly string[]; reasons: readonly string[] } {
  const section = TABLE.split(/^## /m).find((one) => one.startsWith(`${fault}\n`)) ?? '';
  const lines = section.split('\n').slice(1);
  return {
    lines: lines.filter((line) => /^[a-z]/.test(line)),
    reasons: lines.flatMap((line) => /^\* (.+?): \S/.exec(line)?.[1] ?? []),
  };
}

interface Outcome {
  readonly way: Way;
  readonly line: string;
  /** What must be the same for each way: requests for a text, exit code and error code. */
  readonly kind: string;
}

async function buy(
  way: Way,
  key: string,
  service: Awaited<ReturnType<typeof startServe>>,
  fault: Fault,
): Promise<Outcome> {
  const asked = { headers: { Authorization: `Bearer ${key}` } };
  const creditsOf = async (): Promise<number> =>
    Number(Object(JSON.parse((await service.ask(PROFILE_PATH, asked)).bytes.toString())).credits);
  const { items } = Object(JSON.parse((await service.ask(VOICES_PATH, asked)).bytes.toString()));
  const voice = items.find(({ modelIds }: { modelIds: string[] }) => modelIds[0] === 'local-mine');
  const box = await sandbox();
  for (const [name, text] of Object.entries(FILES)) await writeFile(path.join(box.out, name), text);
  const before = await creditsOf();
  const { origin, purchases } = await startFaultyService(service.baseUrl, fault);
  const result = await runFoley([...WAYS[way], '--max-retries', '2', '--json'], {
    box,
    env: { FOLEY_BASE_URL: origin, FOLEY_API_KEY: key, FOLEY_VOICE: voice.voiceId },
    canaryExpectedIn: [],
  });
  const stderr = result.stderr.trim().split('\n').at(-1) ?? '';
  const { code, message } = stderr.startsWith('{') ? errorLine(result) : { code: '', message: '' };
  // Parts are bought at the same time: how many of them are asked for before one fails is chance.
  const requests = Math.max(...purchases.values());
  const credits = before - (await creditsOf());
  const what = message
    .replaceAll(/127\.0\.0\.1:\d+/g, 'HOST')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'ID')
    // Which part of a text fails first is chance.
    .replace(/^part \d+ was/, 'part N was');
  const cells = [
    way.padEnd(19),
    `${requests}`.padEnd(2),
    `exit ${result.code}`.padEnd(8),
    `${credits}`.padEnd(7),
  ];
  return {
    way,
    line: [...cells, code === '' ? '' : `${code}: ${what}`].join(' ').trimEnd(),
    kind: [requests, result.code, code].join(),
  };
}
