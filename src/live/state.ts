import type { ExitName } from '../contract/exit-codes.ts';
import type { Start, StartV2, ClientMessage } from '../contract/realtime/client-messages.ts';
import { SESSION_MAX_UNITS } from '../contract/realtime/limits.ts';
import type { RealtimeMode, RealtimeProtocol } from '../contract/realtime/protocols.ts';
import type { Billed, Failure } from '../errors/failure.ts';
import * as machine from '../realtime/fsm.ts';
import type { SegmentFacts, HeardMessage, RequestFacts } from './server-message.ts';

/** What a conversation is to be; it does not change. */
export interface LivePlan {
  readonly protocol: RealtimeProtocol;
  readonly mode: RealtimeMode;
  /** `start.request`, with the names of v3. */
  readonly request: Start['request'] | StartV2['request'];
  /** 1 to 128 characters. */
  readonly requestId: string;
  /** The person chose it, so that no other takes its place. */
  readonly hasOwnRequestId?: boolean;
  /** Speak again what failed of an earlier request under the same id. */
  readonly retryFailed?: boolean;
  /** A browser ticket; else the handshake carries the key. */
  readonly ticket?: string;
  /** Connections after the first one that may be tried without anything new being heard. */
  readonly maxRetries: number;
  /** Billable units after which a fresh session continues; a deployment may allow fewer than the spec. */
  readonly sessionMaxUnits?: number;
  readonly waits: LiveWaits;
}

/** How long is waited for what, in milliseconds. */
interface LiveWaits {
  /** For a socket, for the greeting and for `ready`, each. */
  readonly replyMs: number;
  /** For a frame of any kind; two of our pings are unanswered then. */
  readonly silenceMs: number;
  /** For anything but a `pong` while something is asked for. */
  readonly progressMs: number;
  /** Between our pings. */
  readonly pingMs: number;
}

/** @param given what the person sets, in milliseconds: for an answer, and for what comes after another */
export function liveWaits(given: {
  readonly responseTimeoutMs?: number | undefined;
  readonly idleTimeoutMs?: number | undefined;
}): LiveWaits {
  const silenceMs = given.idleTimeoutMs ?? SILENCE_MS;
  return {
    replyMs: given.responseTimeoutMs ?? REPLY_MS,
    silenceMs,
    progressMs: given.idleTimeoutMs ?? PROGRESS_MS,
    pingMs: Math.min(PING_MS, Math.floor(silenceMs * PING_SHARE)),
  };
}

const REPLY_MS = 30_000;
const SILENCE_MS = 35_000;
const PROGRESS_MS = 60_000;
const PING_MS = 15_000;
/** Two pings fit into the longest silence, with time for the answer to the second. */
const PING_SHARE = 0.43;

/**
 * What the machine waits for: `connecting` a socket, `authenticating` the greeting, `starting` a `ready`,
 * `speaking` text and audio, `stopping` a `finish`, `resting` the time before another attempt, `asking` and
 * `polling` the state of the request, `fetching` stored audio, `expecting` text, to be
 * fetched or spoken in another session. `idle` is before the beginning, `ended` final.
 */
type Phase =
  | 'idle'
  | 'connecting'
  | 'authenticating'
  | 'starting'
  | 'speaking'
  | 'stopping'
  | 'resting'
  | 'asking'
  | 'polling'
  | 'fetching'
  | 'expecting'
  | 'ended';

/** A stretch of text that is spoken, paid and stored as one. In simple mode the whole input is one. */
export interface Segment {
  readonly id: string;
  readonly texts: readonly string[];
  /** Of its first text event. */
  readonly sequence: number;
  readonly characters: number;
  readonly bytes: number;
  readonly state: 'waiting' | 'sent' | 'accepted';
  /** What the listener has of it, over all connections. */
  readonly heardBytes: number;
  /** What came of it on this connection: as far as `heardBytes` it was heard before. */
  readonly runBytes: number;
  /** Numbers of its audio on this connection: the first, and the one that is due. */
  readonly audio: { readonly first: number; readonly next: number } | undefined;
  /** The service says that it is over. */
  readonly completed: { readonly audioBytes: number | undefined } | undefined;
  /** Its audio is to be had over HTTP. */
  readonly isStored: boolean;
}

