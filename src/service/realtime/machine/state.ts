import type { Static } from 'typebox';
import type { RealtimeErrorCode } from '../../../contract/realtime/errors.ts';
import { REALTIME_ERRORS } from '../../../contract/realtime/errors.ts';
import type {
  RealtimeMode,
  RealtimeProtocol,
  FinishReason,
} from '../../../contract/realtime/protocols.ts';
import type { SERVER_MESSAGES, ServerMessage } from '../../../contract/realtime/server-messages.ts';
import type { FrameMessage } from '../../../realtime/frames.ts';
import * as machine from '../../../realtime/fsm.ts';
import type { StartMessage, Problem } from '../client-message.ts';

/**
 * What the service's side of a connection waits for: `authenticating` a browser ticket, `waiting` a `start`,
 * `starting` the driver, `speaking` text, or speech of what was accepted, `settling` the books before
 * `finish`. `ended` is final.
 */
type SessionPhase = 'authenticating' | 'waiting' | 'starting' | 'speaking' | 'settling' | 'ended';

/** A segment by which a client names it, of this connection or an earlier one. */
export interface KnownSegment {
  readonly segmentId: string;
  /** Numbers of its text events; none in simple mode. */
  readonly sequences: readonly number[];
  readonly text: string;
  readonly characters: number;
}

/** What an earlier connection of the request left of a segment. */
export interface EarlierSegment {
  readonly segmentId: string;
  readonly sequences: readonly number[];
  readonly textDigest: string;
  readonly units: number;
  /** Bytes of its audio, all of which was sent; undefined when it has to be said again. */
  readonly audioBytes: number | undefined;
}

/** A parameter that is not used as it was given. */
export interface RequestWarning {
  readonly code: string;
  readonly message: string;
  readonly path: string;
}

/** What is spoken; the rate and form of the samples of pcm. */
type SoundFields = Pick<
  Ready,
  'modelId' | 'voiceId' | 'format' | 'sampleRate' | 'channels' | 'bitDepth'
>;

/** What only one version's `ready` tells. */
export type ReadyFields =
  | Pick<Ready, 'protocolVersion' | 'effectiveRequest' | 'warnings'>
  | Pick<ReadyV2, 'provider' | 'effectiveRequest'>;

type Ready = Static<typeof SERVER_MESSAGES.v3.ready>;
type ReadyV2 = Static<typeof SERVER_MESSAGES.v2.ready>;

/** A request that may be spoken. */
export interface BegunRequest {
  readonly requestId: string;
  readonly mode: RealtimeMode;
  /** What `ready` and `audio` tell of it, in both versions. */
  readonly sound: SoundFields;
  readonly ready: ReadyFields;
  /** Sent behind `ready`, where that has no place for them. */
  readonly warnings: readonly RequestWarning[];
  /** Characters that a segment may have. */
  readonly segmentMaxCharacters: number;
  readonly earlier: readonly EarlierSegment[];
  /** Units of the segments before, and the number of the next audio. */
  readonly units: number;
  readonly nextAudio: number;
}

/** The request of a connection, as far as it has come. */
export interface OpenRequest extends BegunRequest {
  /** Text that is not committed yet. */
  readonly texts: readonly string[];
  readonly sequences: readonly number[];
  readonly characters: number;
  readonly lastSequence: number;
  /** Accepted and not yet spoken, in order; the first is being spoken. */
  readonly queue: readonly string[];
  /** No more text comes: simple after its commit, reliable after `stop`. */
  readonly isStopped: boolean;
  readonly stopEventId: string | undefined;
}

export interface SessionState {
  readonly protocol: RealtimeProtocol;
  readonly sessionId: string;
  readonly phase: SessionPhase;
  readonly request: OpenRequest | undefined;
  /** The `eventId` of the event that the driver works on. */
  readonly pendingEventId: string | undefined;
  /** What `reserve` was asked for. */
  readonly reserving: KnownSegment | undefined;
  readonly isDraining: boolean;
}

/** A connection before its beginning. */
export function newSession(protocol: RealtimeProtocol, sessionId: string): SessionState {
  return {
    protocol,
    sessionId,
    phase: 'authenticating',
    request: undefined,
    pendingEventId: undefined,
    reserving: undefined,
    isDraining: false,
  };
}

