import type { Static } from 'typebox';
import type { RealtimeErrorCode } from '../../../contract/realtime/errors.ts';
import { REALTIME_ERRORS } from '../../../contract/realtime/errors.ts';
import type {
  RealtimeMode,
  RealtimeProtocol,
  FinishReason,
} from '../../../contract/realtime/protocols.ts';
import type {
  AudioFormatFields,
  SERVER_MESSAGES,
  ServerMessage,
} from '../../../contract/realtime/server-messages.ts';
import type { FrameMessage } from '../../../realtime/frames.ts';
import * as machine from '../../../realtime/fsm.ts';
import type { StartMessage, Problem } from '../client-message.ts';

// docs/protocol.md#the-services-states
type SessionPhase = 'authenticating' | 'waiting' | 'starting' | 'speaking' | 'settling' | 'ended';

export interface CommittedSegment {
  readonly segmentId: string;
  /** Sequence numbers of the segment's `text` messages; empty in `simple` mode. */
  readonly sequences: readonly number[];
  readonly text: string;
  readonly characters: number;
}

/** A segment that was accepted earlier, on this connection or on an earlier connection of the request. */
export interface EarlierSegment {
  readonly segmentId: string;
  readonly sequences: readonly number[];
  readonly textDigest: string;
  readonly units: number;
  /** Size of the complete audio in bytes; `undefined` if the audio was not sent completely. */
  readonly audioBytes: number | undefined;
}

/** A request parameter that the service changed or ignored. */
export interface RequestWarning {
  readonly code: string;
  readonly message: string;
  readonly path: string;
}

/** The fields of the message `ready` that differ between the protocol versions. */
export type ReadyFields =
  | Pick<Ready, 'protocolVersion' | 'effectiveRequest' | 'warnings'>
  | Pick<Static<typeof SERVER_MESSAGES.v2.ready>, 'provider' | 'effectiveRequest'>;

type Ready = Static<typeof SERVER_MESSAGES.v3.ready>;

export interface StartedRequest {
  readonly requestId: string;
  readonly mode: RealtimeMode;
  readonly modelId: string;
  readonly voiceId: string;
  readonly audioFormat: AudioFormatFields;
  readonly ready: ReadyFields;
  /** Warnings to send as separate messages after `ready`; empty if `ready` itself contains them. */
  readonly warnings: readonly RequestWarning[];
  readonly segmentMaxCharacters: number;
  readonly earlier: readonly EarlierSegment[];
  /** Billable units of the segments that were spoken on earlier connections or accepted on this one. */
  readonly units: number;
  /** Sequence number of the next audio message. */
  readonly nextAudio: number;
}

export interface OpenRequest extends StartedRequest {
  /** Texts from the client that do not belong to an accepted segment yet. */
  readonly texts: readonly string[];
  readonly sequences: readonly number[];
  readonly characters: number;
  readonly lastSequence: number;
  /** Ids of the accepted segments that are not completely spoken, in order. The first one is being spoken. */
  readonly queue: readonly string[];
  /** True after the last input: an `input` with `commit` in `simple` mode, or a `stop` in `reliable` mode. */
  readonly isStopped: boolean;
  readonly stopEventId: string | undefined;
}

export interface SessionState {
  readonly protocol: RealtimeProtocol;
  readonly sessionId: string;
  readonly phase: SessionPhase;
  readonly request: OpenRequest | undefined;
  /** Event id of the client message that is still being processed; `undefined` if there is none. */
  readonly pendingEventId: string | undefined;
  readonly reserving: CommittedSegment | undefined;
  readonly isDraining: boolean;
}

/** Returns the initial state of a connection. */
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

export type StatusFields = Omit<Sent<'request_status'>, 'event' | 'inReplyTo'>;

export type SessionTimer = 'auth' | 'idle';

export type SessionEvent =
  /** The handshake succeeded. If `quota` is undefined, the client must send a browser ticket. */
  | { readonly type: 'opened'; readonly quota: number | undefined }
  /** A message arrived. `isRepeated` is true if an earlier message had the same `eventId`. */
  | { readonly type: 'frame'; readonly message: FrameMessage; readonly isRepeated: boolean }
  | { readonly type: 'unreadable'; readonly isText: boolean; readonly problem: string }
  // Results of the effects `redeem`, `start`, `reserve`, `speak` and `complete` follow.
  | { readonly type: 'redeemed'; readonly quota: number }
  | { readonly type: 'ticketRefused' }
  | { readonly type: 'started'; readonly request: StartedRequest }
  | { readonly type: 'known'; readonly status: StatusFields }
  | { readonly type: 'notStarted'; readonly problem: Problem }
  | { readonly type: 'reserved'; readonly segmentId: string; readonly units: number }
  | { readonly type: 'notReserved'; readonly problem: Problem }
  | { readonly type: 'audio'; readonly segmentId: string; readonly bytes: Uint8Array }
  | {
      readonly type: 'spoken';
      readonly segmentId: string;
      readonly outcome: {
        readonly units: number;
        readonly audioBytes: number;
        readonly quotaRemaining: number;
        /** Credits charged for the request so far. */
        readonly creditsUsed: number;
      };
      readonly unspoken?: Unspoken;
    }
  | { readonly type: 'unspeakable'; readonly segmentId: string; readonly unspoken?: Unspoken }
  | { readonly type: 'settled' }
  /** The engine, the database or the service failed. */
  | { readonly type: 'failed'; readonly problem: Problem }
  | { readonly type: 'timer'; readonly name: SessionTimer }
  /** The client has stopped reading its messages. */
  | { readonly type: 'stalled' }
  /** The service is closing. Accepted segments are finished unless `isForced`. */
  | { readonly type: 'drain'; readonly isForced: boolean }
  | { readonly type: 'closed' };

