import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createVerifier } from '../../src/audio/verify.ts';
import { systemFiles } from '../../src/system/file-system.ts';
import type { Random } from '../../src/system/random.ts';
import type { Store } from '../../src/service/store/open-store.ts';
import { openStore } from '../../src/service/store/open-store.ts';
import type { ManualClock } from '../api/manual-clock.ts';
import { manualClock } from '../api/manual-clock.ts';
import { countingRandom } from '../files/file-simulation.ts';
import { voiceId } from '../service/support/test-service.ts';
import type { Via } from './client-run.ts';
import { MODEL_ID } from './client-run.ts';
import type { LooseEnds } from './connection.ts';
import { drain, readerOf } from './connection.ts';
import type { Network } from './network.ts';
import type { ProcessDisk } from './process-disk.ts';
import type { ServiceHost } from './service-host.ts';
import { API_KEY, startHost } from './service-host.ts';
import type { ProcessTable, SimulatedProcess } from './simulated-process.ts';
import { processTable } from './simulated-process.ts';
import type { Clock } from '../../src/system/clock.ts';
import { Killed } from '../harness/failing-files.ts';

/** Two sentences each, so that a generation can break in the middle; their audio is equally long. */
export const TEXTS = ['One two. Three four.', 'Two four. One three.'] as const;

/** What was in a file before anybody spoke into it. */
export const OLDER = 'older';

/** Disks of the client that can fill up. */
export const DISKS = ['output', 'journal', 'spool'] as const;
export type DiskName = (typeof DISKS)[number];

/** Everything that outlives a process: two services on one database, a client's folders, a network. */
export interface Simulation {
  /** No process can know whether another one lives. */
  readonly isBlind: boolean;
  readonly platform: 'linux';
  readonly clock: ManualClock;
  readonly random: Random;
  readonly table: ProcessTable;
  readonly outputDir: string;
  readonly stateDir: string;
  readonly full: Set<string>;
  /** A `foley recover` was killed, whose temporary file stays. */
  mayHaveDebris: boolean;
  readonly network: Network;
  /** Looks at the service's database, as none of its processes. */
  readonly books: Store;
  readonly hosts: (ServiceHost | undefined)[];
  /** What the clients' processes write to. */
  readonly disks: ProcessDisk[];
  folderOf(disk: DiskName): string;
  /** Calls go to this service from now on. */
  call(slot: number): void;
  start(slot: number): Promise<void>;
  /** Lets everything arrive that is on its way, and everybody who waits go on. */
  release(): Promise<void>;
  /** Waits until what runs in the background is done. */
  settle(): Promise<void>;
  end(): Promise<void>;
}

/** @param isBlind no process can know whether another one lives */
export async function createSimulation(isBlind: boolean): Promise<Simulation> {
  const root = await mkdtemp(path.join(fastFolder(), 'foley-billing-'));
  const folder = (name: string): string => path.join(root, name);
  await mkdir(folder('output'));
  const workingFolder = process.cwd();
  // The folder of recovered audio without a recorded output.
  process.chdir(folder('output'));
  const clock = wholeMilliseconds(manualClock());
  const random = countingRandom();
  const table = processTable(isBlind);
  const hosting = { dataDir: folder('service'), clock, random, table };
  const hosts: (ServiceHost | undefined)[] = [await startHost(hosting), await startHost(hosting)];
  const books = await openStore({ ...hosting, files: systemFiles });
  const loose: LooseEnds = { draining: [], waiting: [] };
  const late: (() => Promise<Response>)[] = [];
  let slot = 0;
  const start = async (index: number): Promise<void> => {
    if (hosts[index]?.process.isAlive() !== true) hosts[index] = await startHost(hosting);
  };
  const alive = (index: number): ServiceHost | undefined => {
    const host = hosts[index];
    return host?.process.isAlive() === true ? host : undefined;
  };
  const disks: ProcessDisk[] = [];
  const settle = async (): Promise<void> => {
    await Promise.all(loose.draining.splice(0));
    do await turns(5);
    while (disks.some((disk) => disk.busy() > 0));
  };
  return {
    isBlind,
    platform: 'linux',
    clock,
    random,
    table,
    hosts,
    disks,
    books,
    outputDir: folder('output'),
    stateDir: folder('state'),
    full: new Set(),
    mayHaveDebris: false,
    network: {
      clock,
      loose,
      late,
      audioBytes: (await reference(0)).length,
      host: () => alive(slot),
      restart: () => start(slot),
    },
    folderOf: (disk) => (disk === 'output' ? folder('output') : path.join(folder('state'), disk)),
    call(index) {
      slot = index;
    },
    start,
    settle,
    async release() {
      for (const send of late.splice(0)) {
        const response = await send();
        loose.draining.push(drain(readerOf(response)));
      }
      for (const reader of loose.waiting.splice(0)) loose.draining.push(drain(reader));
      await settle();
    },
    async end() {
      for (const host of hosts) host?.kill();
      books.close();
      process.chdir(workingFolder);
      await rm(root, { recursive: true, force: true });
    },
  };
}

