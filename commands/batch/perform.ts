import path from 'node:path';
import { reviseFailure } from '../../src/api/failures.ts';
import type { BatchFolder } from '../../src/batch/journal/batch-folder.ts';
import { openBatchFolder } from '../../src/batch/journal/batch-folder.ts';
import type { Report } from '../../src/batch/report/report.ts';
import { isPage } from '../../src/batch/report/report.ts';
import { createCreditBudget } from '../../src/batch/run/run-batch.ts';
import type { BatchOutcome } from '../../src/batch/run/run-batch.ts';
import { optimizingLater, createTally, exitOf } from '../../src/batch/run/tally.ts';
import type { Tally } from '../../src/batch/run/tally.ts';
import type { BatchSession } from '../../src/batch/session.ts';
import { openSession } from '../../src/batch/session.ts';
import type { Context } from '../../src/cli/command.ts';
import { BrokenPipe } from '../../src/cli/io.ts';
import type { CommandResult } from '../../src/cli/render/result.ts';
import type { ExitName } from '../../src/contract/exit-codes.ts';
import { outputFailure } from '../../src/durable/file-failures.ts';
import { Failure } from '../../src/errors/failure.ts';
import { toJson, counted } from '../../src/text/display.ts';
import type { BatchConnection } from './connect-batch.ts';
import { connectBatch } from './connect-batch.ts';
import type { Estimator } from './estimate.ts';
import { checkEstimate, createEstimator } from './estimate.ts';
import type { PreparedBatch } from './prepare.ts';
import { overviewOf, openScreen } from './screen.ts';
import type { Screen, Overview } from './screen.ts';

/** What is paid for may still take so long to arrive after the person stopped the batch. */
const GRACE_MS = 10_000;
const DEFAULT_MAX_RETRIES = 4;
const STOPPING =
  'foley: stopping; what is under way still comes in (once more leaves at once, and loses nothing)';

/** Speaks a batch to its end, as far as it comes. */
export async function performBatch(context: Context, batch: PreparedBatch): Promise<CommandResult> {
  const { outputDir } = batch.flags;
  const folder = await openFolder(context, batch);
  try {
    if (folder.garbled > 0) {
      const lines = folder.garbled === 1 ? 'a damaged line' : `${folder.garbled} damaged lines`;
      context.io.notice(`foley: passed over ${lines} of the journal in ${outputDir}`);
    }
    if (!folder.isCopied) {
      context.io.notice(
        `foley: keep ${path.join(outputDir, '.foley')}: what it knows could not be copied to the state folder`,
      );
    }
    const connection = await connectBatch(context, batch);
    try {
      return await speakAll({ context, batch, folder, connection });
    } finally {
      await connection.close();
    }
  } finally {
    await folder.close();
  }
}

async function openFolder(
  context: Context,
  { flags, redo, shard }: PreparedBatch,
): Promise<BatchFolder> {
  const { outputDir } = flags;
  await context.files.mkdir(outputDir, { recursive: true }).catch((error: unknown) => {
    throw outputFailure(outputDir, error, 'opening', '--output-dir');
  });
  const { state } = await context.paths();
  return openBatchFolder({
    ...context,
    outputDir,
    copies: path.join(state, 'batches'),
    shard,
    namespace: flags.idempotencyNamespace,
    redo: redo.digest,
  });
}

interface Parts {
  readonly context: Context;
  readonly batch: PreparedBatch;
  readonly folder: BatchFolder;
  readonly connection: BatchConnection;
}

async function speakAll(parts: Parts): Promise<CommandResult> {
  const { batch, connection, context } = parts;
  const { maxCredits, outputDir } = batch.flags;
  const session = sessionOf(parts);
  const estimator = await createEstimator(context, batch, connection);
  const overview = await overviewOf(session.survey(), estimator);
  checkEstimate(overview.estimatedCredits ?? undefined, maxCredits);
  const report = await openReport(context, batch);
  const screen = await openScreen(context, outputDir, overview);
  const sayStopping = (): void => screen.say(STOPPING);
  context.signal.addEventListener('abort', sayStopping, { once: true });
  try {
    const ending = await speak(parts, { session, estimator, report, screen });
    screen.close();
    const isComplete = ending.outcome.stopped === undefined;
    const unwritten = await failureIn(report?.publish(ending.tally, isComplete));
    const result = await concludeBatch(context, { ...ending, overview });
    return unwritten === undefined ? result : { ...result, failure: unwritten };
  } finally {
    context.signal.removeEventListener('abort', sayStopping);
    screen.close();
    await report?.abandon();
  }
}

/** A report that cannot be written takes nothing away from what was spoken, but is told. */
async function failureIn(work: Promise<void> | undefined): Promise<Failure | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
}

interface Means {
  readonly session: BatchSession;
  readonly estimator: Estimator;
  readonly report: Report | undefined;
  readonly screen: Screen;
}