/** Audio that came before its turn. */
export interface HeldFrame {
  readonly segmentId: string;
  readonly sequence: number;
  readonly audio: Uint8Array;
}

export interface LiveState {
  readonly plan: LivePlan;
  readonly phase: Phase;
  readonly ending: Ending | undefined;
  /** Chance of the event that is worked on, in [0, 1). */
  readonly fraction: number;
  readonly timers: readonly TimerName[];
  /** Connections so far; what comes from an older one is not looked at. */
  readonly connection: number;
  readonly eventCount: number;
  /** Attempts since something was heard. */
  readonly attempts: number;
  readonly polls: number;
  /** From 1: a request is spoken in as many sessions as its units need. */
  readonly session: number;
  /** The request of this session may be known to the service. */
  readonly isStarted: boolean;
  /** Everything of the request of this session was spoken: more goes into another. */
  readonly isOver: boolean;
  readonly retryFailed: boolean;
  /** What the service knew of the request's segments when it was asked last. */
  readonly manifest: readonly SegmentFacts[];
  /** Not yet wholly heard, in order. */
  readonly segments: readonly Segment[];
  readonly segmentCount: number;
  /** Segments that the service completed with 0 bytes of audio. */
  readonly emptySegments: number;
  readonly nextSequence: number;
  readonly isInputOver: boolean;
  readonly isInputPaused: boolean;
  readonly isHeld: boolean;
  /** The stored audio of the first segment is being fetched. */
  readonly isFetching: boolean;
  /** Number of the next audio of the connection; undefined when it may begin anywhere. */
  readonly nextAudio: number | undefined;
  readonly held: readonly HeldFrame[];
  readonly hasHeard: boolean;
  /** Something was sent that costs when it is spoken. */
  readonly hasAsked: boolean;
  /** Parts of a simple input that were sent on this connection. */
  readonly sentInputs: number;
  readonly sessionUnits: number;
  /** Bytes of audio that the last `usage` names: in simple mode all of the input's. */
  readonly reportedBytes: number | undefined;
  readonly unitsPerCharacter: number;
}

/** A conversation before its beginning. */
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
    isOver: false,
    retryFailed: plan.retryFailed ?? false,
    manifest: [],
    segments: [],
    segmentCount: 0,
    emptySegments: 0,
    nextSequence: 1,
    isInputOver: false,
    isInputPaused: false,
    isHeld: false,
    isFetching: false,
    nextAudio: 1,
    held: [],
    hasHeard: false,
    hasAsked: false,
    sentInputs: 0,
    sessionUnits: 0,
    reportedBytes: undefined,
    unitsPerCharacter: 1,
  };
}

/** Why a conversation is over. */
export interface Ending {
  readonly exit: ExitName;
  /** The service's code, or one of the tool's own. */
  readonly code: string;
  readonly message: string;
  readonly billed: Billed;
  /** Segments that are paid for and cannot be had again. */
  readonly lostSegments?: readonly string[];
  /** What a question or a handshake over HTTP failed with, and all that it tells. */
  readonly cause?: Failure;
}

export type TimerName = 'reply' | 'ping' | 'silence' | 'progress' | 'backoff' | 'poll';

/** What happens to the machine. What comes from a socket says from which connection. */
export type LiveEvent = { readonly fraction: number } & (
  | { readonly type: 'begin' }
  | { readonly type: 'opened'; readonly connection: number }
  /** No connection came about: `retryable` when another attempt may go better. */
  | {
      readonly type: 'refused';
      readonly connection: number;
      readonly isRetryable: boolean;
      readonly ending: Ending;
      /** How long the service wants to be left alone. */
      readonly retryAfterMs?: number | undefined;
    }
  | { readonly type: 'message'; readonly connection: number; readonly message: HeardMessage }
  | { readonly type: 'unreadable'; readonly connection: number; readonly problem: string }
  | { readonly type: 'closed'; readonly connection: number; readonly code: number }
  /** Reliable: a segment, or more than one may hold. Simple: a part of the input. */
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'end' }
  | { readonly type: 'timer'; readonly name: TimerName }
  /** The socket is not read, since nobody takes the audio; and is read again. A new socket is read at first. */
  | { readonly type: 'held' }
  | { readonly type: 'released' }
  /** The answer to `askStatus`; undefined: the service does not know the request. */
  | { readonly type: 'status'; readonly facts: RequestFacts | undefined }
  | { readonly type: 'stored'; readonly segmentId: string; readonly audio: Uint8Array }
  /** A question over HTTP failed for good. */
  | { readonly type: 'failed'; readonly ending: Ending }
  | { readonly type: 'cancel' }
);