/** What is known of a request, for `request_status` (docs/api/realtime.md). */
export type StatusFields = Omit<Sent<'request_status'>, 'event' | 'inReplyTo'>;

export type SessionTimer = 'auth' | 'idle';

/** What happens to the service's side of a connection. */
export type SessionEvent =
  /** The handshake is through; without a quota a browser ticket is to come. */
  | { readonly type: 'opened'; readonly quota: number | undefined }
  /** A frame was read; `isRepeated`: its `eventId` was used before. */
  | { readonly type: 'frame'; readonly message: FrameMessage; readonly isRepeated: boolean }
  | { readonly type: 'unreadable'; readonly isText: boolean; readonly problem: string }
  /** Answers to `redeem`. */
  | { readonly type: 'redeemed'; readonly quota: number }
  | { readonly type: 'ticketRefused' }
  /** Answers to `begin`. */
  | { readonly type: 'begun'; readonly request: BegunRequest }
  | { readonly type: 'known'; readonly status: StatusFields }
  | { readonly type: 'notBegun'; readonly problem: Problem }
  /** Answers to `reserve`. */
  | { readonly type: 'reserved'; readonly segmentId: string; readonly units: number }
  | { readonly type: 'notReserved'; readonly problem: Problem }
  /** What comes of `speak`. */
  | { readonly type: 'audio'; readonly segmentId: string; readonly bytes: Uint8Array }
  | { readonly type: 'spoken'; readonly segmentId: string; readonly outcome: SpokenSegment }
  | { readonly type: 'unspeakable'; readonly segmentId: string }
  /** The answer to `complete`. */
  | { readonly type: 'settled' }
  /** Something broke: the speech, the books, or this program. */
  | { readonly type: 'failed'; readonly problem: Problem }
  | { readonly type: 'timer'; readonly name: SessionTimer }
  /** Nobody reads what is sent. */
  | { readonly type: 'stalled' }
  /** The service closes: what was accepted is finished. `isHurried`: it is not. */
  | { readonly type: 'drain'; readonly isHurried: boolean }
  | { readonly type: 'closed' };

interface SpokenSegment {
  readonly units: number;
  readonly audioBytes: number;
  readonly quotaRemaining: number;
  /** What the request was charged so far. */
  readonly creditsUsed: number;
}

type Stamp = 'eventId' | 'traceId' | 'timestamp';
type Unstamped<Message> = Message extends ServerMessage ? Omit<Message, Stamp> : never;
/** A message as the machine makes it; the driver adds what every message has. */
export type Outgoing = Unstamped<ServerMessage>;
type Sent<Event extends Outgoing['event']> = Extract<Outgoing, { event: Event }>;

/** What the driver does for the machine. */
export type SessionEffect =
  | { readonly type: 'send'; readonly message: Outgoing }
  | { readonly type: 'redeem'; readonly token: string }
  | { readonly type: 'begin'; readonly start: StartMessage }
  /** Sets aside what a segment costs; one that is known is taken up again. */
  | { readonly type: 'reserve'; readonly segment: KnownSegment }
  | { readonly type: 'speak'; readonly segmentId: string }
  /** The request is done. */
  | { readonly type: 'complete' }
  /** The request ends before it is done; what is being spoken is stopped. */
  | { readonly type: 'abandon'; readonly isForGood: boolean }
  | { readonly type: 'startTimer'; readonly name: SessionTimer; readonly afterMs: number }
  | { readonly type: 'stopTimer'; readonly name: SessionTimer }
  | { readonly type: 'close'; readonly code: number };

/** What comes of an event. */
export type Step = machine.Step<SessionState, SessionEffect>;

/** A part of a transition. */
export type Move = machine.Move<SessionState, SessionEffect>;

export const { change, emit, inTurn, run } = machine.movesOf<SessionState, SessionEffect>();

export function changeRequest(part: Partial<OpenRequest>): Move {
  return (state) => ({
    state:
      state.request === undefined ? state : { ...state, request: { ...state.request, ...part } },
    effects: [],
  });
}

export function send(message: Outgoing): Move {
  return emit({ type: 'send', message });
}

/** How long nothing may come of a client that has nothing to wait for. */
const IDLE_MS = 120_000;

