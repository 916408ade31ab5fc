import { CUE_PRESETS } from '../../src/captions/cue-shape.ts';
import { expect } from 'vitest';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Transport } from '../../src/api/transport/http.ts';
import { TransportError } from '../../src/api/transport/transport-error.ts';
import { openBatchFolder } from '../../src/batch/journal/batch-folder.ts';
import { countItems } from '../../src/batch/plan/items.ts';
import { inputFile } from '../../src/batch/plan/inputs.ts';
import { parseNameTemplate, planItems } from '../../src/batch/plan/plan.ts';
import type { CaptionOptions } from '../../src/batch/run/batch-options.ts';
import { captionNames } from '../../src/batch/run/item-captions.ts';
import { CreditBudget } from '../../src/batch/run/credit-budget.ts';
import { Batch } from '../../src/batch/run/run-batch.ts';
import type { ItemResult } from '../../src/batch/run/run-batch.ts';
import { toFailure } from '../../src/cli/render/result.ts';
import type { Clock } from '../../src/system/clock.ts';
import { systemFiles } from '../../src/system/file-system.ts';
import type { Liveness } from '../../src/system/processes.ts';
import type { Failure } from '../../src/errors/failure.ts';
import { prepareText } from '../../src/speech/prepare-text.ts';
import type { SpokenText } from '../../src/text/document.ts';
import { openStore } from '../../src/service/store/open-store.ts';
import type { Store } from '../../src/service/store/open-store.ts';
import { manualClock } from '../api/manual-clock.ts';
import { clientOver } from '../billing/client-run.ts';
import { answerOver, HOST } from '../billing/connection.ts';
import { webRequest } from '../billing/network.ts';
import { readLedger } from '../billing/ledger-facts.ts';
import type { ServiceHost } from '../billing/service-host.ts';
import { startHost } from '../billing/service-host.ts';
import { processTable } from '../billing/simulated-process.ts';
import { processesOf } from './batch-folders.ts';
import { countingRandom } from '../files/file-simulation.ts';
import type { FailingFiles } from '../harness/failing-files.ts';
import { failingFiles, Killed } from '../harness/failing-files.ts';
import { voiceId } from '../service/support/test-service.ts';

export const MODEL_ID = 'vendor-s21pro';

/** A service that outlives all runs, and the folders of batches. */
export interface BatchSimulation {
  readonly host: ServiceHost;
  readonly books: Store;
  /** A new output folder with a state folder beside it. */
  newPlace(): Promise<Place>;
  end(): Promise<void>;
}

export interface Place {
  readonly outputDir: string;
  readonly stateDir: string;
  readonly lines: string;
  /** The keys that were sent from here, with the text of each. */
  readonly asked: Map<string, string>;
}