/** What is told on the way. */
type NoticeMessage = Extract<
  HeardMessage,
  { event: 'ready' | 'usage' | 'warning' | 'segment_completed' | 'finish' }
>;

/** What the driver does for the machine. */
export type Effect =
  | { readonly type: 'connect'; readonly connection: number }
  | { readonly type: 'send'; readonly message: ClientMessage }
  | { readonly type: 'close'; readonly code: number }
  /** The line is dead: nothing more is said. */
  | { readonly type: 'abort' }
  /** Starts the timer, or starts it anew. */
  | { readonly type: 'startTimer'; readonly name: TimerName; readonly afterMs: number }
  | { readonly type: 'stopTimer'; readonly name: TimerName }
  /** The next bytes for the listener. */
  | { readonly type: 'audio'; readonly segmentId: string; readonly bytes: Uint8Array }
  | { readonly type: 'pauseInput' }
  | { readonly type: 'resumeInput' }
  | { readonly type: 'askStatus'; readonly requestId: string }
  | { readonly type: 'fetchSegment'; readonly requestId: string; readonly segmentId: string }
  /** Something to tell. */
  | { readonly type: 'notice'; readonly message: NoticeMessage }
  | { readonly type: 'reconnecting'; readonly attempt: number; readonly because: Ending }
  | { readonly type: 'ended'; readonly ending: Ending };

/** What comes of an event. */
export type Step = machine.Step<LiveState, Effect>;

/** A part of a transition. */
export type Move = machine.Move<LiveState, Effect>;

export const { change, emit, inTurn, run } = machine.movesOf<LiveState, Effect>();

/** Sends a message with an `eventId` that no other of the conversation has. */
export function send(message: ClientMessage): Move {
  return (state) => {
    const eventId = `e${state.eventCount + 1}`;
    return run(
      state,
      change({ eventCount: state.eventCount + 1 }),
      emit({ type: 'send', message: { ...message, eventId } }),
    );
  };
}

export function startTimer(name: TimerName, afterMs: number): Move {
  return (state) => ({
    state: state.timers.includes(name) ? state : { ...state, timers: [...state.timers, name] },
    effects: [{ type: 'startTimer', name, afterMs }],
  });
}

export function stopTimers(...names: readonly TimerName[]): Move {
  return (state) => {
    const running = state.timers.filter((name) => names.includes(name));
    return {
      state: { ...state, timers: state.timers.filter((name) => !names.includes(name)) },
      effects: running.map((name) => ({ type: 'stopTimer', name })),
    };
  };
}

const stopAllTimers: Move = (state) => run(state, stopTimers(...state.timers));

const CONNECTED: ReadonlySet<Phase> = new Set([
  'connecting',
  'authenticating',
  'starting',
  'speaking',
  'stopping',
]);

/** Whether there is a socket, or one that is being opened. */
export function isConnected({ phase }: LiveState): boolean {
  return CONNECTED.has(phase);
}

/** Leaves the connection, politely when it still works; timers and what waited for its turn go with it. */
export function leave(phase: Phase, code?: number): Move {
  return (state) =>
    run(
      state,
      stopAllTimers,
      emit(
        ...(isConnected(state)
          ? [code === undefined ? ({ type: 'abort' } as const) : ({ type: 'close', code } as const)]
          : []),
      ),
      change({ held: [], isHeld: false, phase }),
    );
}

/** The end: every timer is stopped and the socket closed. */
export function end(ending: Ending): Move {
  return (state) => {
    const left = run(state, leave('ended', ending.exit === 'badAnswer' ? 1002 : 1000));
    return {
      state: { ...left.state, ending, segments: [], manifest: [] },
      effects: [...left.effects, { type: 'ended', ending }],
    };
  };
}

export function changeSegment(id: string, part: Partial<Segment>): Move {
  return (state) =>
    run(
      state,
      change({
        segments: state.segments.map((one) => (one.id === id ? { ...one, ...part } : one)),
      }),
    );
}
