/** The WebSocket of a connection, as a session uses it. */
export interface LiveSocket {
  /** Bytes that wait to be sent. */
  readonly bufferedAmount: number;
  /** Sends a binary message; `sent` is called when it has left this program, or never will. */
  send(bytes: Uint8Array, sent: () => void): void;
  ping(): void;
  /** Says goodbye, and is gone soon after, answered or not. */
  close(code: number): void;
  /** Is gone at once. */
  terminate(): void;
  /** Breaks off without a goodbye, when everything sent has left: a fault rule wants that. */
  breakOff(kind: 'reset' | 'truncate'): void;
}

/** What a session wants to know of its WebSocket. */
export interface SocketListener {
  message(bytes: Uint8Array, isText: boolean): void;
  /** The other side answered a ping. */
  pong(): void;
  closed(): void;
}