export async function createBatchSimulation(): Promise<BatchSimulation> {
  const root = await mkdtemp(
    path.join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'foley-batch-'),
  );
  const dataDir = path.join(root, 'service');
  const hosting = {
    dataDir,
    clock: manualClock(),
    random: countingRandom(),
    table: processTable(false),
  };
  const allowance = { credits: 10_000_000, quota: 10_000_000 };
  const host = await startHost({ ...hosting, allowance });
  const books = await openStore({ ...hosting, files: systemFiles });
  let places = 0;
  return {
    host,
    books,
    async newPlace() {
      places += 1;
      const place = path.join(root, `${places}`);
      const outputDir = path.join(place, 'out');
      await mkdir(outputDir, { recursive: true });
      const lines = path.join(place, 'lines.txt');
      return { outputDir, stateDir: path.join(place, 'state'), lines, asked: new Map() };
    },
    async end() {
      // Killed clients left responses open, for which a closing service would wait.
      host.kill();
      books.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}

/** The result of one process. */
export interface RunOutcome {
  readonly results: readonly ItemResult[];
  /** Why it did not finish. */
  readonly failure: Failure | undefined;
  readonly died: boolean;
  readonly effects: readonly string[];
  readonly struck: string | undefined;
}

export interface RunOptions {
  /** What goes wrong, and when. */
  readonly failing?: FailingFiles;
  readonly retriesFailed?: boolean;
  readonly redo?: readonly string[];
  readonly overwrite?: boolean;
  /** Over the aligned stream, with captions. */
  readonly isAligned?: boolean;
  /** With `--pauses`. */
  readonly isPaused?: boolean;
}

const CAPTIONS: CaptionOptions = {
  formats: ['srt', 'json'],
  shape: { ...CUE_PRESETS.netflix, by: 'phrase' },
};

let lastPid = 1_000;
const fates = new Map<number, Liveness>();

/** Runs one `foley batch --lines` from its inputs to its end. */
export async function runOnce(
  simulation: BatchSimulation,
  place: Place,
  options: RunOptions = {},
): Promise<RunOutcome> {
  const failing = options.failing ?? failingFiles(0, { kind: 'kill' });
  lastPid += 1;
  const pid = lastPid;
  const results: ItemResult[] = [];
  try {
    await speakAll(simulation, place, { failing, pid, results, options });
    return outcomeOf(failing, results, undefined);
  } catch (error) {
    return outcomeOf(failing, results, error);
  } finally {
    fates.set(pid, 'dead');
    expect(failing.open(), 'left open').toEqual([]);
  }
}

function outcomeOf(
  failing: FailingFiles,
  results: readonly ItemResult[],
  error: unknown,
): RunOutcome {
  const died = causes(error).some((one) => one instanceof Killed);
  const failure = error === undefined || died ? undefined : toFailure(error);
  return { results, failure, died, effects: failing.effects, struck: failing.struck };
}

function causes(error: unknown): unknown[] {
  return error instanceof Error ? [error, ...causes(error.cause)] : [error];
}

interface RunParts {
  readonly failing: FailingFiles;
  readonly pid: number;
  readonly results: ItemResult[];
  readonly options: RunOptions;
}

async function speakAll(simulation: BatchSimulation, place: Place, parts: RunParts): Promise<void> {
  const { failing, options, pid, results } = parts;
  const clock = clockOf(failing);
  const deps = {
    files: failing.files,
    clock,
    random: countingRandom(`${place.outputDir} ${pid}`),
    platform: 'linux' as const,
    processes: processesOf(pid, fates),
  };
  const sources = [
    { kind: 'lines' as const, file: inputFile(place.lines, deps.files), name: 'line' },
  ];
  const total = await countItems({ sources });
  const { redo = [] } = options;
  const captions = options.isAligned === true ? CAPTIONS : undefined;
  const folder = await openBatchFolder({
    system: deps,
    outputDir: place.outputDir,
    outputFlag: '--output-dir',
    isNewFolder: false,
    copies: place.stateDir,
    shard: undefined,
    namespace: undefined,
    redo: redo.length === 0 ? undefined : redo.join(),
  });
  try {
    const batch = new Batch({
      notice: () => {},
      system: deps,
      folder,
      client: clientOver(
        { clock, random: countingRandom(`ids ${place.outputDir} ${pid}`) },
        transportOf(simulation, place, { clock, failing }),
        2,
      ),
      origin: 'http://service.test',
      idleTimeoutMs: undefined,
      items: () =>
        planItems({
          sources,
          total,
          files: deps.files,
          prepare: options.isPaused === true ? readMarks : undefined,
          sidecars: (output) => captionNames(output, captions?.formats ?? []),
          platform: deps.platform,
          template: parseNameTemplate('{name}.{ext}'),
          defaults: {
            voiceId: voiceId('Clara'),
            modelId: MODEL_ID,
            format: 'wav',
            configuredFormat: undefined,
            controls: {},
          },
        }),
      captions,
      rerun: {
        outputDir: place.outputDir,
        outputFlag: '--output-dir',
        overwrite: options.overwrite === true,
        retriesFailed: options.retriesFailed === true,
        isRedone: (id) => redo.includes(id),
      },
      concurrency: 2,
      budget: new CreditBudget(Number.POSITIVE_INFINITY),
      estimate: () => 0,
      graceMs: 1_000,
      signal: new AbortController().signal,
    });
    for await (const _item of batch.classify());
    const stopped = await batch.run(async (result) => void results.push(result));
    if (stopped !== undefined) throw stopped;
    await folder.end();
  } finally {
    await folder.close();
  }
}

function readMarks(source: SpokenText, where: string): SpokenText {
  return prepareText(source, where, { lexicon: undefined, pauses: true });
}

/** Pauses take only a turn of the event loop, in which the service works. */
function clockOf(failing: FailingFiles): Clock {
  const clock = manualClock();
  return {
    ...clock,
    async sleep(ms, signal) {
      ignoringFaults(() => failing.effect('sleep'));
      await clock.sleep(ms, signal);
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    },
  };
}

/** Ignores faults other than a kill: a pause does not fail. */
function ignoringFaults(effect: () => void): void {
  try {
    effect();
  } catch (error) {
    if (error instanceof Killed) throw error;
  }
}

/** Each request has three effects: sending it, receiving the response, receiving the body. */
function transportOf(
  { host }: BatchSimulation,
  { asked }: Place,
  { clock, failing }: { clock: Clock; failing: FailingFiles },
): Transport {
  return {
    async request(request) {
      const { body, headers, method } = request;
      reset(() => failing.effect('request'));
      if (method === 'POST') asked.set(headers['idempotency-key'] ?? '', textIn(body));
      const response = await host.fetch(webRequest(request));
      try {
        reset(() => failing.effect('answer'));
      } catch (error) {
        // As a closed connection does: the service then ends the request.
        await response.body?.cancel();
        throw error;
      }
      const whole = Buffer.from(await response.arrayBuffer());
      let cut: TransportError | undefined;
      try {
        reset(() => failing.effect('body'));
      } catch (error) {
        if (!(error instanceof TransportError)) throw error;
        cut = error;
      }
      const { headers: all, status } = response;
      const bytes = cut === undefined ? whole : whole.subarray(0, whole.length / 2);
      const copy = new Response(cut === undefined ? bytes : cutStream(bytes, cut), {
        status,
        headers: all,
      });
      return answerOver(copy, { process: ALIVE, clock });
    },
    close: async () => undefined,
  };
}

const ALIVE = processTable(false).spawn();

function cutStream(bytes: Uint8Array, error: Error): ReadableStream<Uint8Array> {
  let sent = false;
  return new ReadableStream({
    pull(controller) {
      if (sent) controller.error(error);
      else controller.enqueue(new Uint8Array(bytes));
      sent = true;
    },
  });
}

/** Turns any fault but a kill into a broken connection. */
function reset(effect: () => void): void {
  try {
    effect();
  } catch (error) {
    if (error instanceof Killed) throw error;
    throw new TransportError('reset', HOST, error);
  }
}

function textIn(body: Uint8Array | undefined): string {
  const order: unknown = JSON.parse(Buffer.from(body ?? []).toString('utf8'));
  const text = typeof order === 'object' && order !== null && 'text' in order ? order.text : '';
  return String(text);
}

/** Returns how often each text that was sent from a place is charged. */
export function chargesAt(
  { books }: BatchSimulation,
  { asked }: Place,
): ReadonlyMap<string, number> {
  const { byKey } = readLedger(books);
  const charges = new Map<string, number>();
  for (const [key, text] of asked) {
    const fact = byKey.get(key);
    if (fact === undefined || fact.money === 'refunded') continue;
    charges.set(text, (charges.get(text) ?? 0) + 1);
  }
  return charges;
}

/** Returns the outputs of a place with their content. */
export async function filesAt({ outputDir }: Place): Promise<ReadonlyMap<string, Buffer>> {
  const names = (await readdir(outputDir)).filter((name) => name !== '.foley');
  const read = names.map(
    async (name) => [name, await readFile(path.join(outputDir, name))] as const,
  );
  return new Map(await Promise.all(read));
}

export async function writeLines({ lines }: Place, texts: readonly string[]): Promise<void> {
  await writeFile(lines, texts.map((text) => `${text}\n`).join(''));
}
