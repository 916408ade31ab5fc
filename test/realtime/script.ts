import type { RequestState } from './request-book.ts';
import type { AudioShape } from './segment-audio.ts';
import type { Fields, Message } from './wire-names.ts';

/** One thing that the server does on a connection; a script is a list of them. */
export type Step =
  /** Speaks as the spec says, until the conversation is over; then closes, unless it is left open. */
  | {
      readonly kind: 'serve';
      readonly faults: readonly Fault[];
      readonly tamper: readonly Tamper[];
      readonly isLeftOpen: boolean;
    }
  /** Waits for the next message of the client, which must be this one and hold these fields. */
  | { readonly kind: 'expect'; readonly event: string; readonly fields: Fields }
  /** Sends a message in the names of v3. What every event has, ids included, is filled in. */
  | { readonly kind: 'send'; readonly message: Message }
  /** Sends one binary message of any bytes. */
  | { readonly kind: 'sendBytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'sendText'; readonly text: string }
  /** Writes bytes below the WebSocket. */
  | { readonly kind: 'write'; readonly bytes: Uint8Array }
  /** Sends a message in fragments of so many bytes. */
  | { readonly kind: 'fragments'; readonly message: Message; readonly size: number }
  /** Sends fragments without a byte in them, of a message that does not end. */
  | { readonly kind: 'emptyFragments'; readonly count: number }
  /** Sends one frame of so many zeros, or as much of it as the client takes. */
  | { readonly kind: 'giant'; readonly length: number }
  | { readonly kind: 'ping' }
  /** Does nothing until the test says `advance()`. */
  | { readonly kind: 'pause' }
  /** Stops to read, or reads again. */
  | { readonly kind: 'hold' | 'release' }
  /** Says nothing any more, not even pongs, until the client has gone. */
  | { readonly kind: 'silence' }
  | { readonly kind: 'close'; readonly code: number; readonly reason: string }
  /** Ends the connection without a closing handshake, when all that was sent has left. */
  | { readonly kind: 'drop' }
  /** Breaks the connection (RST). */
  | { readonly kind: 'reset' };

/**
 * Something that happens at a boundary of messages while the server serves: at the nth message (from 1)
 * of this connection that it sends or receives. What comes `before` a received message is done when it
 * has been read and nothing was made of it; `after`, when it has had its effect and nothing of the
 * answer has left. When the connection still stands after the steps, the conversation goes on.
 */
export interface Fault {
  readonly on: 'sent' | 'received';
  /** Counts only messages of this name. */
  readonly event?: string;
  readonly number: number;
  readonly when: 'before' | 'after';
  readonly steps: readonly Step[];
}

/** What is done to audio on its way out; `swap` is with the frame that follows in the same answer. */
export interface Tamper {
  readonly kind: 'duplicate' | 'skip' | 'swap';
  readonly sequence: number;
}

/** An HTTP answer. Without a body it is the flat error of section 7. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
}

export interface ConnectionScript {
  /** Answers the handshake with HTTP. */
  readonly refuse?: HttpAnswer;
  /** Never answers the handshake, or ends the connection instead. */
  readonly handshake?: 'unanswered' | 'dropped';
  /** The subprotocol that is answered; without it the one that was asked for. */
  readonly subprotocol?: string;
  /** Whether pings of the WebSocket are answered; true without it. */
  readonly answersPings?: boolean;
  /** `serve()` without it. */
  readonly steps?: readonly Step[];
}

export interface ServerScript {
  /** How the nth connection goes, refused ones counted; those after the last are served. */
  readonly connections?: readonly ConnectionScript[];
  /** Further or other answers over HTTP, such as `{ 'GET /api/open/v3/voices': … }`. */
  readonly http?: Readonly<Record<string, HttpAnswer>>;
  readonly audio?: Partial<AudioShape>;
  /** What a request is when its connection went before `finish`; `failed_retryable` without it. */
  readonly afterDrop?: RequestState;
  /** What an accepted segment is then; `failed` without it. */
  readonly interrupted?: 'stored' | 'failed';
  /** Whether a replayed request is answered with `ready` first; false without it. */
  readonly readyBeforeStatus?: boolean;
  /** Units of the account; a million without it. */
  readonly quota?: number;
  /** How long a step may wait for the client; 20 seconds without it. */
  readonly patienceMs?: number;
}

type Serving = Omit<Extract<Step, { readonly kind: 'serve' }>, 'kind'>;

export function serve(options: Partial<Serving> = {}): Step {
  return { kind: 'serve', faults: [], tamper: [], isLeftOpen: false, ...options };
}

export function expectMessage(event: string, fields: Fields = {}): Step {
  return { kind: 'expect', event, fields };
}

export function send(event: string, fields: Fields = {}): Step {
  return { kind: 'send', message: { ...fields, event } };
}

export function close(code: number, reason = ''): Step {
  return { kind: 'close', code, reason };
}

export function drop(): Step {
  return { kind: 'drop' };
}

/** An `error` event that ends the session, and the close that follows it. */
export function fail(code: string, closeCode: number, fields: Fields = {}): Step[] {
  const message = `The script fails with ${code}.`;
  const error = { code, message, retryable: false, terminal: true, ...fields };
  return [send('error', error), close(closeCode)];
}
