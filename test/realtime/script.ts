import type { RequestState } from './request-book.ts';
import type { AudioShape } from './segment-audio.ts';
import type { Fields, Message } from './wire-names.ts';

/** A step of the server on a connection; a script is a list of steps. */
export type Step =
  /** Follows the spec until the conversation ends; then closes, unless the step leaves it open. */
  | {
      readonly kind: 'serve';
      readonly faults: readonly Fault[];
      readonly tamper: readonly Tamper[];
      readonly isLeftOpen: boolean;
    }
  /** Expects this client message with these fields next. */
  | { readonly kind: 'expect'; readonly event: string; readonly fields: Fields }
  /** Sends a message with v3 names, and the fields of every event. */
  | { readonly kind: 'send'; readonly message: Message }
  /** Sends a message that replies to the client's last message of the event `to`. */
  | { readonly kind: 'reply'; readonly to: string; readonly message: Message }
  /** Sends a binary message of the given bytes. */
  | { readonly kind: 'sendBytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'sendText'; readonly text: string }
  /** Writes bytes to the TCP connection. */
  | { readonly kind: 'write'; readonly bytes: Uint8Array }
  /** Sends a message in fragments of `size` bytes. */
  | { readonly kind: 'fragments'; readonly message: Message; readonly size: number }
  /** Sends empty fragments of a message that does not end. */
  | { readonly kind: 'emptyFragments'; readonly count: number }
  /** Sends a frame of zeros, as far as the client reads it. */
  | { readonly kind: 'giant'; readonly length: number }
  | { readonly kind: 'ping' }
  /** Waits until the test calls `advance()`. */
  | { readonly kind: 'pause' }
  /** Stops or resumes reading. */
  | { readonly kind: 'hold' | 'release' }
  /** Is silent, without pongs, until the client disconnects. */
  | { readonly kind: 'silence' }
  | { readonly kind: 'close'; readonly code: number; readonly reason: string }
  /** Ends the connection without a closing handshake, after all data was sent. */
  | { readonly kind: 'drop' }
  /** Resets the connection (RST). */
  | { readonly kind: 'reset' };

/**
 * Steps at a message boundary: at the nth message (from 1) that the server sends or receives on this connection.
 * `before` a received message means before it is processed; `after` means after it is processed and before the reply is
 * sent. The conversation continues if the connection stays open.
 */
export interface Fault {
  readonly on: 'sent' | 'received';
  /** Counts only messages of this event. */
  readonly event?: string;
  readonly number: number;
  readonly when: 'before' | 'after';
  readonly steps: readonly Step[];
}

/** Changes to sent audio; `swap` exchanges a frame with the next one of the same reply. */
export interface Tamper {
  readonly kind: 'duplicate' | 'skip' | 'swap';
  readonly sequence: number;
}

/** An HTTP response; by default with the flat error of section 7. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
}

export interface ConnectionScript {
  /** Responds to the handshake with HTTP. */
  readonly refuse?: HttpAnswer;
  /** Leaves the handshake without a response, or ends the connection. */
  readonly handshake?: 'unanswered' | 'dropped';
  /** The subprotocol of the response; default the requested one. */
  readonly subprotocol?: string;
  /** Default `serve()`. */
  readonly steps?: readonly Step[];
}

export interface ServerScript {
  /** The script of the nth connection, with refused ones; later connections are served. */
  readonly connections?: readonly ConnectionScript[];
  /** Additional HTTP responses, such as `{ 'GET /api/open/v3/voices': … }`. */
  readonly http?: Readonly<Record<string, HttpAnswer>>;
  readonly audio?: Partial<AudioShape>;
  /** The state of a request after a disconnect before `finish`; default `failed_retryable`. */
  readonly afterDrop?: RequestState;
  /** The state of its accepted segments; default `failed`. */
  readonly interrupted?: 'stored' | 'failed';
  /** Timeout of each step; default 20 seconds. */
  readonly timeoutMs?: number;
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
