import { reviseFailure } from '../../src/api/revise-failure.ts';
import type { BatchOutcome } from '../../src/batch/run/run-batch.ts';
import type { Tally } from '../../src/batch/run/tally.ts';
import { exitOf } from '../../src/batch/run/tally.ts';
import type { Context } from '../../src/cli/context.ts';
import { toJson } from '../../src/text/display.ts';
import type { CommandResult } from '../../src/cli/result.ts';
import { ReaderGone } from '../../src/cli/streams.ts';
import type { ExitName } from '../../src/contract/exit-codes.ts';
import { Failure } from '../../src/errors/failure.ts';
import { counted } from '../../src/text/counted.ts';
import type { Overview } from './overview.ts';

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
  if (stopped instanceof ReaderGone) throw stopped;
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
function failureOf(stopped: Failure | undefined, { failed }: Tally, exit: ExitName): Failure {
  if (stopped !== undefined) return reviseFailure(stopped, { exit });
  const items = failed === 1 ? 'an item' : `${failed} items`;
  return new Failure(`${items} of the batch failed`, {
    code: 'partial',
    exit,
    hint: GO_ON,
    billed: 'unknown',
  });
}
