import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { reviseFailure } from '../../../src/api/failures.ts';
import type { BatchFolder } from '../../../src/batch/journal/batch-folder.ts';
import { openBatchFolder } from '../../../src/batch/journal/batch-folder.ts';
import type { Report } from '../../../src/batch/report/report.ts';
import { openJsonReport, recordOf, Tally } from '../../../src/batch/report/report.ts';
import { CreditBudget } from '../../../src/batch/run/credit-budget.ts';
import type { ItemResult } from '../../../src/batch/run/run-batch.ts';
import { Batch } from '../../../src/batch/run/run-batch.ts';
import type { Context } from '../../../src/cli/command.ts';
import { BrokenPipe } from '../../../src/cli/io.ts';
import { openReuse } from '../journal.ts';
import { barStyle } from '../../../src/cli/render/progress.ts';
import { stopHint } from '../../../src/cli/render/service-events.ts';
import type { CommandResult } from '../../../src/cli/render/result.ts';
import { outputFailure } from '../../../src/durable/file-failures.ts';
import { Failure } from '../../../src/errors/failure.ts';
import { describeReuse } from '../../../src/paid/reuse/reused.ts';
import { describeUnspoken, UNSPOKEN_HINT } from '../../../src/paid/unspoken.ts';
import { counted } from '../../../src/text/display.ts';
import type { BatchConnection, BatchProduct, Overview, PreparedBatch } from './connect-batch.ts';
import {
  checkEstimate,
  connectBatch,
  createEstimator,
  noticeUncaptioned,
  otherShardsOf,
  otherShardsText,
  overviewOf,
} from './connect-batch.ts';
import { writeEvent } from './events.ts';

const STOP_GRACE_MS = 10_000;
const CONTINUE = 'Run the same command again to continue: nothing is billed twice.';

/** Runs a batch until all items were tried or the batch is stopped. */
export async function performBatch(context: Context, batch: PreparedBatch): Promise<CommandResult> {
  const { outputDir } = batch.rerun;
  const folder = await openFolder(context, batch);
  try {
    if (folder.garbled > 0) {
      const lines = folder.garbled === 1 ? 'a damaged line' : `${folder.garbled} damaged lines`;
      context.io.notice(`foley: skipped ${lines} of the journal in ${outputDir}`);
    }
    if (!folder.isCopied) {
      const stateDir = path.join(outputDir, '.foley');
      context.io.notice(
        `foley: keep ${stateDir}: its secret could not be copied to the state folder`,
      );
    }
    const product = await batch.openProduct?.(folder.temporaries);
    try {
      const connection = await connectBatch(context, batch);
      try {
        return await speakItems(context, { ...batch, product }, folder, connection);
      } finally {
        await connection.close();
      }
    } finally {
      await product?.abandon();
    }
  } finally {
    await folder.close();
  }
}

async function openFolder(
  context: Context,
  { flags, isNewFolder = false, redo, rerun: { outputDir, outputFlag }, shard }: PreparedBatch,
): Promise<BatchFolder> {
  await context.system.files.mkdir(outputDir, { recursive: true }).catch((error: unknown) => {
    throw outputFailure(outputDir, error, 'opening', outputFlag);
  });
  const { state } = await context.paths();
  return openBatchFolder({
    system: context.system,
    outputDir,
    outputFlag,
    isNewFolder,
    copies: path.join(state, 'batches'),
    shard,
    namespace: flags.idempotencyNamespace,
    redo,
  });
}

async function speakItems(
  context: Context,
  prepared: PreparedBatch & { readonly product: BatchProduct | undefined },
  folder: BatchFolder,
  connection: BatchConnection,
): Promise<CommandResult> {
  const { client, origin, voiceId } = connection;
  const { captions, concurrency, flags, rerun } = prepared;
  const { globals, signal } = context;
  const estimator = await createEstimator(context, flags.creditRate, connection);
  const reuse = await openReuse(context, client, flags.reuse);
  const batch = new Batch({
    system: context.system,
    signal: context.signal,
    captions,
    client,
    concurrency,
    folder,
    origin,
    rerun,
    reuse,
    idleTimeoutMs: globals.idleTimeout,
    items: () => prepared.items(voiceId),
    budget: new CreditBudget(flags.maxCredits ?? Infinity),
    estimate: (item) => estimator.knownCredits(item),
    graceMs: STOP_GRACE_MS,
    notice: (line) => screen.notice(line),
  });
  const { uncaptioned, ...overview } = await optimizingLater(() =>
    overviewOf(batch.classify(), estimator, { captions, reuse }),
  );
  noticeUncaptioned(uncaptioned, context.io);
  checkEstimate(overview.estimatedCredits ?? undefined, flags.maxCredits);
  const report = await openReport(context, prepared);
  const otherShards = otherShardsOf(prepared, overview);
  const screen = await openScreen(context, rerun.outputDir, { ...overview, otherShards });
  const showStopping = (): void => screen.notice(stoppingLine(signal, captions !== undefined));
  signal.addEventListener('abort', showStopping, { once: true });
  const tally = new Tally();
  try {
    const stopped = await optimizingLater(() =>
      batch.run(async (result) => {
        tally.add(result);
        if (result.creditsUsed !== null) estimator.learn(result.item, result.creditsUsed);
        await report?.add(result);
        await screen.show(result, tally);
        await warnOfCues(result, screen);
      }),
    );
    await estimator.save();
    if (stopped === undefined) await folder.end();
    screen.close();
    const reportFailure = await failureOf(report?.publish(tally, stopped === undefined));
    signal.removeEventListener('abort', showStopping);
    const made = isDelivered(tally, stopped) ? await makeProduct(context, prepared) : undefined;
    if (prepared.product !== undefined && made === undefined) context.io.warn(NOT_MADE);
    const concluded = await concludeBatch(context, tally, { ...overview, otherShards }, stopped);
    const result = made === undefined ? concluded : withProduct(concluded, made);
    return reportFailure === undefined ? result : { ...result, failure: reportFailure };
  } finally {
    signal.removeEventListener('abort', showStopping);
    screen.close();
    await report?.abandon();
  }
}

