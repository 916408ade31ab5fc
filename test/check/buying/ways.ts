import { chmod, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { PROFILE_PATH, VOICES_PATH } from '../../fault-server/healthy-service.ts';
import type { ServingFoley } from '../../binary/support/serve.ts';
import { startServe } from '../../binary/support/serve.ts';
import { canaryKey } from '../../harness/canary.ts';
import { errorLine } from '../../harness/error-line.ts';
import { runFoley } from '../../harness/run-foley.ts';
import type { RunResult } from '../../harness/run-options.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { SECOND } from '../../service/engine/process/engine-under-test.ts';

const FILES = {
  'one.txt': 'Hello there.',
  'paused.txt': 'Hello there. [pause 300ms] Goodbye.',
  'long.txt': Array.from(
    { length: 150 },
    (_, index) => `Sentence number ${index} of this text says something about the weather again.`,
  ).join(' '),
  'talk.txt': 'ADA: Hello there.\nADA: Goodbye.\n',
};
const TABLE = await readFile(new URL('table.txt', import.meta.url), 'utf8');

const AUDIO = ['-o', 'o.mp3'];

/** Each way to buy speech, as a command. Two retries, so that three requests are expected for each text. */
export const WAYS = {
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
  live: ['live', '-f', 'one.txt', '--mode', 'reliable', ...AUDIO],
} as const;
export type Way = keyof typeof WAYS;
export const ALL_WAYS = Object.keys(WAYS) as Way[];
export const TIMEOUT_MS = 300_000;

/** Batches and scripts have keys that follow from their content: the same command continues them. */
export function isRepeated(way: Way): boolean {
  return /^(?:batch|script)/.test(way);
}

/** A service with an account for each way, so that what a way costs can be read. */
export interface Shop {
  readonly service: ServingFoley;
  /** Another service for the same accounts, which knows of no purchase of the first. */
  readonly other: ServingFoley | undefined;
  readonly keys: ReadonlyMap<Way, string>;
  readonly voiceId: string;
}

/** Starts a service whose voice speaks at once, and another one if wanted. They stop when the test ends. */
export async function openShop(hasOther = false): Promise<Shop> {
  const sandbox = await createSandbox();
  const keys = new Map(ALL_WAYS.map((way) => [way, canaryKey()]));
  const file = path.join(sandbox.out, 'keys.txt');
  await writeFile(file, [...keys.values()].map((key, index) => `${key} a${index}\n`).join(''));
  await chmod(file, 0o600);
  // The engine tells its word times, so that the service need not find them.
  const voice = { id: 'v', language: 'en', sampleRate: 16_000, words: true };
  const engine = ['node', SECOND, JSON.stringify({ voices: [voice] }), 'speaks at once'];
  await runFoley(['engine', 'add', 'mine', '--', ...engine], { sandbox });
  const flags = ['--accept-keys-file', 'keys.txt'];
  const start = (name: string): Promise<ServingFoley> =>
    startServe([...flags, '--data-dir', path.join(sandbox.root, name)], {
      sandbox,
      timeoutMs: TIMEOUT_MS,
    });
  const service = await start('service');
  const other = hasOther ? await start('other') : undefined;
  const headers = { Authorization: `Bearer ${keys.get('sync')}` };
  const { bytes } = await service.ask(VOICES_PATH, { headers });
  const { items } = Object(JSON.parse(bytes.toString()));
  const { voiceId } = items.find(
    ({ modelIds }: { modelIds: string[] }) => modelIds[0] === 'local-mine',
  );
  return { service, other, keys, voiceId };
}

/** Returns a sandbox with the texts that the ways speak. */
export async function withTexts(): Promise<Sandbox> {
  const sandbox = await createSandbox();
  for (const [name, text] of Object.entries(FILES))
    await writeFile(path.join(sandbox.out, name), text);
  return sandbox;
}

/** Returns what the account of a way has left, in all services. */
export async function creditsOf({ keys, other, service }: Shop, way: Way): Promise<number> {
  const headers = { Authorization: `Bearer ${keys.get(way)}` };
  let credits = 0;
  for (const one of [service, other]) {
    if (one === undefined) continue;
    const { bytes } = await one.ask(PROFILE_PATH, { headers });
    credits += Number(Object(JSON.parse(bytes.toString())).credits);
  }
  return credits;
}

/** Returns the environment in which a command buys from the shop, at this address. */
export function customer({ keys, voiceId }: Shop, way: Way, origin: string) {
  return {
    FOLEY_BASE_URL: origin,
    FOLEY_API_KEY: keys.get(way) ?? '',
    FOLEY_VOICE: voiceId,
  };
}

/** Width of the column with the ways. */
export const WAY_WIDTH = 19;

/** What a command did, as a line of the table: requests for a text, exit code, credits, and the error or the warning. */
export function lineOf(
  way: Way,
  { credits, requests, result }: { credits: number; requests: number; result: RunResult },
): string {
  const { code, message } = errorOf(result);
  const [, host = ''] = /^foley: (.*; retrying)$/m.exec(result.stderr) ?? [];
  const what = code === '' ? withoutHosts(host) : `${code}: ${message}`;
  const cells = [way.padEnd(WAY_WIDTH), `${requests}`.padEnd(2), `exit ${result.code}`.padEnd(8)];
  return [...cells, `${credits}`.padEnd(7), what].join(' ').trimEnd();
}

/** Returns code and message of the error that ended a command, without what differs from run to run. */
export function errorOf(result: RunResult): { readonly code: string; readonly message: string } {
  const last = result.stderr.trim().split('\n').at(-1) ?? '';
  if (!last.startsWith('{')) return { code: '', message: '' };
  const { code, message } = errorLine(result);
  const what = withoutHosts(message)
    .replaceAll(/\/\S[^:]*\/(?=small\/)/g, '')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|\d{8}T\d{6}Z-[0-9a-f]{8}|[0-9a-f]{32}(?:-\d)?/g, 'ID')
    .replace(/part-\d{4}/, 'part-N')
    // Which part of a text fails first is chance.
    .replace(/^part \d+ was/, 'part N was');
  return { code, message: what };
}

function withoutHosts(message: string): string {
  return message.replaceAll(/127\.0\.0\.1:\d+/g, 'HOST');
}

/** Returns the lines of a fault in the table, and the ways for which it says why they differ from the first. */
export function sectionOf(fault: string): {
  readonly lines: readonly string[];
  readonly reasons: readonly string[];
} {
  const section = TABLE.split(/^## /m).find((one) => one.startsWith(`${fault}\n`)) ?? '';
  const lines = section.split('\n').slice(1);
  return {
    lines: lines.filter((line) => /^[a-z]/.test(line)),
    reasons: lines.flatMap((line) => /^\* (.+?): \S/.exec(line)?.[1] ?? []),
  };
}
