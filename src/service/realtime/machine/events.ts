import type { RealtimeErrorCode } from '../../../contract/realtime/error-codes.ts';
import type { ServerMessage } from '../../../contract/realtime/server-messages.ts';
import type { FrameMessage } from '../../../frames/codec.ts';
import type { BegunRequest, KnownSegment } from './state.ts';
import type { StartMessage } from '../client-message.ts';

/** A mistake of the client, or why something does not go on. */
export interface Problem {
  readonly code: RealtimeErrorCode;
  readonly message: string;
  /** The field that is wrong, as the version writes it. */
  readonly path?: string | undefined;
  readonly stage?: string | undefined;
}

/** What is known of a request, for `request_status` (spec section 6.2). */
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

export interface SpokenSegment {
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
export type Sent<Event extends Outgoing['event']> = Extract<Outgoing, { event: Event }>;

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