function stoppingLine(signal: AbortSignal, hasCaptions: boolean): string {
  const loss = hasCaptions
    ? 'audio with captions that is arriving is then lost'
    : 'nothing is lost';
  return `foley: stopping; running items still finish (${stopHint(signal)} to leave at once: ${loss})`;
}

async function makeProduct(
  { io, signal }: Context,
  { product }: { readonly product: BatchProduct | undefined },
): Promise<CommandResult | undefined> {
  try {
    return await product?.make();
  } catch (error) {
    if (signal.aborted) io.notice(`foley: stopped; no recording was made. ${CONTINUE}`);
    throw error;
  }
}

const NOT_MADE = 'foley: no recording was made, because it lacks lines';

// A partial item has an audio file.
function isDelivered({ failed, gravest }: Tally, stopped: unknown): boolean {
  return stopped === undefined && (failed === 0 || gravest?.exit === 'partial');
}

function withProduct(batch: CommandResult, made: CommandResult): CommandResult {
  const { exit = 'ok' } = batch;
  return {
    ...batch,
    exit: exit === 'ok' ? (made.exit ?? 'ok') : exit,
    human: (style) => [made, batch].map(({ human }) => human?.(style)).join('\n'),
  };
}

async function openReport(
  context: Context,
  { captions, flags: { report: file }, rerun: { outputDir } }: PreparedBatch,
): Promise<Report | undefined> {
  if (file === undefined) return undefined;
  if (!/\.html?$/i.test(file)) return openJsonReport(file, outputDir, context.system);
  const { openPageReport } = await import('../../../src/batch/report/page-report.ts');
  return openPageReport({
    system: context.system,
    file,
    outputDir: path.resolve(context.cwd(), outputDir),
    title: `foley batch: ${outputDir}`,
    captions: captions?.formats ?? [],
    onTooLarge: () =>
      context.io.notice(
        `foley: ${file} would be too large for a browser; it has no sound for the later items`,
      ),
  });
}

async function warnOfCues({ captions = [] }: ItemResult, { warn }: Screen): Promise<void> {
  if (captions.every(({ violations }) => violations.length === 0)) return;
  const { warnOfViolations } = await import('../../../src/captions/violations.ts');
  warnOfViolations(captions, warn);
}

async function failureOf(work: Promise<void> | undefined): Promise<Failure | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

async function concludeBatch(
  { globals, io, signal }: Context,
  tally: Tally,
  { items, otherShards }: ShardOverview,
  stopped: unknown,
): Promise<CommandResult> {
  const { creditsUsed, done, failed, gravest, reuse, skipped } = tally;
  const notTried = items - done - failed - skipped;
  if (stopped instanceof BrokenPipe) throw stopped;
  const isJson = globals.json === true;
  if (isJson) {
    const summary = { done, failed, skipped, creditsUsed, ...reuse, notTried, otherShards };
    await writeEvent(io, { event: 'summary', ...summary });
  }
  for (const line of unspokenLines(tally)) io.notice(line);
  const others = otherShardsText(otherShards);
  const counts = `${done} done, ${failed} failed, ${skipped} skipped${others}`;
  const saved = reuse && describeReuse(reuse, creditsUsed);
  const used = [`${counted(creditsUsed, 'credit')} used`, saved].filter(Boolean).join(', ');
  if (signal.aborted) {
    io.notice(`foley: stopped; ${counts}, ${notTried} not tried, ${used}. ${CONTINUE}`);
    signal.throwIfAborted();
  }
  const human = (): string => `${counts}, ${used}`;
  if (stopped === undefined) {
    const { exit } = tally;
    if (!isJson || failed === 0) return { human, exit };
    const failedItems = failed === 1 ? 'an item' : `${failed} items`;
    const code = gravest?.code ?? 'internal';
    const options = { code, exit, hint: CONTINUE, billed: 'unknown' } as const;
    return { human, exit, failure: new Failure(`${failedItems} of the batch failed`, options) };
  }
  if (!(stopped instanceof Failure)) throw stopped;
  io.warn(`foley: stopped with ${counted(notTried, 'item')} not tried: ${stopped.message}.`);
  io.warn(stopped.hint === undefined ? CONTINUE : `${stopped.hint} ${CONTINUE}`);
  const exit = done + skipped === 0 ? stopped.exit : 'partial';
  return { human, exit, ...(isJson ? { failure: reviseFailure(stopped, { exit }) } : {}) };
}

