import { reviseFailure, STORAGE_FULL_HINT } from '../api/failures.ts';
import { closeCodeInfo } from '../contract/realtime/errors.ts';
import { streamErrorExit } from '../contract/exit-codes.ts';
import type { ExitName } from '../contract/exit-codes.ts';
import type { Billed } from '../errors/failure.ts';
import { Failure } from '../errors/failure.ts';
import type { LiveEnding, LiveState } from './state.ts';

/** Returns the outcome of a completed request: success, or an error if the whole text produced no audio. */
export function completedEnding(state: LiveState): LiveEnding {
  const { emptySegments, hasDelivered, plan, reportedBytes, segmentCount } = state;
  const isEmpty = plan.mode === 'simple' ? reportedBytes === 0 : emptySegments === segmentCount;
  if (isEmpty && !hasDelivered) {
    return errorEnding(
      state,
      'empty_segment',
      'The text contains nothing that this voice can speak',
    );
  }
  return { exit: 'ok', code: 'completed', message: 'completed', billed: 'yes' };
}

/** Returns the outcome of a conversation that ends with an `error` event from the service. */
export function errorEnding(state: LiveState, code: string, message: string): LiveEnding {
  const known = streamErrorExit(code);
  const { connection, emptySegments, hasDelivered, segmentCount } = state;
  // Only for the first text is it certain that no earlier text was billed.
  const isFirstText = !hasDelivered && connection === 1 && segmentCount - emptySegments <= 1;
  const isFree = known !== undefined && REFUSALS.has(known) && isFirstText;
  return {
    exit: code === 'server_draining' ? 'service' : (known ?? 'rejected'),
    code,
    message: message === '' ? `the service reports ${code}` : `${message} (${code})`,
    billed: isFree ? 'no' : billedSoFar(state),
  };
}

/** Returns the outcome of a conversation that foley's own service ended because its disk is full. */
export function storageEnding(state: LiveState, message: string): LiveEnding {
  // The service refunds the text that it was speaking, but not the segments before.
  const billed = state.plan.mode === 'simple' ? 'no' : billedSoFar(state);
  return { exit: 'service', code: 'ERR_STORAGE_FULL', message, billed };
}

/** Exits for errors that the service reports before it bills a request (docs/api/errors.md#idempotency). */
export const REFUSALS: ReadonlySet<ExitName> = new Set([
  'auth',
  'credits',
  'rateLimited',
  'rejected',
]);

/** Returns the outcome of a conversation whose connection was closed without an `error` event. */
export function closeEnding(state: LiveState, code: number): LiveEnding {
  const { meaning, exit } = closeCodeInfo(code) ?? { meaning: 'unknown', exit: 'badAnswer' };
  return {
    exit,
    code: exit === 'network' ? 'network' : 'bad_answer',
    message: `the connection was closed with code ${code} (${meaning})`,
    billed: billedSoFar(state),
  };
}

/** Returns the outcome of a conversation in which a message from the service violates the protocol. */
export function violation(state: LiveState, problem: string): LiveEnding {
  const message = `the service broke the protocol: ${problem}`;
  return { exit: 'badAnswer', code: 'bad_answer', message, billed: billedSoFar(state) };
}

export function timeoutEnding(state: LiveState, message: string): LiveEnding {
  return { exit: 'network', code: 'timeout', message, billed: billedSoFar(state) };
}

/**
 * Returns the outcome of a conversation whose audio was billed, but cannot be downloaded.
 * @param segmentIds ids of the segments whose audio is lost; empty if the segments are unknown
 */
export function lost(segmentIds: readonly string[] = []): LiveEnding {
  const isNamed = segmentIds.length > 0;
  const what = isNamed ? `the audio of ${segmentIds.join(', ')}` : 'the missing audio';
  const message = `${what} was billed and is not available`;
  const ending = { exit: 'lost', code: 'lost', message, billed: 'yes' } as const;
  return isNamed ? { ...ending, lostSegments: segmentIds } : ending;
}

/**
 * Returns the outcome of a command whose request id belongs to an earlier, billed request. Its text may be another one:
 * the service compares only the settings.
 */
export function completedBefore(requestId: string): LiveEnding {
  const message = `the request ${requestId} was billed before, and the service sends its audio only once; nothing was charged now. To speak this text, use another --request-id`;
  return { exit: 'lost', code: 'lost', message, billed: 'yes' };
}

/** Returns the outcome after a failed connection. The outcome says whether text may have been billed. */
export function afterDisconnect(state: LiveState, ending: LiveEnding): LiveEnding {
  if (ending.exit === 'network' && state.isBillable && !FINAL_CODES.has(ending.code)) {
    return { ...ending, exit: 'unknownOutcome', code: 'unknown_outcome', billed: 'unknown' };
  }
  // A rejected handshake is free, but text from earlier connections may have been billed.
  const billed = billedSoFar(state);
  return { ...ending, billed: billed === 'no' ? ending.billed : billed };
}

// The exit code stays the same even if text may have been billed.
const FINAL_CODES: ReadonlySet<string> = new Set(['connection_closed', 'client_backpressure']);

/** Returns whether text was billed: `yes` if audio arrived, `unknown` if only text was sent, else `no`. */
export function billedSoFar({ early, hasDelivered, isBillable }: LiveState): Billed {
  if (hasDelivered || early.length > 0) return 'yes';
  return isBillable ? 'unknown' : 'no';
}

/** Returns the outcome after a failed HTTP request or handshake. */
export function failureEnding(failure: Failure): LiveEnding {
  const { billed, code, exit, message } = failure;
  return { exit, code, message, billed, cause: failure };
}

/** Converts the outcome of a conversation to the Failure that the command throws. */
export function endingFailure(ending: LiveEnding, requestId: string): Failure {
  const { billed, cause, code, exit, lostSegments, message } = ending;
  const hint = HINTS_BY_CODE[code] ?? HINTS_BY_EXIT[exit];
  if (cause !== undefined) {
    return reviseFailure(cause, { billed, code, exit, ...(cause.exit === exit ? {} : { hint }) });
  }
  const details = lostSegments === undefined ? {} : { details: { segments: lostSegments } };
  return new Failure(message, { billed, code, exit, hint, requestId, ...details });
}

const HINTS_BY_EXIT: Partial<Record<string, string>> = {
  auth: 'Check FOLEY_API_KEY or --api-key-file, or run `foley auth login`.',
  credits: 'Run `foley profile` to see the credits of the account.',
  rateLimited: 'Wait, then try again.',
  service: 'Try again later.',
  network: 'Check the network, then try again.',
  badAnswer: 'If this error happens again, report the request id to the service.',
  unknownOutcome: 'Run `foley live status` to see the state of the request.',
};

const HINTS_BY_CODE: Partial<Record<string, string>> = {
  ERR_STORAGE_FULL: STORAGE_FULL_HINT,
  empty_segment:
    'Add words: emoji and punctuation alone have no sound. Or choose a voice that speaks the language of the text: `foley voices list --language CODE`.',
  voice_not_found: 'Run `foley voices list` to see the voices.',
  model_not_found: 'Run `foley live capabilities` to see the models.',
  unsupported_parameter: 'Run `foley live capabilities` to see what the model accepts.',
  idempotency_conflict: 'Use another --request-id, or send exactly the text of that request.',
};
