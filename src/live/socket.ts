import type { Failure } from '../errors/failure.ts';

/** What a socket tells: first that it is open, or that it was refused; at last that it was closed. */
export type SocketEvent =
  | { readonly type: 'opened' }
  | {
      readonly type: 'refused';
      readonly failure: Failure;
      /** Another attempt may go better. */
      readonly isRetryable: boolean;
      readonly retryAfterMs: number | undefined;
    }
  /** A binary message, whole. Its bytes are the listener's. */
  | { readonly type: 'frame'; readonly bytes: Uint8Array }
  /** What came is no binary message within the limits; nothing follows it. */
  | { readonly type: 'unreadable'; readonly problem: string }
  | { readonly type: 'closed'; readonly code: number };

/** One connection to the realtime host. Nothing of it throws; what goes wrong is told as an event. */
export interface LiveSocket {
  send(frame: Uint8Array): void;
  /** Says why, and ends when the other side has agreed, or after a moment. */
  close(code: number): void;
  /** Ends at once, without a word. */
  abort(): void;
  /** Reads nothing any more, so that the sender has to wait. A few messages may still come. */
  pause(): void;
  resume(): void;
}

/** Opens a connection; its events come later, never before this has returned. */
export type OpenSocket = (listener: (event: SocketEvent) => void) => LiveSocket;
