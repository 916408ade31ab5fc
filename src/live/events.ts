import type { ClientMessage } from '../contract/realtime/client-messages.ts';
import type { ExitName } from '../contract/exit-codes.ts';
import type { Billed, Failure } from '../errors/failure.ts';
import type { HeardMessage, RequestFacts } from './server-message.ts';

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
