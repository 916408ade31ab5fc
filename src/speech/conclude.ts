import { reviseFailure } from '../api/revise-failure.ts';
import type { AudioAnswer } from '../api/speech.ts';
import type { ExitName } from '../contract/exit-codes.ts';
import type { Failure } from '../errors/failure.ts';
import type { PaidWork } from './paid-work.ts';
import type { Kept } from './rescue.ts';
import { isStored } from './stored-audio.ts';

/** What has been answered with audio has been paid for, unless the service refunded it. */
export function withCost(
  failure: Failure,
  answer: Pick<AudioAnswer, 'creditsUsed'> | undefined,
): Failure {
  if (answer === undefined || isRefunded(failure)) return failure;
  const isSure = answer.creditsUsed !== undefined || failure.billed === 'yes';
  return reviseFailure(failure, { billed: isSure ? 'yes' : 'unknown' });
}

function isRefunded({ billed, code }: Failure): boolean {
  return code === 'ERR_GENERATION_FAILED' && billed === 'no';
}

/** Notes how it ended, and gives the failure with what the person can do. */
export async function concludeFailed(
  failure: Failure,
  work: PaidWork,
  kept: Kept | undefined,
): Promise<Failure> {
  await work.failed(failure, kept);
  const again = howToAskAgain(failure, work);
  const hints = kept === undefined ? [failure.hint, again] : whereItIs(kept, failure, work, again);
  const hint = hints.filter((one) => one !== undefined).join(' ');
  if (hint === '') return failure;
  const isGone = kept === undefined && again === IS_LOST && EXITS_WHEN_KEPT.has(failure.exit);
  return reviseFailure(failure, { hint, ...(isGone ? { code: 'lost', exit: 'lost' } : {}) });
}

const IS_LOST = 'The audio was paid for and is lost.';
/** Our own side failed: the audio itself was good. */
const EXITS_WHEN_KEPT: ReadonlySet<ExitName> = new Set(['exists', 'output', 'state']);

/** Asking under the same key cannot cost a second time, but what was paid for may be lost. */
function howToAskAgain(failure: Failure, work: PaidWork): string | undefined {
  const { billed, code, exit } = failure;
  const { goesOn, isVerified, repeatWith } = work;
  if (isStored(failure)) {
    return `The audio is paid for and stored: run it again with ${repeatWith}, which fetches it.`;
  }
  // What the service refuses under this id it refuses again.
  if (goesOn && (exit === 'rejected' || code === 'session_limit_exceeded')) return undefined;
  if (goesOn && billed !== 'no' && exit !== 'lost') return howToGoOn(work);
  if (isVerified) return 'All of the audio had come; `foley recover` finds out where it is.';
  if (billed === 'unknown') {
    if (repeatWith === undefined) return undefined;
    return `To ask again without paying twice, add ${repeatWith}.`;
  }
  return billed === 'yes' && exit !== 'lost' ? IS_LOST : undefined;
}

/**
 * Notes that the person stopped it, who may have paid for it, and gives what there is to say.
 * @param lookAt where to see what became of it, when nothing can be asked for again
 */
export async function concludeStopped(
  work: PaidWork,
  kept: Kept | undefined,
  lookAt = 'it may have been paid for (`foley profile` shows the credits)',
): Promise<string> {
  if (kept === undefined) {
    const again =
      work.repeatWith === undefined
        ? lookAt
        : `to go on without paying twice, run it again with ${work.repeatWith}`;
    return `foley: stopped before the answer came; ${again}`;
  }
  await work.stopped(kept);
  const again = work.goesOn ? `. ${howToGoOn(work)}` : '';
  return `foley: stopped; what arrived is kept in ${kept.path}${again}`;
}

function howToGoOn({ repeatWith }: PaidWork): string {
  return `The same text with ${repeatWith} goes on without paying twice.`;
}

function whereItIs(
  { complete, id, path: file }: Kept,
  failure: Failure,
  { goesOn }: PaidWork,
  again: string | undefined,
): readonly (string | undefined)[] {
  if (complete && id !== undefined) {
    return [
      `The audio was paid for and is kept in ${file}; \`foley recover ${id}\` brings it back.`,
    ];
  }
  if (isRefunded(failure)) return [`What arrived is kept in ${file}.`, failure.hint];
  return isStored(failure) || (goesOn && again !== undefined)
    ? [`What arrived is kept in ${file}.`, again]
    : [`What arrived is kept in ${file}; asking again may cost again.`, failure.hint];
}
