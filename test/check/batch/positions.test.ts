import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { bodyDigest } from '../../../src/batch/journal/keys.ts';
import { parseLog } from '../../../src/durable/log.ts';
import type { BatchSandbox } from '../../binary/batch/batch-sandbox.ts';
import { batchSandbox, JOBS_PATH } from '../../binary/batch/batch-sandbox.ts';
import { oldLogLine } from '../../harness/old-log.ts';

const FIXTURE = path.resolve('test/fixtures/batch-positions');
/** The voice "Clara", the default of the foley that made the fixture. */
const VOICE = '6a2eecd3-ea01-418a-9f90-252f03fa506c';
const INPUTS = ['texts', '--lines', 'lines.txt', '--jsonl', 'items.jsonl', '--output-dir', 'audio'];

/** The order of each item in the journal. */
interface Bought {
  readonly text: string;
  readonly format?: string;
  readonly speed?: number;
}

const BOUGHT: Readonly<Record<string, Bought>> = {
  a: { text: 'Alpha.' },
  b: { text: 'Bravo.' },
  c: { text: 'Same.' },
  'lines-04': { text: 'One.' },
  'lines-05': { text: 'Two.' },
  'lines-06': { text: 'Three.' },
  'lines-07': { text: 'Same.' },
  'lines-08': { text: 'Five.' },
  'item-09': { text: 'First.' },
  'item-10': { text: 'Second.', speed: 1.2 },
  'item-11': { text: 'Third.', format: 'wav' },
  'item-12': { text: 'Fourth.' },
};

/**
 * Restores the folder of an earlier foley, which identified items by position: of twelve items, eight are done, two
 * accepted and two sent without a response. The service has all of them, under the keys of that journal.
 */
async function oldFolder(): Promise<BatchSandbox> {
  const sandbox = await batchSandbox({}, [], [], {}, VOICE);
  const audio = path.join(sandbox.sandbox.out, 'audio');
  await mkdir(path.join(audio, '.foley/journal'), { recursive: true, mode: 0o700 });
  for (const name of ['texts', 'lines.txt', 'items.jsonl']) {
    await cp(path.join(FIXTURE, name), path.join(sandbox.sandbox.out, name), { recursive: true });
  }
  for (const name of (await readdir(FIXTURE)).filter((one) => /\.(?:mp3|wav)$/.test(one))) {
    await cp(path.join(FIXTURE, name), path.join(audio, name));
  }
  await cp(path.join(FIXTURE, 'secret'), path.join(audio, '.foley/secret'));
  const jobs = await buy(sandbox);
  const { records } = parseLog(await readFile(path.join(FIXTURE, 'journal.jsonl'), 'utf8'));
  const lines = records.map((record) => oldLogLine(moved(record, sandbox, jobs)));
  await writeFile(path.join(audio, '.foley/journal/old.jsonl'), Buffer.concat(lines));
  return sandbox;
}

/** Creates the job of every item as the earlier foley did, and returns the jobs. */
async function buy({ service }: BatchSandbox): Promise<ReadonlyMap<string, string>> {
  const { records } = parseLog(await readFile(path.join(FIXTURE, 'journal.jsonl'), 'utf8'));
  const jobs = new Map<string, string>();
  for (const record of records.filter(({ state }) => state === 'planned')) {
    const item = String(record['item']);
    const { text, format = 'mp3', ...controls } = BOUGHT[item] ?? { text: '' };
    const body = { text, voiceId: VOICE, modelId: 'vendor-s21pro', format, ...controls };
    expect(bodyDigest(Buffer.from(JSON.stringify(body))), item).toBe(record['body']);
    const headers = { 'Idempotency-Key': Object(record['about']).key };
    const answer = await service.ask(JOBS_PATH, { method: 'POST', headers, body });
    expect(answer.status).toBe(202);
    const { task } = Object(JSON.parse(answer.bytes.toString()));
    jobs.set(item, task.taskId);
  }
  return jobs;
}

/** Replaces the port of the service and the ids of the jobs. */
function moved(
  record: Readonly<Record<string, unknown>>,
  { service }: BatchSandbox,
  jobs: ReadonlyMap<string, string>,
): Readonly<Record<string, unknown>> {
  const { about, facts, item } = record;
  const known = Object(facts);
  return {
    ...record,
    ...(about === undefined ? {} : { about: { ...Object(about), origin: service.baseUrl } }),
    ...(known.jobId === undefined ? {} : { facts: { ...known, jobId: jobs.get(String(item)) } }),
  };
}

test('a journal that identifies items by position is read, and its open requests continue', async () => {
  const sandbox = await oldFolder();
  const paid = await sandbox.charged();
  const { result, statuses } = await sandbox.events(INPUTS);
  expect(result.code, result.stderr).toBe(0);
  expect(statuses).toEqual(
    Object.fromEntries(
      Object.keys(BOUGHT).map((item) => {
        const isOpen = ['lines-04', 'lines-05', 'item-09', 'item-10'].includes(item);
        return [item, isOpen ? 'done' : 'skipped'];
      }),
    ),
  );
  expect(await sandbox.charged()).toBe(paid);
});

test('such a journal buys nothing again when the lists were edited since', async () => {
  const sandbox = await oldFolder();
  const paid = await sandbox.charged();
  const lines = ['Zero.', 'Five.', 'Two.', 'Same.', 'Three.', 'One.'];
  await sandbox.write('lines.txt', lines.join('\n'));
  const items = [{ text: 'Second.', speed: 1.2 }, { text: 'Fourth.' }, { text: 'First.' }];
  await sandbox.write('items.jsonl', items.map((item) => JSON.stringify(item)).join('\n'));
  const edited = await sandbox.events(INPUTS);
  expect(edited.result.code, edited.result.stderr).toBe(0);
  expect(edited.plan).toMatchObject({ toSpeak: 3 });
  expect(await sandbox.charged()).toBe(paid + 'Zero.'.length);
  for (const [was, is] of [
    ['lines-08', 'lines-05'],
    ['lines-06', 'lines-08'],
    ['item-12', 'item-11'],
  ]) {
    const before = await readFile(path.join(FIXTURE, `${was}.mp3`));
    expect(before.equals(await sandbox.read(`audio/${is}.mp3`)), `${was} at ${is}`).toBe(true);
  }
  expect((await sandbox.events(INPUTS)).summary).toMatchObject({ skipped: 12 });
});
