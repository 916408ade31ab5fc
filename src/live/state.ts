import type { ExitName } from '../contract/exit-codes.ts';
import type { Start, StartV2, ClientMessage } from '../contract/realtime/client-messages.ts';
import { SESSION_MAX_UNITS } from '../contract/realtime/limits.ts';
import type { RealtimeMode, RealtimeProtocol } from '../contract/realtime/protocols.ts';
import type { Billed, Failure } from '../errors/failure.ts';
import * as machine from '../realtime/fsm.ts';
import type { ReceivedFrame, RequestStatus, SegmentStatusMessage } from './server-message.ts';

/** The parameters of a conversation, which stay the same for its whole duration. */
export interface LivePlan {
  readonly protocol: RealtimeProtocol;
  readonly mode: RealtimeMode;
  /** The `request` object of the `start` message, with the field names of protocol v3. */
  readonly request: Start['request'] | StartV2['request'];
  /** The request id, 1 to 128 characters long. */
  readonly requestId: string;
  /** True if the user chose the request id. If the request fails, foley then does not repeat it with another id. */
  readonly hasOwnRequestId?: boolean;
  /** True to start the request again if the service reports that a request with this id has failed. */
  readonly retryFailed?: boolean;
  /** A ticket that a web page uses to authenticate, in place of an API key. */
  readonly ticket?: string;
  /** Maximum number of reconnections in a row. New audio resets the count. */
  readonly maxRetries: number;
  /** Maximum number of billed units in one session; default: the limit of the API. */
  readonly sessionMaxUnits?: number;
  readonly timeouts: Timeouts;
}

// Timeouts and intervals in milliseconds.
interface Timeouts {
  // Maximum wait for each of: the open socket, `authenticated`, `ready`.
  readonly replyMs: number;
  readonly silenceMs: number;
  // Maximum time without a message other than `pong`, while the service has text to speak.
  readonly progressMs: number;
  readonly pingMs: number;
}

/** Returns the timeouts of a conversation in milliseconds, from `--response-timeout` and `--idle-timeout`. */
export function liveTimeouts(options: {
  readonly responseTimeoutMs?: number | undefined;
  readonly idleTimeoutMs?: number | undefined;
}): Timeouts {
  const silenceMs = options.idleTimeoutMs ?? SILENCE_MS;
  return {
    replyMs: options.responseTimeoutMs ?? REPLY_MS,
    silenceMs,
    progressMs: options.idleTimeoutMs ?? PROGRESS_MS,
    pingMs: Math.min(PING_MS, Math.floor(silenceMs * PING_SHARE)),
  };
}

const REPLY_MS = 30_000;
const SILENCE_MS = 35_000;
// Longer than foley's service waits for a silent engine, whose failure the service reports.
const PROGRESS_MS = 75_000;
const PING_MS = 15_000;
// A share of the silence timeout, so that two pings and a `pong` fit into that timeout.
const PING_SHARE = 0.43;

// docs/protocol.md#the-clients-states lists the transitions between the states.
type Phase =
  | 'idle'
  | 'connecting'
  | 'authenticating'
  | 'starting'
  | 'speaking'
  | 'stopping'
  | 'backoff'
  | 'querying'
  | 'polling'
  | 'fetching'
  | 'waiting'
  | 'ended';

/** A text that the service speaks, bills and stores as one unit. In `simple` mode, the whole input is one segment. */
export interface Segment {
  readonly id: string;
  readonly texts: readonly string[];
  /** Sequence number of the first text event of this segment. */
  readonly sequence: number;
  readonly characters: number;
  readonly bytes: number;
  readonly state: 'waiting' | 'sent' | 'accepted';
  /** Number of audio bytes that the reader of the audio has received, over all connections. */
  readonly deliveredBytes: number;
  /**
   * Number of audio bytes that arrived on the current connection. Also counts bytes that an earlier connection had
   * delivered and that the service sent again.
   */
  readonly receivedBytes: number;
  /** Sequence numbers of the segment's first audio frame on this connection, and of the next expected frame. */
  readonly audio: { readonly first: number; readonly next: number } | undefined;
  /** Size of the segment's audio in bytes, if known; undefined until the service has completed the segment. */
  readonly completed: { readonly audioBytes: number | undefined } | undefined;
  /** True if the client must still download the audio of the segment over HTTP. */
  readonly isStored: boolean;
  /** True if audio was delivered although frames with lower sequence numbers had not arrived. */
  readonly hasSkipped: boolean;
}

/** An audio frame that arrived too early: an earlier frame is still missing. */
export interface EarlyFrame {
  readonly segmentId: string;
  readonly sequence: number;
  readonly audio: Uint8Array;
}

