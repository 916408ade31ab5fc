import { once } from 'node:events';
import type { SurfaceName } from '../../src/contract/speech-surfaces.ts';
import { toFailure } from '../../src/cli/render/result.ts';
import type { FileSystem } from '../../src/system/file-system.ts';
import { Failure } from '../../src/errors/failure.ts';
import type { OutputPlan } from '../../src/paid/speakers/speak-stream.ts';
import type { Via } from './client-run.ts';
import { RATE, runSpeak } from './client-run.ts';
import type { Book } from './book.ts';
import type { AudioFault, Fault } from './faults.ts';
import { readLedger } from './ledger-facts.ts';
import type { Caller } from './network.ts';
import { transportOver } from './network.ts';
import type { ProcessDisk } from './process-disk.ts';
import { processDisk } from './process-disk.ts';
import type { SimulatedProcess } from './simulated-process.ts';
import { patientClock, TEXTS, turns } from './simulation.ts';
import type { Simulation } from './simulation.ts';

/** What a person asks for with one `foley tts`. */
export interface Order {
  readonly surface: SurfaceName;
  readonly via: Via;
  readonly text: number;
  readonly key: { readonly value: string; readonly madeByTool: boolean };
  /** A file, or a stream that remembers so many bytes and takes so many. */
  readonly output:
    | { readonly kind: 'file'; readonly path: string }
    | { readonly kind: 'stream'; readonly memoryBytes: number; readonly takes: number };
  readonly faults: readonly Fault[];
  /** What happens when the audio of a job is fetched. */
  readonly audioFaults: readonly AudioFault[];
  /** The process dies at its file effect of this number. */
  readonly dieAt: number | undefined;
}

export type Ending =
  | { readonly kind: 'delivered'; readonly creditsUsed: number | undefined }
  | { readonly kind: 'failed'; readonly failure: Failure }
  | { readonly kind: 'died' };

/** One `foley tts` on its way. */
export interface Run {
  readonly order: Order;
  readonly process: SimulatedProcess;
  readonly disk: ProcessDisk;
  /** Keys under which it asked or was about to, in order. */
  readonly keys: string[];
  /** Its operations in the journal, and the key of each. */
  readonly intents: Map<string, string>;
  /** What went into the stream. */
  readonly heard: Uint8Array[];
  /** An answer of success began. */
  hasAudio: boolean;
  /** It waited in the middle of the audio, when everything before was on the disk. */
  hasPaused: boolean;
  /** Some disk was full meanwhile. */
  hadFullDisk: boolean;
  ending: Ending | undefined;
  /** Its ending was judged. */
  isNoted: boolean;
  readonly ended: Promise<void>;
  /** Resolves when it waits in the middle of the audio. */
  readonly paused: Promise<unknown>;
  /** Lets it go on. */
  resume(): void;
}

/**
 * Starts a process that speaks.
 * @param broken makes what it meets of the disk go wrong in a way of its own
 */
export function startRun(
  simulation: Simulation,
  order: Order,
  broken: (files: FileSystem) => FileSystem = (files) => files,
): Run {
  const process = simulation.table.spawn();
  const disk = processDisk({ process, full: simulation.full, dieAt: order.dieAt });
  simulation.disks.push(disk);
  const pause = new AbortController();
  const resume = new AbortController();
  const resumed = once(resume.signal, 'abort');
  const run: Omit<Run, 'ended'> = {
    order,
    process,
    disk,
    keys: [],
    intents: new Map(),
    heard: [],
    hasAudio: false,
    hasPaused: false,
    hadFullDisk: simulation.full.size > 0,
    ending: undefined,
    isNoted: false,
    paused: once(pause.signal, 'abort'),
    resume: () => resume.abort(),
  };
  const caller: Caller = {
    process,
    faults: [...order.faults],
    audioFaults: [...order.audioFaults],
    onSend: (key) => noteKey(simulation, run, key),
    onAudio() {
      run.hasAudio = true;
    },
    async pause() {
      // What came before is to be where it belongs by then.
      do await turns(5);
      while (disk.busy() > 0);
      run.hasPaused = true;
      pause.abort();
      await resumed;
    },
  };
  const ended = runSpeak(
    {
      ...simulation,
      clock: patientClock(simulation.clock, process),
      files: broken(disk.files),
      processes: simulation.table.seenBy(process),
    },
    {
      surface: order.surface,
      via: order.via,
      text: TEXTS[order.text] ?? '',
      key: order.key,
      plan: planOf(order),
      stream: streamOf(run),
      transport: transportOver(simulation.network, caller),
      onIntent: (id, key) => run.intents.set(id, key),
    },
  ).then(
    ({ creditsUsed }) => end(run, { kind: 'delivered', creditsUsed }),
    (error: unknown) => end(run, { kind: 'failed', failure: toFailure(error) }),
  );
  return Object.assign(run, { ended });
}

function end(run: Omit<Run, 'ended'>, ending: Ending): void {
  run.ending = run.process.isAlive() ? ending : { kind: 'died' };
  run.process.die();
}

/** A key is new to a run only when the one before it was refunded. */
function noteKey(simulation: Simulation, run: Omit<Run, 'ended'>, key: string): void {
  const before = run.keys.at(-1);
  if (before === key) return;
  if (before !== undefined) {
    const fact = readLedger(simulation.books).byKey.get(before);
    if (fact?.money !== 'refunded') {
      throw new Error(
        `sent again under a new key while the old one is ${fact?.state ?? 'unknown'}`,
      );
    }
  }
  run.keys.push(key);
}

/** Notes that `foley recover` bought under a new key what was refunded to a run. */
export function noteRenewed(runs: readonly Run[], book: Book) {
  return (before: string, id: string, key: string): void => {
    const run = runs.find(({ intents }) => intents.has(before));
    run?.intents.set(id, key);
    run?.keys.push(key);
    book.keyOf.set(id, key);
  };
}

function planOf({ output }: Order): OutputPlan {
  return output.kind === 'file'
    ? { kind: 'file', path: output.path, format: 'wav' }
    : { kind: 'stdout', format: 'wav' };
}

function streamOf(run: Omit<Run, 'ended'>) {
  const { output } = run.order;
  let taken = 0;
  return {
    memoryBytes: output.kind === 'stream' ? output.memoryBytes : 0,
    async write(chunk: Uint8Array) {
      taken += chunk.length;
      if (output.kind === 'stream' && taken > output.takes) {
        throw new Failure('the stream takes no more', { code: 'output', exit: 'output' });
      }
      run.heard.push(chunk);
    },
    end: async () => undefined,
  };
}

/** Whether it was to wait in the middle of the audio. */
export function wasPaused({ order }: Run): boolean {
  return [...order.faults, ...order.audioFaults].some(({ kind }) => kind === 'pause');
}

/** What the service asks for what was asked under this key. */
export function priceOf(key: string, runs: readonly Run[]): number {
  const run =
    runs.find(({ keys }) => keys.includes(key)) ??
    runs.find(({ order }) => order.key.value === key);
  return (TEXTS[run?.order.text ?? 0]?.length ?? 0) * RATE;
}
