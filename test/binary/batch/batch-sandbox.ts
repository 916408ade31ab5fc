import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'vitest';
import { PROFILE_PATH } from '../../fault-server/healthy-service.ts';
import { parseJsonLines } from '../../harness/json-lines.ts';
import { runFoley } from '../../harness/run-foley.ts';
import type { RunOptions, RunResult } from '../../harness/run-options.ts';
import type { Sandbox } from '../../harness/sandbox.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import type { ServingFoley } from '../support/serve.ts';
import { firstVoiceId, startServe } from '../support/serve.ts';

export const JOBS_PATH = '/api/open/v3/speech/tts/jobs';
const OPENING_CREDITS = 1_000_000;
/** The service bills a credit for each character. */
const MODEL_ID = 'vendor-s21pro';

/** The event of an item. */
export interface ItemEvent {
  readonly event: 'item';
  readonly id: string;
  readonly status: string;
  readonly output: string | null;
  readonly creditsUsed: number | null;
  readonly error: {
    readonly code: string;
    readonly exitCode: number;
    readonly message: string;
  } | null;
}

/** A folder with texts, and a service that bills a credit for each character. */
export interface BatchSandbox {
  readonly sandbox: Sandbox;
  readonly service: ServingFoley;
  /** Runs `foley batch`. */
  batch(args: readonly string[], options?: RunOptions): Promise<RunResult>;
  /** Runs `foley batch --json` and returns its events. */
  events(args: readonly string[], options?: RunOptions): Promise<EventRun>;
  /** Returns the credits that were charged so far. */
  charged(): Promise<number>;
  write(name: string, content: string | Uint8Array): Promise<void>;
  read(name: string): Promise<Buffer>;
}

export interface EventRun {
  readonly result: RunResult;
  readonly plan: Readonly<Record<string, unknown>>;
  readonly items: readonly ItemEvent[];
  readonly summary: Readonly<Record<string, unknown>>;
  /** The status of each item, by its id. */
  readonly statuses: Readonly<Record<string, string>>;
}

/** @param faults rules of `foley serve --fault`, or other flags of it */
export async function batchSandbox(
  texts: Readonly<Record<string, string>>,
  faults: readonly string[] = [],
  more: readonly string[] = [],
  serving: RunOptions = {},
  voice?: string,
): Promise<BatchSandbox> {
  const sandbox = await createSandbox();
  const rules = faults.flatMap((rule) => ['--fault', rule]);
  const service = await startServe([...rules, ...more], serving);
  const write = async (name: string, content: string | Uint8Array): Promise<void> => {
    const file = path.join(sandbox.out, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, content);
  };
  for (const [name, text] of Object.entries(texts)) await write(name, text);
  const voiceId =
    voice ?? (more.includes('--accept-keys-file') ? 'v' : await firstVoiceId(service));
  const batch = (args: readonly string[], options: RunOptions = {}): Promise<RunResult> =>
    runFoley(['batch', '-v', voiceId, '-m', MODEL_ID, ...args], {
      sandbox,
      ...options,
      env: { ...service.env, ...options.env },
    });
  return {
    sandbox,
    service,
    batch,
    write,
    read: (name) => readFile(path.join(sandbox.out, name)),
    events: async (args, options) => eventsOf(await batch([...args, '--json'], options)),
    async charged() {
      const { bytes } = await service.ask(PROFILE_PATH);
      return OPENING_CREDITS - Number(Object(JSON.parse(bytes.toString())).credits);
    },
  };
}

function eventsOf(result: RunResult): EventRun {
  const all = parseJsonLines(result.stdout.toString());
  const items: ItemEvent[] = all.map((one) => Object(one)).filter(({ event }) => event === 'item');
  const plan: unknown = all[0];
  const summary: unknown = all.at(-1);
  expect(plan, result.stderr).toMatchObject({ event: 'plan' });
  expect(summary, result.stderr).toMatchObject({ event: 'summary' });
  return {
    result,
    plan: Object(plan),
    items,
    summary: Object(summary),
    statuses: Object.fromEntries(items.map(({ id, status }) => [id, status])),
  };
}

/** Returns the last line of stdout without the credits. */
export function lastLine(result: RunResult): string | undefined {
  return wholeLastLine(result)?.replace(/, \d+ credits? used$/, '');
}

export function wholeLastLine({ stdout }: RunResult): string | undefined {
  return stdout.toString().trimEnd().split('\n').at(-1);
}

/** Returns the folders with copies of captioned audio in the state folder. */
export async function copyFolders({ state }: Sandbox): Promise<readonly string[]> {
  const batches = path.join(state, 'foley/batches');
  return (await readdir(batches)).map((name) => path.join(batches, name, 'audio'));
}

/** Removes the copies of captioned audio, so that only the output folder has the audio. */
export async function removeCopies(sandbox: Sandbox): Promise<void> {
  for (const folder of await copyFolders(sandbox)) await rm(folder, { recursive: true });
}