export interface LiveState {
  readonly plan: LivePlan;
  readonly phase: Phase;
  readonly ending: LiveEnding | undefined;
  /**
   * Random number from 0 (inclusive) to 1 (exclusive), which varies the delays of retries and polls. Each event brings
   * a new one.
   */
  readonly fraction: number;
  readonly timers: readonly TimerName[];
  /** Number of the current connection. Events from earlier connections are ignored. */
  readonly connection: number;
  readonly eventCount: number;
  /** Number of reconnections since the last new audio. */
  readonly attempts: number;
  readonly polls: number;
  /** Number of the current session, from 1. A long text needs several sessions. */
  readonly session: number;
  /** True if `start` was sent in this session. The service may then have received the request. */
  readonly isStarted: boolean;
  /** True if the request of this session is complete. More text then needs a new session. */
  readonly isCompleted: boolean;
  readonly retryFailed: boolean;
  /** Status of the segments, as listed in the last status response of the service. */
  readonly manifest: readonly SegmentStatusMessage[];
  /** The segments whose audio is not yet delivered completely, in order. */
  readonly segments: readonly Segment[];
  readonly segmentCount: number;
  /** Number of segments that the service completed without any audio. */
  readonly emptySegments: number;
  readonly nextSequence: number;
  readonly isInputOver: boolean;
  readonly isInputPaused: boolean;
  /** True if the client stopped reading from the socket, because the reader of the audio is slow. */
  readonly isPaused: boolean;
  /** True while the client downloads the stored audio of the first segment. */
  readonly isFetching: boolean;
  /** Sequence number that the next audio frame on this connection must have; undefined if it may have any. */
  readonly nextAudio: number | undefined;
  readonly early: readonly EarlyFrame[];
  /**
   * Whether the service leaves out sequence numbers. `proven`: the reported size of the audio showed that no frame is
   * missing. `assumed`: so many frames arrived after a missing number that the client no longer waits for it.
   */
  readonly gaps: 'none' | 'assumed' | 'proven';
  /** The last error after which the session went on; undefined after new audio. */
  readonly openError:
    | { readonly code: string; readonly message: string; readonly isRetryable: boolean }
    | undefined;
  readonly hasDelivered: boolean;
  /** True if text was sent that the service may have billed, and whose audio is not yet delivered completely. */
  readonly isBillable: boolean;
  /** Number of text events that were sent on the current connection. Counted in `simple` mode only. */
  readonly sentInputs: number;
  readonly sessionUnits: number;
  /** Size of the audio in bytes, as reported by the last `usage` message. */
  readonly reportedBytes: number | undefined;
  readonly unitsPerCharacter: number;
}

/** Returns the initial state of a conversation, before the event `begin`. */
export function newConversation(plan: LivePlan): LiveState {
  return {
    plan: { sessionMaxUnits: SESSION_MAX_UNITS, ...plan },
    phase: 'idle',
    ending: undefined,
    fraction: 0,
    timers: [],
    connection: 0,
    eventCount: 0,
    attempts: 0,
    polls: 0,
    session: 1,
    isStarted: false,
    isCompleted: false,
    retryFailed: plan.retryFailed ?? false,
    manifest: [],
    segments: [],
    segmentCount: 0,
    emptySegments: 0,
    nextSequence: 1,
    isInputOver: false,
    isInputPaused: false,
    isPaused: false,
    isFetching: false,
    nextAudio: 1,
    early: [],
    gaps: 'none',
    openError: undefined,
    hasDelivered: false,
    isBillable: false,
    sentInputs: 0,
    sessionUnits: 0,
    reportedBytes: undefined,
    unitsPerCharacter: 1,
  };
}

/** The outcome of a conversation, and its cause. */
export interface LiveEnding {
  readonly exit: ExitName;
  /** Error code from the service or from foley. */
  readonly code: string;
  readonly message: string;
  readonly billed: Billed;
  /** Ids of segments that were billed but whose audio is lost. */
  readonly lostSegments?: readonly string[];
  /** The Failure of the HTTP request or handshake that ended the conversation; otherwise undefined. */
  readonly cause?: Failure;
}

export type TimerName = 'reply' | 'ping' | 'silence' | 'progress' | 'backoff' | 'poll';

/** An input of the state machine. Each socket event contains the number of its connection. */
export type LiveEvent = { readonly fraction: number } & (
  | { readonly type: 'begin' }
  | { readonly type: 'opened'; readonly connection: number }
  /** The connection could not be opened. */
  | {
      readonly type: 'refused';
      readonly connection: number;
      readonly isRetryable: boolean;
      readonly ending: LiveEnding;
      /** The `Retry-After` of the response, in milliseconds. */
      readonly retryAfterMs?: number | undefined;
    }
  | { readonly type: 'message'; readonly connection: number; readonly message: ReceivedFrame }
  | { readonly type: 'unreadable'; readonly connection: number; readonly problem: string }
  | { readonly type: 'closed'; readonly connection: number; readonly code: number }
  /** Text to speak. In `simple` mode, the text is added to the only segment; in `reliable` mode, to new segments. */
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'end' }
  | { readonly type: 'timer'; readonly name: TimerName }
  /** The client has paused reading from the socket. `resumed` is the opposite. A new socket is never paused. */
  | { readonly type: 'paused' }
  | { readonly type: 'resumed' }
  /** The result of `getStatus`; `status` is undefined if the service has no such request. */
  | { readonly type: 'status'; readonly status: RequestStatus | undefined }
  | { readonly type: 'stored'; readonly segmentId: string; readonly audio: Uint8Array }
  /** `getStatus` or `fetchSegment` failed, even after retries. */
  | { readonly type: 'failed'; readonly ending: LiveEnding }
  | { readonly type: 'cancel' }
);

