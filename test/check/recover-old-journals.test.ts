import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { LogRecord } from '../../src/durable/log.ts';
import { parseLog } from '../../src/durable/log.ts';
import { SPEECH_PATH } from '../fault-server/healthy-service.ts';
import { oldLogLine } from '../harness/old-log.ts';
import { runFoley } from '../harness/run-foley.ts';
import type { BatchSandbox } from '../binary/batch/batch-sandbox.ts';
import { batchSandbox, JOBS_PATH } from '../binary/batch/batch-sandbox.ts';
import { firstVoiceId } from '../binary/support/serve.ts';

const FIXTURES = path.resolve('test/fixtures/journals');

async function newFixture() {
  const made = await batchSandbox({});
  return { ...made, voiceId: await firstVoiceId(made.service) };
}

/** Sends a request as the older foley did; returns its job, if it is one. */
async function buy(
  { service }: BatchSandbox,
  endpoint: string,
  key: string,
  body: object,
): Promise<string> {
  const headers = { 'Idempotency-Key': key };
  const { bytes, status } = await service.ask(endpoint, { method: 'POST', headers, body });
  expect(status, bytes.toString()).toBeLessThan(300);
  return status === 202 ? String(Object(JSON.parse(bytes.toString())).task.taskId) : '';
}

/** The older process ran on this machine before its last start. */
function owned(record: LogRecord): LogRecord {
  return 'owner' in record ? { owner: { ...Object(record['owner']), host: hostname() } } : record;
}

/** Copies a journal, with the service, folders and jobs of this test in it. */
async function copyJournal(
  name: string,
  to: string,
  change: (record: LogRecord) => LogRecord,
): Promise<void> {
  const { records } = parseLog(await readFile(path.join(FIXTURES, name), 'utf8'));
  await mkdir(path.dirname(to), { recursive: true, mode: 0o700 });
  await writeFile(to, Buffer.concat(records.map((one) => oldLogLine(change(owned(one))))));
}

async function recover({ sandbox, service }: BatchSandbox) {
  const result = await runFoley(['recover', '--json'], { sandbox, env: service.env });
  const { items } = Object(JSON.parse(result.stdout.toString()));
  return { code: result.code, stderr: result.stderr, items };
}

test('requests in a journal of an older foley are finished, and none is billed again', async () => {
  const fixture = await newFixture();
  const { out, state } = fixture.sandbox;
  const voiceId = fixture.voiceId;
  const sent = { text: 'Sent “once”.', voiceId };
  await buy(fixture, SPEECH_PATH, 'foley-sent', sent);
  const jobId = await buy(fixture, JOBS_PATH, 'foley-job', { text: 'A job.', voiceId });
  const paid = await fixture.charged();
  await copyJournal('intents.jsonl', path.join(state, 'foley/journal/old.jsonl'), (record) => {
    const about = Object(record['about']);
    const facts = Object(record['facts']);
    return {
      ...record,
      ...(about.origin === undefined
        ? {}
        : {
            about: {
              ...about,
              origin: fixture.service.baseUrl,
              payer: undefined,
              output: path.join(out, path.basename(about.output)),
            },
          }),
      ...(facts.jobId === undefined ? {} : { facts: { ...facts, jobId } }),
      ...(String(record['body']).includes('once') ? { body: JSON.stringify(sent) } : {}),
    };
  });
  const { code, items, stderr } = await recover(fixture);
  // The audio of a completed stream cannot be downloaded again.
  expect(code, stderr).toBe(27);
  expect(items).toMatchObject([{ outcome: 'lost' }, { outcome: 'recovered' }]);
  expect((await fixture.read('job.mp3')).length).toBeGreaterThan(100);
  expect(await fixture.charged()).toBe(paid);
  expect((await recover(fixture)).items).toEqual([]);
});

test('a long text of an older foley is spoken to its end, and only its missing part is billed', async () => {
  const fixture = await newFixture();
  const { out, state } = fixture.sandbox;
  const order = { voiceId: fixture.voiceId, modelId: 'vendor-s21pro' };
  const jobs = [
    await buy(fixture, JOBS_PATH, 'key-0', { text: 'One sentence.', ...order, format: 'mp3' }),
    await buy(fixture, JOBS_PATH, 'key-1b', { text: 'Another one.', ...order, format: 'mp3' }),
  ];
  const paid = await fixture.charged();
  const folder = path.join(state, 'foley/long-texts/20260101T000000Z-0a0b0c0d');
  for (const name of ['journal.jsonl', 'plan.jsonl']) {
    await copyJournal(path.join('long-text', name), path.join(folder, name), (record) => {
      const plan = Object(record['plan']);
      const output = path.join(out, 'book.mp3');
      const job = record['jobId'] === undefined ? undefined : jobs[Number(record['part'])];
      return {
        ...record,
        ...(plan.id === undefined
          ? {}
          : { plan: { ...plan, origin: fixture.service.baseUrl, order, output } }),
        ...(job === undefined ? {} : { jobId: job }),
      };
    });
  }
  await cp(path.join(FIXTURES, 'long-text/text.txt'), path.join(folder, 'text.txt'));
  const { code, items, stderr } = await recover(fixture);
  expect(code, stderr).toBe(0);
  expect(items).toMatchObject([{ outcome: 'recovered', output: path.join(out, 'book.mp3') }]);
  expect((await fixture.read('book.mp3')).length).toBeGreaterThan(100);
  expect(await fixture.charged()).toBe(paid + 'A third one.'.length);
  expect((await recover(fixture)).items).toEqual([]);
});
