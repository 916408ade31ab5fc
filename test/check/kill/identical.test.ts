import path from 'node:path';
import { expect, test } from 'vitest';
import { createSandbox } from '../../harness/sandbox.ts';
import type { ServingFoley } from '../../binary/support/serve.ts';
import { startServe } from '../../binary/support/serve.ts';
import { readBooks } from '../../binary/support/books.ts';
import { VOICE_ID } from '../../binary/support/orders.ts';

const JOBS = '/api/open/v3/speech/tts/jobs';
const TEXT = 'The same text, requested again and again. '.repeat(30).trim();
const CREATE = {
  method: 'POST',
  body: { text: TEXT, voiceId: VOICE_ID, modelId: 'vendor-s21pro', format: 'wav' },
  headers: { 'Idempotency-Key': 'the-same' },
} as const;
const CREATES = 200;

/** Sends the creates to the processes in turn, and returns the tasks. */
async function createAtOnce(processes: readonly ServingFoley[]): Promise<Set<string>> {
  const tasks = new Set<string>();
  const create = async (number: number): Promise<void> => {
    const serving = processes[number % processes.length];
    const answer = await serving?.ask(JOBS, CREATE);
    expect(answer?.status, answer?.bytes.toString()).toBe(202);
    tasks.add(String(Object(JSON.parse(String(answer?.bytes))).task.taskId));
  };
  await Promise.all(Array.from({ length: CREATES }, (_, number) => create(number)));
  return tasks;
}

async function expectEnded({ ask }: ServingFoley, taskId: string | undefined): Promise<void> {
  const status = async (): Promise<unknown> =>
    Object(JSON.parse((await ask(`${JOBS}/${taskId}`)).bytes.toString())).task.status;
  await expect.poll(status, { timeout: 60_000, interval: 20 }).toBe('success');
}

test(`${CREATES} identical creates at two processes with the same data are one task and one charge`, async () => {
  const sandbox = await createSandbox();
  const dataDir = path.join(sandbox.out, 'data');
  const flags = ['--data-dir', dataDir];
  const processes = [await startServe(flags, { sandbox }), await startServe(flags, { sandbox })];
  const tasks = await createAtOnce(processes);
  expect(tasks.size).toBe(1);
  for (const serving of processes) {
    await expectEnded(serving, [...tasks][0]);
    expect(Object(JSON.parse((await serving.ask(JOBS)).bytes.toString())).items).toHaveLength(1);
  }
  for (const { running } of processes) {
    running.signal('SIGTERM');
    await running.done;
  }
  const { amounts, faults, operations } = await readBooks(dataDir);
  expect(faults).toEqual([]);
  expect(operations).toMatchObject([{ state: 'completed', reserves: 1, commits: 1, refunds: 0 }]);
  expect(amounts.get('local spent')).toBe(TEXT.length);
}, 60_000);

test('a killed process leaves its task to the other, which finishes it for one charge', async () => {
  const sandbox = await createSandbox();
  const dataDir = path.join(sandbox.out, 'data');
  const flags = ['--data-dir', dataDir];
  const mortal = await startServe(flags, { sandbox });
  const heir = await startServe(flags, { sandbox });
  const first = await mortal.ask(JOBS, CREATE);
  mortal.running.signal('SIGKILL');
  await mortal.running.done;
  const tasks = await createAtOnce([heir]);
  expect([...tasks]).toEqual([Object(JSON.parse(first.bytes.toString())).task.taskId]);
  await expectEnded(heir, [...tasks][0]);
  heir.running.signal('SIGTERM');
  await heir.running.done;
  const { amounts, faults } = await readBooks(dataDir);
  expect(faults).toEqual([]);
  expect(amounts.get('local spent')).toBe(TEXT.length);
}, 60_000);
