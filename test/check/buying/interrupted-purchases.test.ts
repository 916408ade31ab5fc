import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { crc32, inflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { LogRecord } from '../../../src/durable/log.ts';
import { startFaultyService } from './faulty-purchases.ts';
import type { Shop } from './ways.ts';
import { creditsOf, customer, openShop } from './ways.ts';
import { oldLogLine } from '../../harness/old-log.ts';
import { runFoley } from '../../harness/run-foley.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import { createSandbox } from '../../harness/sandbox.ts';

/**
 * What a command of foley (commit e19b8cb8) left when it was killed: its files, and the requests that the service had
 * got from it. The service had done the work of the last request, but its answer was lost.
 */
interface Interrupted {
  readonly command: readonly string[];
  readonly bought: readonly {
    readonly path: string;
    readonly key: string;
    readonly body: string;
    readonly jobId?: string;
  }[];
  /** The text of each file, the records of a journal, or compressed bytes in base64. */
  readonly files: Readonly<Record<string, string | Journal | { readonly deflated: string }>>;
}

interface Journal {
  readonly records: readonly LogRecord[];
}

interface Continued {
  readonly exit: number;
  /** What is bought now: texts that the killed command had not bought, by their first words. */
  readonly buys: readonly string[];
  readonly credits: number;
  readonly made: readonly string[];
}

const FIXTURES = new URL('../../fixtures/interrupted/', import.meta.url);
const WAY = 'sync';
const PROJECT = 'o.mp3.foley';

const CASES: Readonly<Record<string, Continued>> = {
  stream: { exit: 27, buys: [], credits: 0, made: [] },
  captions: { exit: 26, buys: [], credits: 0, made: [] },
  job: { exit: 0, buys: [], credits: 0, made: ['o.mp3'] },
  'accepted-job': { exit: 0, buys: [], credits: 0, made: ['o.mp3'] },
  'long-text': { exit: 0, buys: [], credits: 0, made: ['o.mp3'] },
  'accepted-long-text': { exit: 0, buys: [], credits: 0, made: ['o.mp3'] },
  'captioned-long-text': { exit: 27, buys: [], credits: 0, made: [] },
  pauses: { exit: 27, buys: [], credits: 0, made: [] },
  'pauses-as-jobs': { exit: 0, buys: ['Good night.'], credits: 6, made: ['o.mp3'] },
  batch: {
    exit: 0,
    buys: ['And the last.'],
    credits: 7,
    made: ['a.mp3', 'b.mp3', 'c.mp3', 'd.mp3', 'e.mp3'],
  },
  'captioned-batch': {
    exit: 3,
    buys: ['Number four.', 'And the last.'],
    credits: 13,
    made: ['a.mp3', 'b.mp3', 'd.mp3', 'e.mp3'],
  },
  'batch-with-pauses': {
    exit: 0,
    buys: ['Good night.'],
    credits: 6,
    made: ['a.mp3', 'b.mp3', 'c.mp3'],
  },
  'captioned-batch-with-pauses': {
    exit: 3,
    buys: ['Good night.'],
    credits: 6,
    made: ['a.mp3', 'c.mp3'],
  },
  script: { exit: 0, buys: ['Nearly done.'], credits: 6, made: ['o.mp3'] },
};

test.each(Object.entries(CASES))('%s: nothing is bought again', async (name, expected) => {
  const shop = await openShop();
  const sandbox = await createSandbox();
  const left: Interrupted = JSON.parse(await readFile(new URL(`${name}.json`, FIXTURES), 'utf8'));
  const jobs = await buyAll(left, shop);
  const { origin, purchases } = await startFaultyService(shop.service.baseUrl, {});
  const payer = crc32(shop.keys.get(WAY) ?? '')
    .toString(16)
    .padStart(8, '0');
  await restore(left, sandbox, { '@ORIGIN@': origin, '@PAYER@': payer, ...jobs });
  const credits = await creditsOf(shop, WAY);
  const [verb = ''] = left.command;
  const args = ['batch', 'script'].includes(verb) ? left.command : ['recover'];
  const options = { sandbox, env: customer(shop, WAY, origin), canaryExpectedIn: [] };
  const result = await runFoley(args, options);
  const problem = `${result.stdout.toString()}\n${result.stderr}`;
  const known = new Map(left.bought.map(({ body, key }) => [textOf(body), key]));
  for (const [text, keys] of purchases) {
    expect(new Set(keys), problem).toEqual(new Set([known.get(text) ?? keys[0]]));
  }
  const added = [...purchases.keys()].filter((text) => !known.has(text));
  expect(
    {
      exit: result.code,
      buys: added.map((text) => text.slice(0, 20)),
      credits: credits - (await creditsOf(shop, WAY)),
      made: OUTPUTS.filter((file) => existsSync(path.join(sandbox.out, file))),
    },
    problem,
  ).toEqual(expected);
  await runFoley(args, options);
  expect(credits - (await creditsOf(shop, WAY))).toBe(expected.credits);
});

const OUTPUTS = ['o.mp3', 'a.mp3', 'b.mp3', 'c.mp3', 'd.mp3', 'e.mp3'];

/** Buys from the service what the killed command had bought. Returns its jobs by their former ids. */
async function buyAll(
  { bought }: Interrupted,
  { keys, service }: Shop,
): Promise<Readonly<Record<string, string>>> {
  const jobs: Record<string, string> = {};
  for (const { body, jobId, key, path: target } of bought) {
    const { bytes, status } = await service.ask(target, {
      method: 'POST',
      headers: { Authorization: `Bearer ${keys.get(WAY)}`, 'Idempotency-Key': key },
      body: Object(JSON.parse(body)),
    });
    expect(status, bytes.toString()).toBeLessThan(300);
    if (jobId !== undefined) jobs[jobId] = String(Object(JSON.parse(bytes.toString())).task.taskId);
  }
  return jobs;
}

/** Writes the files of the killed command, with the folders, the service and the jobs of this test in them. */
async function restore(
  { files }: Interrupted,
  { out, root }: Sandbox,
  known: Readonly<Record<string, string>>,
): Promise<void> {
  const names = Object.entries({
    ...known,
    '@ROOT@': root,
    '@HOST@': hostname(),
    '@OUT@': folderDigest(out),
    '@PROJECT@': folderDigest(path.join(out, PROJECT)),
  });
  const here = (text: string): string =>
    names.reduce((made, [name, value]) => made.replaceAll(name, value), text);
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(root, here(name));
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    await writeFile(file, bytesOf(content, here), { mode: 0o600 });
  }
}

function bytesOf(
  content: Interrupted['files'][string],
  here: (text: string) => string,
): string | Uint8Array {
  if (typeof content === 'string') return here(content);
  if ('deflated' in content) return inflateSync(Buffer.from(content.deflated, 'base64'));
  const lines = content.records.map((record) => {
    const made: LogRecord = JSON.parse(here(JSON.stringify(record)));
    return oldLogLine(made);
  });
  return Buffer.concat(lines);
}

/** The name of the folder of a batch inside the state folder. */
function folderDigest(folder: string): string {
  return createHash('sha256').update(folder).digest('hex').slice(0, 32);
}

function textOf(body: string): string {
  return String(Object(JSON.parse(body)).text);
}
