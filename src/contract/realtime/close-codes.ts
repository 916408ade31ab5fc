import type { ExitName } from '../exit-codes.ts';

export interface CloseCodeFacts {
  readonly meaning: string;
  /** The client may connect again (spec section 7.4, and the loss of a line, which no service decides). */
  readonly retryable: boolean;
  /** How the command line ends when nothing but the code says why. */
  readonly exit: ExitName;
}

/** The WebSocket close codes that either side may meet (spec section 7.4; RFC 6455, section 7.4.1). */
export const CLOSE_CODES = {
  1000: { meaning: 'the session is over', retryable: false, exit: 'badAnswer' },
  1001: { meaning: 'the other side goes away', retryable: false, exit: 'badAnswer' },
  1002: { meaning: 'a frame that breaks the protocol', retryable: false, exit: 'badAnswer' },
  1003: { meaning: 'a text frame', retryable: false, exit: 'badAnswer' },
  1005: { meaning: 'no code was given', retryable: false, exit: 'badAnswer' },
  1006: { meaning: 'the connection was lost', retryable: true, exit: 'network' },
  1007: { meaning: 'data that cannot be read', retryable: false, exit: 'badAnswer' },
  1008: { meaning: 'not permitted', retryable: false, exit: 'auth' },
  1009: { meaning: 'a message that is too large', retryable: false, exit: 'badAnswer' },
  1011: { meaning: 'the service failed', retryable: false, exit: 'service' },
  1012: { meaning: 'the service restarts', retryable: true, exit: 'service' },
  1013: { meaning: 'the service has too much to do', retryable: true, exit: 'service' },
} as const satisfies Readonly<Record<number, CloseCodeFacts>>;

export type CloseCode = keyof typeof CLOSE_CODES;

/** What a close code means; undefined for one that has no meaning here. */
export function closeCodeFacts(code: number): CloseCodeFacts | undefined {
  return isCloseCode(code) ? CLOSE_CODES[code] : undefined;
}

function isCloseCode(code: number): code is CloseCode {
  return Object.hasOwn(CLOSE_CODES, code);
}
