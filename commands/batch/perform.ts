import path from 'node:path';
import type { BatchFolder } from '../../src/batch/journal/batch-folder.ts';
import { openBatchFolder } from '../../src/batch/journal/batch-folder.ts';
import { createCreditBudget } from '../../src/batch/run/credit-budget.ts';
import { optimizingLater } from '../../src/batch/run/optimize-later.ts';
import type { Report } from '../../src/batch/report/report.ts';
import { createTally } from '../../src/batch/run/tally.ts';
import type { BatchSession } from '../../src/batch/session.ts';
import { openSession } from '../../src/batch/session.ts';
import type { Context } from '../../src/cli/context.ts';
import type { CommandResult } from '../../src/cli/result.ts';
import { Failure } from '../../src/errors/failure.ts';
import { outputFailure } from '../../src/files/output-failures.ts';
import type { BatchConnection } from './connect-batch.ts';
import { connectBatch } from './connect-batch.ts';
import type { Ending } from './conclude.ts';
import { concludeBatch } from './conclude.ts';
import type { Estimator } from './estimate.ts';
import { checkEstimate, createEstimator } from './estimate.ts';
import { overviewOf } from './overview.ts';
import type { PreparedBatch } from './prepare.ts';
import { openReport } from './open-report.ts';
import type { Screen } from './screen.ts';
import { openScreen } from './screen.ts';

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