interface ShardOverview extends Overview {
  readonly otherShards: number | undefined;
}

interface Screen {
  show(result: ItemResult, tally: Tally): Promise<void>;
  notice(line: string): void;
  readonly warn: (line: string) => void;
  close(): void;
}

async function openScreen(
  context: Context,
  outputDir: string,
  overview: ShardOverview,
): Promise<Screen> {
  const { globals, io } = context;
  if (globals.json === true) {
    await writeEvent(io, { event: 'plan', ...overview });
    return {
      show(result) {
        const output = result.output === null ? null : path.join(outputDir, result.output);
        return writeEvent(io, { event: 'item', ...recordOf({ ...result, output }) });
      },
      notice: (line) => io.notice(line),
      warn: (line) => io.warn(line),
      close: () => {},
    };
  }
  const bar = io.showsProgress ? await openBar(context, overview.items) : undefined;
  const warn = (line: string): void => (bar === undefined ? io.warn(line) : bar.log(line));
  return {
    async show(result, tally) {
      bar?.update(tally);
      const sentence = sentenceOf(result);
      if (sentence !== undefined) warn(sentence);
    },
    warn,
    notice: (line) => (bar === undefined ? io.notice(line) : bar.log(line)),
    close: () => bar?.close(),
  };
}

function sentenceOf({ error, item, status, unspoken }: ItemResult): string | undefined {
  if (error !== undefined) {
    const hint = error.hint === undefined ? '' : ` ${error.hint}`;
    return `foley: ${nameOf(item)}: ${error.message}.${hint}`;
  }
  if (unspoken.length === 0 || status === 'skipped') return undefined;
  const { voiceId: voice } = item.order;
  return `foley: ${nameOf(item)}: ${describeUnspoken(unspoken, { voice, isBrief: true })}.`;
}

function nameOf({ id, source }: ItemResult['item']): string {
  // The place in the input is more useful to the user than an id that is only a number.
  return /^[\d.]+$/.test(id) ? source : id;
}

function itemsOf(count: number): string {
  return count === 1 ? 'an item' : `${count} items`;
}

function unspokenLines({ unspoken: { done, skipped } }: Tally): readonly string[] {
  return [
    ...(done === 0
      ? []
      : [`foley: the audio of ${itemsOf(done)} leaves words out. ${UNSPOKEN_HINT}`]),
    ...(skipped === 0
      ? []
      : [
          `foley: the audio of ${itemsOf(skipped)} of an earlier run leaves words out; --json lists them`,
        ]),
  ];
}

async function openBar({ system: { clock }, io }: Context, items: number) {
  const { default: progress } = await import('cli-progress');
  const bars = new progress.MultiBar({
    format: '{bar} {value}/{total}  {failed} failed  {credits} credits  {left}',
    ...barStyle(io.progressStream),
  });
  const close = (): void => bars.stop();
  io.cleanups.add(close);
  const start = clock.monotonic();
  const bar = bars.create(items, 0, { failed: 0, credits: 0, left: '' });
  return {
    update({ creditsUsed, done, failed, skipped }: Tally): void {
      const finished = done + failed + skipped;
      const left = timeLeft(clock.monotonic() - start, done + failed, items - finished);
      bar.update(finished, { failed, credits: creditsUsed, left });
    },
    log: (line: string): void => bars.log(`${io.shown(line)}\n`),
    close,
  };
}

function timeLeft(elapsedMs: number, processed: number, remaining: number): string {
  if (processed === 0 || remaining === 0) return '';
  const seconds = Math.ceil((elapsedMs / processed) * (remaining / 1_000));
  const minutes = Math.floor(seconds / 60);
  return minutes === 0 ? `${seconds} s left` : `${minutes} min ${seconds % 60} s left`;
}

const DEFAULT_OF_NODE_20 = '--interrupt-budget=67584';

/**
 * Runs `work` and returns its result. On Node 20, delays V8's optimizing compiler meanwhile, because a large batch
 * mostly waits: compiling would cost more time than it saves.
 */
export async function optimizingLater<T>(work: () => Promise<T>): Promise<T> {
  if (!process.versions.node.startsWith('20.')) return work();
  // Saves a fifth of the processor time of a batch of 500 items.
  setFlagsFromString('--interrupt-budget=1000000');
  try {
    return await work();
  } finally {
    // The default again, because cached code depends on V8's flags.
    setFlagsFromString(DEFAULT_OF_NODE_20);
  }
}
