import type { ExitName } from '../contract/exit-codes.ts';
import type { Start, StartV2, ClientMessage } from '../contract/realtime/client-messages.ts';
import { SESSION_MAX_UNITS } from '../contract/realtime/limits.ts';
import type { RealtimeMode, RealtimeProtocol } from '../contract/realtime/protocols.ts';
import type { Billed, Failure } from '../errors/failure.ts';
import * as machine from '../realtime/fsm.ts';
import type { ReceivedMessage, RequestStatus, SegmentStatus } from './server-message.ts';

/** The fixed parameters of a conversation. */
export interface LivePlan {
  readonly protocol: RealtimeProtocol;
  readonly mode: RealtimeMode;
  /** `start.request`, with the field names of v3. */
  readonly request: Start['request'] | StartV2['request'];
  /** 1 to 128 characters. */
  readonly requestId: string;
  /** The user chose the request id, so foley does not replace it. */
  readonly hasOwnRequestId?: boolean;
  /** Retries an earlier request with the same id that failed. */
  readonly retryFailed?: boolean;
  /** A browser ticket; without a ticket, the handshake contains the API key. */
  readonly ticket?: string;
  /** Maximum number of reconnections in a row without new audio. */
  readonly maxRetries: number;
  /** Maximum number of billable units in a session; default: the limit of the API. */
  readonly sessionMaxUnits?: number;
  readonly timeouts: Timeouts;
}

