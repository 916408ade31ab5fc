import type { Start, StartV2 } from '../contract/realtime/client-messages.ts';
import { SESSION_MAX_UNITS } from '../contract/realtime/limits.ts';
import type { RealtimeMode, RealtimeProtocol } from '../contract/realtime/protocols.ts';
import type { Ending, TimerName } from './events.ts';
import type { SegmentFacts } from './server-message.ts';

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
export interface LiveWaits {
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
export type Phase =
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