async function speak(
  { batch, context, folder }: Parts,
  { estimator, report, screen, session }: Means,
): Promise<Pick<Ending, 'outcome' | 'tally'>> {
  const keeper = createTally();
  const run = session.speak({
    concurrency: batch.concurrency,
    budget: createCreditBudget(batch.flags.maxCredits ?? Number.POSITIVE_INFINITY),
    estimate: (item) => estimator.knownCredits(item),
    graceMs: GRACE_MS,
    signal: context.signal,
    onResult: async (result) => {
      keeper.add(result);
      if (result.creditsUsed !== null) estimator.learn(result.item, result.creditsUsed);
      await report?.add(result);
      await screen.show(result, keeper.tally);
    },
  });
  const outcome = await optimizingLater(() => run.ended);
  await estimator.keep();
  if (outcome.stopped === undefined) await folder.end();
  return { outcome, tally: keeper.tally };
}

function sessionOf({ batch, connection, context, folder }: Parts): BatchSession {
  const { flags, redo } = batch;
  return openSession({
    ...context,
    folder,
    client: connection.client,
    origin: connection.origin,
    maxRetries: context.globals.maxRetries ?? DEFAULT_MAX_RETRIES,
    idleTimeoutMs: context.globals.idleTimeout,
    items: () => batch.items(connection.voiceId),
    wishes: {
      outputDir: flags.outputDir,
      overwrite: flags.overwrite === true,
      retriesFailed: flags.retryFailed === true,
      isRedone: (id) => redo.ids.has(id),
      captions: batch.captions,
    },
  });
}

const GO_ON = 'Run the same command again to go on: nothing is billed twice.';

export interface Ending {
  readonly tally: Tally;
  readonly overview: Overview;
  readonly outcome: BatchOutcome;
}

/**
 * How a batch ends, whole or stopped on the way; what was not tried is said.
 * @throws what ended it, when that was the person, the reader of stdout, or a bug
 */
export async function concludeBatch(
  { globals, io, signal }: Context,
  { outcome, overview, tally }: Ending,
): Promise<CommandResult> {
  const { stopped } = outcome;
  const left = overview.items - tally.done - tally.failed - tally.skipped;
  if (stopped instanceof BrokenPipe) throw stopped;
  const { creditsUsed, done, failed, skipped } = tally;
  if (globals.json === true) {
    const summary = { done, failed, skipped, creditsUsed, notTried: left };
    await io.writeOut(`${toJson({ event: 'summary', ...summary })}\n`);
  }
  const counts = `${done} done, ${failed} failed, ${skipped} skipped`;
  const used = `${counted(creditsUsed, 'credit')} used`;
  if (signal.aborted) {
    io.notice(`foley: stopped; ${counts}, ${left} not tried, ${used}. ${GO_ON}`);
    signal.throwIfAborted();
  }
  if (stopped !== undefined && !(stopped instanceof Failure)) throw stopped;
  if (stopped !== undefined) {
    io.warn(`foley: ${left} not tried, since ${stopped.message}.`);
    io.warn(stopped.hint === undefined ? GO_ON : `${stopped.hint} ${GO_ON}`);
  }
  const isNothing = done + skipped === 0;
  const stop = stopped === undefined ? undefined : isNothing ? stopped.exit : 'partial';
  const exit = stop ?? exitOf(tally);
  const isTold = globals.json !== true || exit === 'ok';
  return {
    human: () => `${counts}, ${used}`,
    exit,
    ...(isTold ? {} : { failure: failureOf(stopped, tally, exit) }),
  };
}

/** For the line of a script; a person was told of each failure as it came. */
function failureOf(
  stopped: Failure | undefined,
  { failed, gravest }: Tally,
  exit: ExitName,
): Failure {
  if (stopped !== undefined) return reviseFailure(stopped, { exit });
  const items = failed === 1 ? 'an item' : `${failed} items`;
  return new Failure(`${items} of the batch failed`, {
    code: gravest?.code ?? 'internal',
    exit,
    hint: GO_ON,
    billed: 'unknown',
  });
}

/** Opens what `--report` asks for, before anything is sent; undefined where nothing does. */
export async function openReport(
  context: Context,
  { captions, flags }: PreparedBatch,
): Promise<Report | undefined> {
  const { outputDir, report: file } = flags;
  if (file === undefined) return undefined;
  if (!isPage(file)) {
    const { openJsonReport } = await import('../../src/batch/report/report.ts');
    return openJsonReport(file, outputDir, context);
  }
  const { openPageReport } = await import('../../src/batch/report/page-report.ts');
  return openPageReport({
    ...context,
    file,
    outputDir: path.resolve(context.cwd(), outputDir),
    title: `foley batch: ${outputDir}`,
    captions: captions?.formats ?? [],
    onTooLarge: () =>
      context.io.notice(
        `foley: ${file} would be too large for a browser; the sound of later items is left out of it`,
      ),
  });
}