/** In milliseconds. */
interface Timeouts {
  /** Maximum wait for the socket, then for `authenticated`, then for `ready`. */
  readonly replyMs: number;
  /** Maximum time without any frame. */
  readonly silenceMs: number;
  /** Maximum time without a message other than `pong`, while the service has text to speak. */
  readonly progressMs: number;
  /** Interval of pings. */
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
/** Maximum interval of pings as a share of the silence timeout, which must allow two pings and a `pong`. */
const PING_SHARE = 0.43;

/** A state of the client; docs/protocol.md#the-clients-states lists the transitions. */
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

/** A text that the service speaks, bills and stores as a unit. Simple mode has one segment. */
export interface Segment {
  readonly id: string;
  readonly texts: readonly string[];
  /** Sequence number of the first text event. */
  readonly sequence: number;
  readonly characters: number;
  readonly bytes: number;
  readonly state: 'waiting' | 'sent' | 'accepted';
  /** Bytes of audio that the listener got, over all connections. */
  readonly deliveredBytes: number;
  /** Bytes of audio that arrived on this connection, which repeats the delivered audio. */
  readonly receivedBytes: number;
  /** Sequence numbers of the audio on this connection: the first, and the next expected one. */
  readonly audio: { readonly first: number; readonly next: number } | undefined;
  /** Set by `segment_completed`. */
  readonly completed: { readonly audioBytes: number | undefined } | undefined;
  /** The audio must be fetched over HTTP. */
  readonly isStored: boolean;
}

/** An audio frame that arrived before its turn. */
export interface EarlyFrame {
  readonly segmentId: string;
  readonly sequence: number;
  readonly audio: Uint8Array;
}

export interface LiveState {
  readonly plan: LivePlan;
  readonly phase: Phase;
  readonly ending: Ending | undefined;
  /** Random number of the current event, in [0, 1). */
  readonly fraction: number;
  readonly timers: readonly TimerName[];
  /** Number of the current connection; events of older ones are ignored. */
  readonly connection: number;
  readonly eventCount: number;
  /** Number of reconnections since new audio arrived. */
  readonly attempts: number;
  readonly polls: number;
  /** Number of the session, from 1; a long text needs several. */
  readonly session: number;
  /** The service may know the request of this session. */
  readonly isStarted: boolean;
  /** The request of this session is complete; more text needs another session. */
  readonly isCompleted: boolean;
  readonly retryFailed: boolean;
  /** Segments in the last status of the request. */
  readonly manifest: readonly SegmentStatus[];
  /** Segments that are not completely delivered, in order. */
  readonly segments: readonly Segment[];
  readonly segmentCount: number;
  /** Segments that the service completed with 0 bytes of audio. */
  readonly emptySegments: number;
  readonly nextSequence: number;
  readonly isInputOver: boolean;
  readonly isInputPaused: boolean;
  /** Reading from the socket is paused, because the listener is slow. */
  readonly isPaused: boolean;
  /** The driver is fetching the stored audio of the first segment. */
  readonly isFetching: boolean;
  /** Expected sequence number of the next audio on this connection; undefined: any. */
  readonly nextAudio: number | undefined;
  readonly early: readonly EarlyFrame[];
  readonly hasDelivered: boolean;
  /** Text was sent, which the service may bill. */
  readonly isBillable: boolean;
  /** Parts of a simple input that were sent on this connection. */
  readonly sentInputs: number;
  readonly sessionUnits: number;
  /** Bytes of audio according to the last `usage` message; in simple mode, of the whole input. */
  readonly reportedBytes: number | undefined;
  readonly unitsPerCharacter: number;
}

/** Returns the state of a conversation before `begin`. */
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

/** Why a conversation ended. */
export interface Ending {
  readonly exit: ExitName;
  /** Error code of the service or of foley. */
  readonly code: string;
  readonly message: string;
  readonly billed: Billed;
  /** Billed segments whose audio is not available. */
  readonly lostSegments?: readonly string[];
  /** The failed HTTP request or handshake. */
  readonly cause?: Failure;
}

export type TimerName = 'reply' | 'ping' | 'silence' | 'progress' | 'backoff' | 'poll';

/** Input of the machine; socket events carry the number of their connection. */
export type LiveEvent = { readonly fraction: number } & (
  | { readonly type: 'begin' }
  | { readonly type: 'opened'; readonly connection: number }
  /** No connection was made. */
  | {
      readonly type: 'refused';
      readonly connection: number;
      readonly isRetryable: boolean;
      readonly ending: Ending;
      /** The `Retry-After` of the service. */
      readonly retryAfterMs?: number | undefined;
    }
  | { readonly type: 'message'; readonly connection: number; readonly message: ReceivedMessage }
  | { readonly type: 'unreadable'; readonly connection: number; readonly problem: string }
  | { readonly type: 'closed'; readonly connection: number; readonly code: number }
  /** In reliable mode a segment, or several if it is too long; in simple mode a part of the input. */
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'end' }
  | { readonly type: 'timer'; readonly name: TimerName }
  /** The driver paused or resumed reading from the socket; a new socket is not paused. */
  | { readonly type: 'paused' }
  | { readonly type: 'resumed' }
  /** The result of `getStatus`; undefined if the service does not know the request. */
  | { readonly type: 'status'; readonly status: RequestStatus | undefined }
  | { readonly type: 'stored'; readonly segmentId: string; readonly audio: Uint8Array }
  /** `getStatus` or `fetchSegment` failed after its retries. */
  | { readonly type: 'failed'; readonly ending: Ending }
  | { readonly type: 'cancel' }
);

/** Output of the machine, which the driver performs. */
export type Effect =
  | { readonly type: 'connect'; readonly connection: number }
  | { readonly type: 'send'; readonly message: ClientMessage }
  | { readonly type: 'close'; readonly code: number }
  /** Drop the connection without a close frame. */
  | { readonly type: 'abort' }
  | { readonly type: 'startTimer'; readonly name: TimerName; readonly afterMs: number }
  | { readonly type: 'stopTimer'; readonly name: TimerName }
  /** Deliver the next bytes to the listener. */
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

/** Sends a message with an `eventId` that is unique in the conversation. */
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

/** Whether a socket is open or being opened. */
export function isConnected({ phase }: LiveState): boolean {
  return CONNECTED.has(phase);
}

/** Closes the socket with a code, or aborts it without a code; stops all timers and drops early frames. */
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
