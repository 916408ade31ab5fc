import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { VOICES } from '../../src/service/voices/catalogue-voice.ts';
import { PROFILE_PATH, SPEECH_PATH } from '../fault-server/healthy-service.ts';
import { errorLine } from '../harness/error-line.ts';
import { runFoley, startFoley } from '../harness/run-foley.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import { createSandbox } from '../harness/sandbox.ts';
import type { ServingFoley } from '../binary/support/serve.ts';
import { firstVoiceId, startServe } from '../binary/support/serve.ts';
import { longText } from '../binary/support/sound.ts';

vi.setConfig({ testTimeout: 90_000 });

const JOBS_PATH = `${SPEECH_PATH}/jobs`;

async function createJob(service: ServingFoley, text: string): Promise<string> {
  const body = {
    text,
    voiceId: await firstVoiceId(service),
    modelId: 'vendor-s21pro',
    format: 'wav',
  };
  const { bytes } = await service.ask(JOBS_PATH, { method: 'POST', body });
  return String(Object(JSON.parse(bytes.toString())).task.taskId);
}

async function taskOf(service: ServingFoley, id: string): Promise<Record<string, unknown>> {
  const { bytes } = await service.ask(`${JOBS_PATH}/${id}`);
  return Object(JSON.parse(bytes.toString())).task;
}

/** A machine that is busy with other tests needs a while to speak. */
const PATIENCE_MS = 60_000;

async function expectSuccess(service: ServingFoley, id: string): Promise<void> {
  const status = async (): Promise<unknown> => (await taskOf(service, id))['status'];
  await expect.poll(status, { timeout: PATIENCE_MS, interval: 250 }).toBe('success');
}

async function creditsOf(service: ServingFoley): Promise<number> {
  const { bytes } = await service.ask(PROFILE_PATH);
  return Number(Object(JSON.parse(bytes.toString())).credits);
}

describe('foley serve that is stopped', () => {
  test('finishes the jobs that it accepted, and says so', async () => {
    const sandbox = await createSandbox();
    const first = await startServe([], { sandbox });
    const text = longText(300);
    const id = await createJob(first, text);
    first.running.signal('SIGTERM');
    const { signal, stderr } = await first.running.done;
    expect(signal).toBe('SIGTERM');
    expect(JSON.parse(stderr)).toMatchObject({ event: 'finishing-jobs', count: 1 });
    const next = await startServe([], { sandbox });
    expect(await taskOf(next, id)).toMatchObject({ status: 'success', creditsUsed: text.length });
    expect(await creditsOf(next)).toBe(1_000_000 - text.length);
  });

  test('leaves at once at the second signal, and the next one finishes what is left, once', async () => {
    const sandbox = await createSandbox();
    const first = await startServe([], { sandbox });
    const text = longText(800);
    const id = await createJob(first, text);
    first.running.signal('SIGINT');
    await first.running.waitFor('stderr', /finishing-jobs/);
    first.running.signal('SIGINT');
    expect(await first.running.done).toMatchObject({ code: null, signal: 'SIGINT' });
    const next = await startServe([], { sandbox, timeoutMs: PATIENCE_MS });
    await expectSuccess(next, id);
    expect(await creditsOf(next)).toBe(1_000_000 - text.length);
  });
});

/** Has the embedded service of one command accept a job that the command does not wait for. */
async function leaveJob(sandbox: Sandbox, text: string, ...flags: readonly string[]) {
  const job = { text, voiceId: VOICES[0]?.id, format: 'wav' };
  await writeFile(path.join(sandbox.out, 'job.json'), JSON.stringify(job));
  return ['api', 'POST', JOBS_PATH, '--body', 'job.json', '--local', ...flags];
}

async function localTask(sandbox: Sandbox, stdout: Uint8Array): Promise<unknown> {
  const { taskId } = Object(JSON.parse(Buffer.from(stdout).toString())).task;
  const read = await runFoley(['api', 'GET', `${JOBS_PATH}/${taskId}`, '--local'], { sandbox });
  return Object(JSON.parse(read.stdout.toString())).task;
}

describe('a command that leaves a job behind', () => {
  test('has its own service finish it before the end, and says so', async () => {
    const sandbox = await createSandbox();
    const result = await runFoley(await leaveJob(sandbox, longText(300)), { sandbox });
    expect(result.code, result.stderr).toBe(0);
    expect(result.stderr).toMatch(/^foley: finishing 1 accepted job; press Ctrl-C to leave/m);
    expect(await localTask(sandbox, result.stdout)).toMatchObject({ status: 'success' });
  });

  test('is killed: the next command says that it finishes that job', async () => {
    const sandbox = await createSandbox();
    const running = await startFoley(await leaveJob(sandbox, longText(1_500)), { sandbox });
    await running.waitFor('stderr', /finishing 1 accepted job/);
    running.signal('SIGKILL');
    await running.done;
    const next = await runFoley(['voices', 'list', '--local'], { sandbox });
    expect(next.code, next.stderr).toBe(0);
    expect(next.stderr).toMatch(
      /^foley: finishing 1 job that an earlier command left; press Ctrl-C to leave it to the next/m,
    );
  });

  test('reports first how it ended, and with --json nothing after that', async () => {
    const sandbox = await createSandbox();
    const wav = ['--format', 'wav', '--local'];
    const args = ['jobs', 'create', longText(200), '--wait', '--timeout', '1ms', ...wav];
    const result = await runFoley(args, { sandbox });
    expect(result.code, result.stderr).toBe(28);
    expect(result.stderr).toMatch(/still running[^]*^foley: finishing 1 accepted job/m);
    const inJson = await runFoley([...args, '--json'], { sandbox });
    expect(errorLine(inJson)).toMatchObject({ exitCode: 28 });
  });

  test('says nothing of that with --quiet', async () => {
    const sandbox = await createSandbox();
    const result = await runFoley(await leaveJob(sandbox, longText(200), '--quiet'), { sandbox });
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(await localTask(sandbox, result.stdout)).toMatchObject({ status: 'success' });
  });

  test('leaves it to the next foley when it is interrupted meanwhile', async () => {
    const sandbox = await createSandbox();
    const args = await leaveJob(sandbox, longText(800));
    const result = await runFoley(args, {
      sandbox,
      signalAt: { signal: 'SIGINT', when: /finishing 1 accepted job/ },
    });
    expect(result.signal).toBe('SIGINT');
    expect(result.stderr).toMatch(/^foley: 1 job unfinished; the next foley that uses this data/m);
    expect(result.stderr).not.toMatch(/internal|Error/);
    const next = await startServe([], { sandbox, timeoutMs: PATIENCE_MS });
    const { taskId } = Object(JSON.parse(result.stdout.toString())).task;
    await expectSuccess(next, String(taskId));
  });
});
