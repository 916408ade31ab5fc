import { closeCodeFacts } from '../contract/realtime/close-codes.ts';
import { streamErrorExit } from '../contract/stream-errors.ts';
import type { Billed } from '../errors/failure.ts';
import type { Ending } from './events.ts';
import type { LiveState } from './state.ts';

/** Everything was said and heard. */
export function wellEnded(): Ending {
  return { exit: 'ok', code: 'completed', message: 'everything was spoken', billed: 'yes' };
}

/** An `error` event: every code has its exit (contract, section 10). */
export function errorEnding(state: LiveState, code: string, message: string): Ending {
  const exit = code === 'server_draining' ? 'service' : (streamErrorExit(code) ?? 'rejected');
  const told = message === '' ? `the service reports ${code}` : `${message} (${code})`;
  return { exit, code, message: told, billed: billedSoFar(state) };
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
