import { reviseFailure } from '../api/failures.ts';
import { closeCodeFacts } from '../contract/realtime/errors.ts';
import { streamErrorExit } from '../contract/exit-codes.ts';
import type { ExitName } from '../contract/exit-codes.ts';
import type { Billed } from '../errors/failure.ts';
import { Failure } from '../errors/failure.ts';
import type { Ending, LiveState } from './state.ts';

/** The ending of a request that the service completed: success, unless it reports audio of 0 bytes for all the text. */
export function completedEnding(state: LiveState): Ending {
  if (isWithoutAudio(state)) {
    return errorEnding(state, 'empty_segment', 'The text has nothing that this voice can say');
  }
  return { exit: 'ok', code: 'completed', message: 'everything was spoken', billed: 'yes' };
}

function isWithoutAudio(state: LiveState): boolean {
  const { emptySegments, hasHeard, plan, reportedBytes, segmentCount } = state;
  if (hasHeard) return false;
  return plan.mode === 'simple' ? reportedBytes === 0 : emptySegments === segmentCount;
}

/** An `error` event: every code has its exit. */
export function errorEnding(state: LiveState, code: string, message: string): Ending {
  const known = streamErrorExit(code);
  const exit = code === 'server_draining' ? 'service' : (known ?? 'rejected');
  const told = message === '' ? `the service reports ${code}` : `${message} (${code})`;
  const isFree = known !== undefined && REFUSALS.has(known) && isFirstRequest(state);
  return { exit, code, message: told, billed: isFree ? 'no' : billedSoFar(state) };
}

/** Exits of errors that a service reports before it charges anything (docs/api/errors.md#idempotency). */
const REFUSALS: ReadonlySet<ExitName> = new Set(['auth', 'credits', 'rateLimited', 'rejected']);

/** Whether a charge for other text than the refused one is impossible. */
function isFirstRequest({ connection, emptySegments, hasHeard, segmentCount }: LiveState): boolean {
  return !hasHeard && connection === 1 && segmentCount - emptySegments <= 1;
}

/** A connection that was closed without a word of why. */
export function closeEnding(state: LiveState, code: number): Ending {
  const { meaning, exit } = closeCodeFacts(code) ?? {
    meaning: 'no code of ours',
    exit: 'badAnswer',
  };
  const message = `the connection was closed with ${code} (${meaning})`;
  return {
    exit,
    code: exit === 'network' ? 'network' : 'bad_answer',
    message,
    billed: billedSoFar(state),
  };
}

/** What the service sent cannot be used. */
export function violation(state: LiveState, problem: string): Ending {
  const message = `the service broke the protocol: ${problem}`;
  return { exit: 'badAnswer', code: 'bad_answer', message, billed: billedSoFar(state) };
}

/** The service says nothing more. */
export function silent(state: LiveState, what: string): Ending {
  return { exit: 'network', code: 'timeout', message: what, billed: billedSoFar(state) };
}

/** Paid for, and not to be had again. */
export function lost(segmentIds: readonly string[] = []): Ending {
  const isNamed = segmentIds.length > 0;
  const what = isNamed ? `the audio of ${segmentIds.join(', ')}` : 'the audio that did not come';
  const message = `${what} is paid for and cannot be had again`;
  const ending = { exit: 'lost', code: 'lost', message, billed: 'yes' } as const;
  return isNamed ? { ...ending, lostSegments: segmentIds } : ending;
}

/** A failure of the line when something was asked for and not heard: nobody knows what it cost. */
export function afterTheLine(state: LiveState, ending: Ending): Ending {
  // A handshake that is refused says nothing of what was asked for before it.
  const billed = billedSoFar(state);
  return ending.exit === 'network' && state.hasAsked && !CODED.has(ending.code)
    ? { ...ending, exit: 'unknownOutcome', code: 'unknown_outcome', billed: 'unknown' }
    : { ...ending, billed: billed === 'no' ? ending.billed : billed };
}

/** Codes of the service whose exit the contract gives. */
const CODED: ReadonlySet<string> = new Set(['connection_closed', 'client_backpressure']);

/** Whether anything was charged: with the first audio it is. */
export function billedSoFar(state: LiveState): Billed {
  if (state.hasHeard) return 'yes';
  return state.hasAsked ? 'unknown' : 'no';
}

/** A failure over HTTP, as the machine takes it. */
export function failureEnding(failure: Failure): Ending {
  const { billed, code, exit, message } = failure;
  return { exit, code, message, billed, cause: failure };
}

/**
 * What the person is told of a conversation that did not end well.
 * @param requestId under which the service knows it
 */
export function endingFailure(ending: Ending, requestId: string): Failure {
  const { billed, cause, code, exit, lostSegments, message } = ending;
  const details = lostSegments === undefined ? {} : { details: { segments: lostSegments } };
  const hint = hintOf(ending);
  if (cause !== undefined) {
    return reviseFailure(cause, { billed, code, exit, ...(cause.exit === exit ? {} : { hint }) });
  }
  return new Failure(message, { billed, code, exit, hint, requestId, ...details });
}

function hintOf({ code, exit }: Ending): string | undefined {
  return BY_CODE.get(code) ?? BY_EXIT.get(exit);
}

const BY_EXIT: ReadonlyMap<string, string> = new Map(
  Object.entries({
    auth: 'Check FOLEY_API_KEY or --api-key-file, or run `foley auth login`.',
    credits: '`foley profile` shows what is left.',
    rateLimited: 'Wait a little, or begin another conversation.',
    service: 'Try again later.',
    network: 'Check the network, and try again.',
    badAnswer: 'If it happens again, ask the service, with the request id.',
    unknownOutcome: '`foley live status` tells what became of it.',
  }),
);

const BY_CODE: ReadonlyMap<string, string> = new Map(
  Object.entries({
    empty_segment: 'Give it words: emoji and punctuation alone have no sound.',
    voice_not_found: '`foley voices list` shows the voices.',
    model_not_found: '`foley live capabilities` shows the models.',
    unsupported_parameter: '`foley live capabilities` shows what the model takes.',
    idempotency_conflict: 'Use another --request-id, or say exactly what was said then.',
  }),
);
