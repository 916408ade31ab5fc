import type { ExitName } from '../contract/exit-codes.ts';
import type { Start, StartV2, ClientMessage } from '../contract/realtime/client-messages.ts';
import { SESSION_MAX_UNITS } from '../contract/realtime/limits.ts';
import type { RealtimeMode, RealtimeProtocol } from '../contract/realtime/protocols.ts';
import type { Billed, Failure } from '../errors/failure.ts';
import * as machine from '../realtime/fsm.ts';
import type { ReceivedMessage, RequestStatus, SegmentStatus } from './server-message.ts';

/** The parameters of a conversation, which do not change. */
export interface LivePlan {
  readonly protocol: RealtimeProtocol;
  readonly mode: RealtimeMode;
  /** The `request` object of the `start` message, with the field names of v3. */
  readonly request: Start['request'] | StartV2['request'];
  /** The request id, 1 to 128 characters long. */
  readonly requestId: string;
  /** Whether the user chose the request id, so that foley must not replace it. */
  readonly hasOwnRequestId?: boolean;
  /** Whether to restart a request if an earlier request with the same id failed. */
  readonly retryFailed?: boolean;
  /** A browser ticket, with which the client authenticates instead of the API key. */
  readonly ticket?: string;
  /** Maximum number of consecutive reconnections without new audio. */
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

/** Returns the timeouts for `--response-timeout` and `--idle-timeout`, in milliseconds. */
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
const PROGRESS_MS = 60_000;
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

/** A text that the service speaks, bills and stores as one unit. `simple` mode has a single segment. */
export interface Segment {
  readonly id: string;
  readonly texts: readonly string[];
  /** Sequence number of the first text event of this segment. */
  readonly sequence: number;
  readonly characters: number;
  readonly bytes: number;
  readonly state: 'waiting' | 'sent' | 'accepted';
  /** Number of audio bytes that were delivered to the reader, over all connections. */
  readonly deliveredBytes: number;
  /** Number of audio bytes that arrived on this connection, including repeated audio. */
  readonly receivedBytes: number;
  /** Sequence numbers of the segment's first audio frame and of the next expected one, on this connection. */
  readonly audio: { readonly first: number; readonly next: number } | undefined;
  /** Set when the service sends `segment_completed`. */
  readonly completed: { readonly audioBytes: number | undefined } | undefined;
  /** Whether the audio must be fetched over HTTP. */
  readonly isStored: boolean;
}

/** An audio frame that arrived before the frames that precede it. */
export interface EarlyFrame {
  readonly segmentId: string;
  readonly sequence: number;
  readonly audio: Uint8Array;
}

export interface LiveState {
  readonly plan: LivePlan;
  readonly phase: Phase;
  readonly ending: Ending | undefined;
  /** A random number in [0, 1), set by the current event. */
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
  /** Whether `start` was sent, so that the service may know the request of this session. */
  readonly isStarted: boolean;
  /** Whether the request of this session is complete, so that more text needs another session. */
  readonly isCompleted: boolean;
  readonly retryFailed: boolean;
  /** The segments in the last status response. */
  readonly manifest: readonly SegmentStatus[];
  /** The segments that are not yet delivered completely, in order. */
  readonly segments: readonly Segment[];
  readonly segmentCount: number;
  /** Number of segments that the service completed without any audio. */
  readonly emptySegments: number;
  readonly nextSequence: number;
  readonly isInputOver: boolean;
  readonly isInputPaused: boolean;
  /** Whether reading from the socket is paused because the reader of the audio is slow. */
  readonly isPaused: boolean;
  /** Whether the driver is fetching the stored audio of the first segment. */
  readonly isFetching: boolean;
  /** Sequence number of the next audio frame on this connection; undefined if any number is accepted. */
  readonly nextAudio: number | undefined;
  readonly early: readonly EarlyFrame[];
  readonly hasDelivered: boolean;
  /** Whether text was sent that the service may bill. */
  readonly isBillable: boolean;
  /** Number of text events that were sent on this connection in `simple` mode. */
  readonly sentInputs: number;
  readonly sessionUnits: number;
  /** Number of audio bytes in the last `usage` message. In `simple` mode, the number covers the whole input. */
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
    hasDelivered: false,
    isBillable: false,
    sentInputs: 0,
    sessionUnits: 0,
    reportedBytes: undefined,
    unitsPerCharacter: 1,
  };
}

/** The reason for which a conversation ended. */
export interface Ending {
  readonly exit: ExitName;
  /** Error code from the service or from foley. */
  readonly code: string;
  readonly message: string;
  readonly billed: Billed;
  /** Segments that were billed but whose audio is lost. */
  readonly lostSegments?: readonly string[];
  /** The Failure of the HTTP request or handshake that caused the ending. */
  readonly cause?: Failure;
}