type Unspoken = string | undefined;

type Unstamped<Message> = Message extends ServerMessage
  ? Omit<Message, 'eventId' | 'traceId' | 'timestamp'>
  : never;
/** A message to the client. Event id, trace id and time are added when it is sent. */
export type Outgoing = Unstamped<ServerMessage>;
type Sent<Event extends Outgoing['event']> = Extract<Outgoing, { event: Event }>;

/** A side effect that the state machine requests and `Session` performs. */
export type SessionEffect =
  | { readonly type: 'send'; readonly message: Outgoing }
  | { readonly type: 'redeem'; readonly token: string }
  | { readonly type: 'start'; readonly start: StartMessage }
  | { readonly type: 'reserve'; readonly segment: CommittedSegment }
  | { readonly type: 'speak'; readonly segmentId: string }
  | { readonly type: 'complete' }
  /** Aborts the request. If `isFinal`, the client cannot retry the request. */
  | { readonly type: 'abandon'; readonly isFinal: boolean }
  | { readonly type: 'startTimer'; readonly name: SessionTimer; readonly afterMs: number }
  | { readonly type: 'stopTimer'; readonly name: SessionTimer }
  | { readonly type: 'close'; readonly code: number };

export type SessionStep = machine.Step<SessionState, SessionEffect>;
export type SessionReducer = machine.Reducer<SessionState, SessionEffect>;

export const { emit, patch, run } = machine.fsm<SessionState, SessionEffect>();

export function patchRequest(part: Partial<OpenRequest>): SessionReducer {
  return ({ request }) =>
    request === undefined ? [] : [patch({ request: { ...request, ...part } })];
}

export function send(message: Outgoing): SessionReducer {
  return emit({ type: 'send', message });
}

// Maximum time without messages from the client, while the service has nothing to speak.
const IDLE_TIMEOUT_MS = 120_000;

/** Restarts the idle timer. */
export const restartIdle: SessionReducer = emit({
  type: 'startTimer',
  name: 'idle',
  afterMs: IDLE_TIMEOUT_MS,
});

/**
 * Sends an `error` (docs/api/realtime.md#errors). A terminal error also ends the request, refunds reserved credits and
 * closes the connection.
 */
export function fail(problem: Problem, eventId?: unknown): SessionReducer {
  const { terminal } = REALTIME_ERRORS[problem.code];
  return () => [sendError(problem, eventId, terminal), ...(terminal ? [leave(problem)] : [])];
}

/** Sends a non-terminal `error` about one message. Accepted segments are still spoken. */
export function reject(problem: Problem, eventId?: unknown): SessionReducer {
  return sendError(problem, eventId, false);
}

/** Sends an `error` and closes the connection, even if the error code alone would not end the connection. */
export function failTerminally(problem: Problem, closeCode: number): SessionReducer {
  return () => [sendError(problem, undefined, true), leave(problem, closeCode)];
}

function sendError(
  { code, message, path, stage }: Problem,
  eventId: unknown,
  terminal: boolean,
): SessionReducer {
  return ({ request, sessionId }) => [
    send({
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
    }),
  ];
}

// A request cannot be retried after `session_limit_exceeded`.
function leave({ code }: Problem, closeCode = closeCodeOf(code)): SessionReducer {
  return () => [abandon(code === 'session_limit_exceeded'), end(closeCode)];
}

/** Aborts the request, if the connection has one. If `isFinal`, the client cannot retry the request. */
export function abandon(isFinal = false): SessionReducer {
  return (state) => (hasRequest(state) ? [emit({ type: 'abandon', isFinal })] : []);
}

/** Returns whether the connection has an unfinished request. */
export function hasRequest({ phase }: SessionState): boolean {
  return phase === 'speaking' || phase === 'settling';
}

/** Sends `finish` (docs/api/realtime.md#finish-reasons) and closes the connection. */
export function finish(reason: FinishReason, code: number): SessionReducer {
  return ({ request, sessionId }) => {
    if (request === undefined) return [end(code)];
    const { requestId, stopEventId } = request;
    const units = unitsWithout(request, request.queue);
    const reply = reason === 'completed' ? replyTo(stopEventId) : {};
    return [send({ event: 'finish', ...reply, requestId, sessionId, reason, units }), end(code)];
  };
}

/** Returns the billable units of a request, except those of the given segments. */
export function unitsWithout(
  { earlier, units }: OpenRequest,
  segmentIds: readonly string[],
): number {
  const others = earlier.filter(({ segmentId }) => segmentIds.includes(segmentId));
  return units - others.reduce((sum, one) => sum + one.units, 0);
}

/** Ends the session: stops the timers and closes the connection. */
export function end(code: number): SessionReducer {
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

export const CLOSE = {
  done: 1000,
  textFrame: 1003,
  unreadable: 1007,
  refused: 1008,
  failed: 1011,
  restarts: 1012,
  tooBusy: 1013,
} as const;

function closeCodeOf(code: RealtimeErrorCode): number {
  if (code === 'invalid_messagepack') return CLOSE.unreadable;
  if (code === 'connection_closed') return CLOSE.done;
  if (code === 'internal_error' || code === 'billing_failed' || code === 'generation_failed') {
    return CLOSE.failed;
  }
  return REALTIME_ERRORS[code].retryable ? CLOSE.tooBusy : CLOSE.refused;
}