/** Pauses are jittered; the time of day is not. */
function wholeMilliseconds(clock: ManualClock): ManualClock {
  return { ...clock, now: () => Math.floor(clock.now()) };
}

/** The same as a file, with its length in the header. */
export async function fileReference(text: number): Promise<Buffer> {
  const audio = Buffer.from(await reference(text));
  const verifier = createVerifier('wav');
  verifier.write(audio);
  for (const { bytes, position } of verifier.end().corrections) audio.set(bytes, position);
  return audio;
}

const references = new Map<string, Promise<Buffer>>();

/** The whole audio of a text, as the service makes it when nothing goes wrong. */
export function reference(text: number, via: Via = 'sync'): Promise<Buffer> {
  const name = `${via} ${text}`;
  const made = references.get(name) ?? undisturbed(TEXTS[text] ?? '', via);
  references.set(name, made);
  return made;
}

async function undisturbed(text: string, via: Via): Promise<Buffer> {
  const dataDir = await mkdtemp(path.join(fastFolder(), 'foley-reference-'));
  const table = processTable(false);
  const host = await startHost({ dataDir, clock: manualClock(), random: countingRandom(), table });
  const response = await host.fetch(speechRequest(text, 'reference', via === 'job' ? '/jobs' : ''));
  const audio =
    via === 'job'
      ? await audioOfJob(host, Object(await response.json()).task.taskId)
      : Buffer.from(await response.arrayBuffer());
  await host.close();
  await rm(dataDir, { recursive: true, force: true });
  return audio;
}

async function audioOfJob(host: ServiceHost, taskId: string): Promise<Buffer> {
  for (;;) {
    const headers = { Authorization: `Bearer ${API_KEY}` };
    const address = `http://127.0.0.1/api/open/v3/speech/tts/jobs/${taskId}/audio`;
    const audio = await host.fetch(new Request(address, { headers }));
    if (audio.status === 200) return Buffer.from(await audio.arrayBuffer());
    await turns(1);
  }
}

/** Where the samples begin; the lengths before them may be those of a stream or of a file. */
const HEADER_BYTES = 44;

/** Whether this is all the audio of a text, spoken one way or the other. */
export async function isWholeAudio(content: Buffer | undefined, text: number): Promise<boolean> {
  const samples = content?.subarray(HEADER_BYTES);
  const wanted = [await reference(text), await reference(text, 'job')];
  return wanted.some((whole) => samples?.equals(whole.subarray(HEADER_BYTES)) === true);
}

/** A request as the client would send it. */
export function speechRequest(text: string, key: string, way: '' | '/jobs' = ''): Request {
  return new Request(`http://127.0.0.1/api/open/v3/speech/tts${way}`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${API_KEY}`,
      'Content-Type': 'application/json',
      'Idempotency-Key': key,
    },
    body: JSON.stringify({ text, voiceId: voiceId('Clara'), modelId: MODEL_ID, format: 'wav' }),
  });
}

/** Every file in the output folder with what is in it. */
export async function outputsOf({ outputDir }: Simulation): Promise<Map<string, Buffer>> {
  const names = await readdir(outputDir);
  const read = names.map(
    async (name) => [name, await readFile(path.join(outputDir, name))] as const,
  );
  return new Map(await Promise.all(read));
}

/** Puts an older file where an output will go. */
export async function putOlder(file: string): Promise<void> {
  if (!existsSync(file)) await writeFile(file, OLDER);
}

/** So many turns of the event loop. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}

/** Thousands of small files are synced: in memory where the system has such a folder. */
function fastFolder(): string {
  return existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
}

/**
 * The clock of one process that waits for others: while it sleeps they get on with their work, and
 * time passes for all of them. One that was killed does not wake.
 */
export function patientClock(clock: ManualClock, process: SimulatedProcess): Clock {
  return {
    ...clock,
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      await turns(10);
      clock.advance(ms);
      if (!process.isAlive()) throw new Killed('sleep');
    },
  };
}