export type TimerName = 'reply' | 'ping' | 'silence' | 'progress' | 'backoff' | 'poll';

/** Input of the state machine. Socket events contain the number of their connection. */
export type LiveEvent = { readonly fraction: number } & (
  | { readonly type: 'begin' }
  | { readonly type: 'opened'; readonly connection: number }
  /** The connection could not be opened. */
  | {
      readonly type: 'refused';
      readonly connection: number;
      readonly isRetryable: boolean;
      readonly ending: Ending;
      /** The `Retry-After` of the response, in milliseconds. */
      readonly retryAfterMs?: number | undefined;
    }
  | { readonly type: 'message'; readonly connection: number; readonly message: ReceivedMessage }
  | { readonly type: 'unreadable'; readonly connection: number; readonly problem: string }
  | { readonly type: 'closed'; readonly connection: number; readonly code: number }
  /** Text from the input: one or more segments in `reliable` mode, a piece of the only segment in `simple` mode. */
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'end' }
  | { readonly type: 'timer'; readonly name: TimerName }
  /** The driver paused or resumed reading from the socket. A new socket is never paused. */
  | { readonly type: 'paused' }
  | { readonly type: 'resumed' }
  /** The result of `getStatus`; the status is undefined if the service has no such request. */
  | { readonly type: 'status'; readonly status: RequestStatus | undefined }
  | { readonly type: 'stored'; readonly segmentId: string; readonly audio: Uint8Array }
  /** `getStatus` or `fetchSegment` failed, even after retries. */
  | { readonly type: 'failed'; readonly ending: Ending }
  | { readonly type: 'cancel' }
);

/** Output of the state machine, which the driver carries out. */
export type Effect =
  | { readonly type: 'connect'; readonly connection: number }
  | { readonly type: 'send'; readonly message: ClientMessage }
  | { readonly type: 'close'; readonly code: number }
  /** Closes the connection without a close frame. */
  | { readonly type: 'abort' }
  | { readonly type: 'startTimer'; readonly name: TimerName; readonly afterMs: number }
  | { readonly type: 'stopTimer'; readonly name: TimerName }
  /** Delivers the next audio bytes to the reader. */
  | { readonly type: 'audio'; readonly segmentId: string; readonly bytes: Uint8Array }
  | { readonly type: 'pauseInput' }
  | { readonly type: 'resumeInput' }
  | { readonly type: 'getStatus'; readonly requestId: string }
  | { readonly type: 'fetchSegment'; readonly requestId: string; readonly segmentId: string }
  | {
      readonly type: 'notice';
      readonly message: Extract<
        ReceivedMessage,
        { event: 'ready' | 'usage' | 'warning' | 'segment_completed' | 'finish' }
      >;
    }
  | { readonly type: 'reconnecting'; readonly attempt: number; readonly reason: Ending }
  | { readonly type: 'ended'; readonly ending: Ending };

export type Step = machine.Step<LiveState, Effect>;
export type Reducer = machine.Reducer<LiveState, Effect>;

export const { emit, patch, run } = machine.fsm<LiveState, Effect>();

/** Sends a message with an `eventId` that is unique within the conversation. */
export function send(message: ClientMessage): Reducer {
  return ({ eventCount }) => [
    patch({ eventCount: eventCount + 1 }),
    emit({ type: 'send', message: { ...message, eventId: `e${eventCount + 1}` } }),
  ];
}

export function startTimer(name: TimerName, afterMs: number): Reducer {
  return (state) => ({
    state: state.timers.includes(name) ? state : { ...state, timers: [...state.timers, name] },
    effects: [{ type: 'startTimer', name, afterMs }],
  });
}

export function stopTimers(...names: readonly TimerName[]): Reducer {
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

/** Returns whether a socket is open or being opened. */
export function isConnected({ phase }: LiveState): boolean {
  return CONNECTED.has(phase);
}

/** Closes the socket with a code, or aborts it if there is no code. Stops all timers and drops early frames. */
export function leave(phase: Phase, code?: number): Reducer {
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
export function end(ending: Ending): Reducer {
  return (state) => {
    const left = run(state, [leave('ended', ending.exit === 'badAnswer' ? 1002 : 1000)]);
    return {
      state: { ...left.state, ending, segments: [], manifest: [] },
      effects: [...left.effects, { type: 'ended', ending }],
    };
  };
}

export function patchSegment(id: string, part: Partial<Segment>): Reducer {
  return ({ segments }) => [
    patch({ segments: segments.map((one) => (one.id === id ? { ...one, ...part } : one)) }),
  ];
}
