import type { Static } from 'typebox';
import type { RealtimeMode, RealtimeProtocol } from '../../../contract/realtime/protocols.ts';
import type { SERVER_MESSAGES } from '../../../contract/realtime/server-messages.ts';

/**
 * What the service's side of a connection waits for: `authenticating` a browser ticket, `waiting` a `start`,
 * `starting` the driver, `speaking` text, or speech of what was accepted, `settling` the books before
 * `finish`. `ended` is final.
 */
export type SessionPhase =
  | 'authenticating'
  | 'waiting'
  | 'starting'
  | 'speaking'
  | 'settling'
  | 'ended';

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
export type SoundFields = Pick<
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