/** The client has shown that it is there, or the service was at work until now. */
export const beginIdle: Move = emit({ type: 'startTimer', name: 'idle', afterMs: IDLE_MS });

/**
 * Tells of a problem (docs/api/realtime.md#errors). A terminal one ends the request, and the connection behind the
 * event; `abandon` gives back what was set aside for it.
 */
export function fail(problem: Problem, eventId?: unknown): Move {
  const { terminal } = REALTIME_ERRORS[problem.code];
  return inTurn(tell(problem, eventId, terminal), ...(terminal ? [leaveFor(problem)] : []));
}

/** Reports a problem of one event, whatever its code: what was accepted before is spoken. */
export function reject(problem: Problem, eventId?: unknown): Move {
  return tell(problem, eventId, false);
}

/** The same for a client that can go on neither here nor on another connection. */
export function failTerminally(problem: Problem, eventId?: unknown, closeCode?: number): Move {
  return inTurn(tell(problem, eventId, true), leaveFor(problem, closeCode));
}

function tell({ code, message, path, stage }: Problem, eventId: unknown, terminal: boolean): Move {
  return (state) => {
    const { request, sessionId } = state;
    const error = send({
      event: 'error',
      ...replyTo(eventId),
      ...(request === undefined ? {} : { requestId: request.requestId }),
      sessionId,
      code,
      message,
      retryable: REALTIME_ERRORS[code].retryable,
      terminal,
      ...(stage === undefined ? {} : { stage }),
      ...(path === undefined ? {} : { path }),
    });
    return run(state, error);
  };
}

/** A request that became too long can never be spoken whole; any other can be tried again. */
function leaveFor({ code }: Problem, closeCode = closeCodeOf(code)): Move {
  return inTurn(abandon(code === 'session_limit_exceeded'), end(closeCode));
}

/** Gives the request of the connection up, if it has one. */
export function abandon(isForGood = false): Move {
  return (state) =>
    run(state, ...(hasRequest(state) ? [emit({ type: 'abandon', isForGood })] : []));
}

/** Whether a request is the connection's to end. */
export function hasRequest({ phase }: SessionState): boolean {
  return phase === 'speaking' || phase === 'settling';
}

/** The last message of a session that says itself why it is over (docs/api/realtime.md#finish-reasons). */
export function finish(reason: FinishReason, code: number): Move {
  return (state) => {
    const { request, sessionId } = state;
    if (request === undefined) return run(state, end(code));
    const { requestId, stopEventId } = request;
    const units = unitsWithout(request, request.queue);
    const reply = reason === 'completed' ? replyTo(stopEventId) : {};
    return run(
      state,
      send({ event: 'finish', ...reply, requestId, sessionId, reason, units }),
      end(code),
    );
  };
}

/** Units of a request but for some of its segments. */
export function unitsWithout({ earlier, units }: OpenRequest, left: readonly string[]): number {
  const others = earlier.filter(({ segmentId }) => left.includes(segmentId));
  return units - others.reduce((sum, one) => sum + one.units, 0);
}

/** The end: the connection is closed, and no timer left. */
export function end(code: number): Move {
  return (state) => ({
    state: { ...state, phase: 'ended', request: undefined, reserving: undefined },
    effects: [
      { type: 'stopTimer', name: 'auth' },
      { type: 'stopTimer', name: 'idle' },
      { type: 'close', code },
    ],
  });
}

export function replyTo(eventId: unknown): { readonly inReplyTo?: string } {
  return typeof eventId === 'string' ? { inReplyTo: eventId } : {};
}

/** The close codes that the service sends of itself (docs/api/realtime.md#errors; the numbers are those of the WebSocket). */
export const CLOSE = {
  done: 1000,
  textFrame: 1003,
  unreadable: 1007,
  refused: 1008,
  failed: 1011,
  restarts: 1012,
  tooBusy: 1013,
} as const;

/** With what a connection is closed behind a terminal error. */
function closeCodeOf(code: RealtimeErrorCode): number {
  if (code === 'invalid_messagepack') return CLOSE.unreadable;
  if (code === 'connection_closed') return CLOSE.done;
  if (code === 'internal_error' || code === 'billing_failed' || code === 'generation_failed') {
    return CLOSE.failed;
  }
  return REALTIME_ERRORS[code].retryable ? CLOSE.tooBusy : CLOSE.refused;
}