/** An action that the state machine requests. The class `Conversation` performs it. */
export type Effect =
  | { readonly type: 'connect'; readonly connection: number }
  | { readonly type: 'send'; readonly message: ClientMessage }
  | { readonly type: 'close'; readonly code: number }
  /** Close the connection without a close frame. */
  | { readonly type: 'abort' }
  | { readonly type: 'startTimer'; readonly name: TimerName; readonly afterMs: number }
  | { readonly type: 'stopTimer'; readonly name: TimerName }
  /** Pass the next audio bytes to the reader of the audio. */
  | { readonly type: 'audio'; readonly segmentId: string; readonly bytes: Uint8Array }
  | { readonly type: 'pauseInput' }
  | { readonly type: 'resumeInput' }
  | { readonly type: 'getStatus'; readonly requestId: string }
  | { readonly type: 'fetchSegment'; readonly requestId: string; readonly segmentId: string }
  | {
      readonly type: 'notice';
      readonly message: Extract<
        ReceivedFrame,
        { event: 'ready' | 'usage' | 'warning' | 'segment_completed' | 'finish' }
      >;
    }
  | { readonly type: 'reconnecting'; readonly attempt: number; readonly reason: LiveEnding }
  | { readonly type: 'ended'; readonly ending: LiveEnding };

export type LiveStep = machine.Step<LiveState, Effect>;
export type LiveReducer = machine.Reducer<LiveState, Effect>;

export const { emit, patch, run } = machine.fsm<LiveState, Effect>();

/** Sends a message to the service, with a new `eventId`. */
export function send(message: ClientMessage): LiveReducer {
  return ({ eventCount }) => {
    const eventId = `${message.event === 'ping' ? PING_ID : 'e'}${eventCount + 1}`;
    return [
      patch({ eventCount: eventCount + 1 }),
      emit({ type: 'send', message: { ...message, eventId } }),
    ];
  };
}

const PING_ID = 'ping';

/** Returns true if `eventId` is the id of a `ping` that the client sent. */
export function isPingId(eventId: string): boolean {
  return eventId.startsWith(PING_ID);
}

export function startTimer(name: TimerName, afterMs: number): LiveReducer {
  return (state) => ({
    state: state.timers.includes(name) ? state : { ...state, timers: [...state.timers, name] },
    effects: [{ type: 'startTimer', name, afterMs }],
  });
}

export function stopTimers(...names: readonly TimerName[]): LiveReducer {
  return (state) => {
    const running = state.timers.filter((name) => names.includes(name));
    return {
      state: { ...state, timers: state.timers.filter((name) => !names.includes(name)) },
      effects: running.map((name) => ({ type: 'stopTimer', name })),
    };
  };
}

const CONNECTED: ReadonlySet<Phase> = new Set([
  'connecting',
  'authenticating',
  'starting',
  'speaking',
  'stopping',
]);

/** Returns true if a WebSocket is open or being opened. */
export function isConnected({ phase }: LiveState): boolean {
  return CONNECTED.has(phase);
}

/**
 * Returns true if an open session has nothing to do: the service has delivered all text that it was asked to speak, and
 * the client waits for more input.
 */
export function isIdle({ isInputOver, phase, plan, segments }: LiveState): boolean {
  // In `simple` mode, the service speaks only when the input is over.
  return phase === 'speaking' && !isInputOver && (plan.mode === 'simple' || segments.length === 0);
}

/**
 * Returns true if the service has spoken text, and the audio of all text so far was delivered. Only `reliable` mode
 * reports the end of a text.
 */
export function owesNothing({ plan, segmentCount, segments }: LiveState): boolean {
  return plan.mode === 'reliable' && segmentCount > 0 && segments.length === 0;
}

/**
 * Disconnects, and changes the state to `phase`. Closes the WebSocket with the close code `code`, or aborts it if
 * `code` is undefined.
 */
export function leave(phase: Phase, code?: number): LiveReducer {
  return (state) => {
    const close =
      code === undefined ? ({ type: 'abort' } as const) : ({ type: 'close', code } as const);
    return [
      stopTimers(...state.timers),
      emit(...(isConnected(state) ? [close] : [])),
      patch({ early: [], isPaused: false, phase }),
    ];
  };
}

/** Ends the conversation: stops the timers and closes the socket. */
export function end(ending: LiveEnding): LiveReducer {
  return (state) => {
    const left = run(state, [leave('ended', ending.exit === 'badAnswer' ? 1002 : 1000)]);
    return {
      state: { ...left.state, ending, segments: [], manifest: [] },
      effects: [...left.effects, { type: 'ended', ending }],
    };
  };
}

export function patchSegment(id: string, part: Partial<Segment>): LiveReducer {
  return ({ segments }) => [
    patch({ segments: segments.map((one) => (one.id === id ? { ...one, ...part } : one)) }),
  ];
}
