import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, vi } from 'vitest';
import { batchSandbox, JOBS_PATH } from '../../binary/batch/batch-sandbox.ts';
import { firstVoiceId } from '../../binary/support/serve.ts';
import { decodeAudio } from '../../harness/decode-audio.ts';
import { inShell, runInShell } from '../../harness/in-shell.ts';
import type { ShellResult } from '../../harness/in-shell.ts';
import { skipWithout } from '../../harness/require-tool.ts';
import { runFoley } from '../../harness/run-foley.ts';
import type { Sandbox } from '../../harness/sandbox.ts';

const DOCS = fileURLToPath(new URL('../../../docs', import.meta.url));
const NAMES = Array.from({ length: 16 }, (_, at) => `chapter-${String(at + 1).padStart(2, '0')}`);
// Equal texts would be billed once.
const textOf = (name: string): string => `This is ${name}.`;
const CREDITS = NAMES.map((name) => textOf(name)).join('').length;

/** The state of an item in a journal. */
const SAVED = '"state":"verified"';

/** Chapters that the tasks of an engine speak as one batch, and a service that all tasks share. */
export interface Cluster {
  readonly sandbox: Sandbox;
  readonly write: (name: string, content: string) => Promise<void>;
  /** Runs a shell script in the folder of the chapters, with foley and a folder of programs on PATH. */
  run(script: string, programs?: string): Promise<ShellResult>;
  /** Waits for a task that has paid for its two items and saved none, and returns its process id. */
  payingTask(): Promise<number>;
  /** Returns whether a process has saved an item. */
  hasSaved(pid: number): Promise<boolean>;
  /** Expects that items are missing, of which at least one was charged. */
  expectUnfinished(): Promise<void>;
  /** Expects that each chapter was charged once and is playable, and that nothing else was made or charged. */
  expectDone(): Promise<void>;
}

/**
 * Starts a service for the recipes, which deliver into `audio` under the namespace `book-1`. It bills a credit for each
 * character, and needs two seconds to send audio.
 * @param refused number of jobs that it refuses first: their tasks end with exit code 3
 */
export async function startCluster(refused: 0 | 1): Promise<Cluster> {
  if (process.platform !== 'linux') skipWithout('the processes of a cluster');
  const texts = Object.fromEntries(NAMES.map((name) => [`chapters/${name}.txt`, textOf(name)]));
  const faults = [
    `GET ${JOBS_PATH}/*/audio; delay=2s`,
    ...(refused === 0 ? [] : [`POST ${JOBS_PATH}; status=400; times=${refused}`]),
  ];
  const { charged, sandbox, service, write } = await batchSandbox(texts, faults, [], {
    timeoutMs: 600_000,
  });
  const env = {
    ...service.env,
    FOLEY_VOICE: await firstVoiceId(service),
    FOLEY_MODEL: 'vendor-s21pro',
  };
  // Puts `foley` on PATH once: tasks run it while other commands run.
  await inShell('true', { sandbox });
  const audio = path.join(sandbox.out, 'audio');
  const journals = path.join(audio, '.foley/journal');
  const delivered = async () => (await readdir(audio)).filter((name) => name.endsWith('.mp3'));
  return {
    sandbox,
    write,
    run: (script, programs = '') =>
      runInShell(script, {
        sandbox,
        timeoutMs: 120_000,
        env: { ...env, PATH: `${programs}:${process.env['PATH'] ?? ''}` },
      }),
    payingTask: () => vi.waitFor(() => findPaying(journals), { timeout: 60_000, interval: 20 }),
    async hasSaved(pid) {
      const name = (await readdir(journals)).find((file) => file.includes(`-${pid}-`)) ?? '';
      return (await readFile(path.join(journals, name), 'utf8')).includes(SAVED);
    },
    async expectUnfinished() {
      const paid = ((await delivered()).length / NAMES.length) * CREDITS;
      expect(paid).toBeLessThan(await charged());
    },
    async expectDone() {
      const args = ['batch', 'chapters', '--output-dir', 'audio', '--shard', '1/1'];
      const namespace = ['--idempotency-namespace', 'book-1'];
      const last = await runFoley([...args, ...namespace], { sandbox, env });
      expect(last.code, last.stderr).toBe(0);
      expect(last.stdout.toString()).toMatch(/^0 done, 0 failed, 16 skipped/);
      expect(await delivered()).toEqual(NAMES.map((name) => `${name}.mp3`));
      for (const name of NAMES) {
        const sound = await decodeAudio(await readFile(path.join(audio, `${name}.mp3`)));
        expect(sound.durationMs).toBeGreaterThan(300);
      }
      expect(await charged()).toBe(CREDITS);
    },
  };
}

/** Returns a running process that has two accepted items, and none that was saved. */
async function findPaying(journals: string): Promise<number> {
  for (const name of await readdir(journals)) {
    const text = await readFile(path.join(journals, name), 'utf8');
    const isPaying = text.split('"state":"accepted"').length === 3 && !text.includes(SAVED);
    const pid = Number(name.split('-')[1]);
    if (isPaying && existsSync(`/proc/${pid}`)) return pid;
  }
  throw new Error('no task has paid for its two items and saved none');
}

/** Returns the code blocks of a recipe: of the section with this heading. */
export async function recipeBlocks(page: string, heading: string): Promise<readonly string[]> {
  const text = await readFile(path.join(DOCS, page), 'utf8');
  const section = text.split(/^##+ /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  return [...section.matchAll(/^```\w+\n(.*?)^```$/gms)].map(([, code = '']) => code);
}
