/** One thing that the server does on a connection; an answer is a list of them. */
export type Step =
  | { readonly kind: 'write'; readonly bytes: Uint8Array }
  /** Writes the bytes again and again, as fast as the client reads; `times` may be Infinity. */
  | { readonly kind: 'repeat'; readonly bytes: Uint8Array; readonly times: number }
  /** Does nothing until the test says `advance()`. */
  | { readonly kind: 'pause' }
  /** Ends our side of the connection in order (FIN). */
  | { readonly kind: 'fin' }
  /** Breaks the connection (RST). */
  | { readonly kind: 'reset' }
  /** Becomes a pipe to a port of this machine, as a proxy does after CONNECT. */
  | { readonly kind: 'tunnel'; readonly port: number };

export function write(bytes: Uint8Array | string): Step {
  return { kind: 'write', bytes: typeof bytes === 'string' ? Buffer.from(bytes) : bytes };
}

export function repeat(bytes: Uint8Array | string, times: number): Step {
  return { kind: 'repeat', bytes: typeof bytes === 'string' ? Buffer.from(bytes) : bytes, times };
}

export function pause(): Step {
  return { kind: 'pause' };
}

export function fin(): Step {
  return { kind: 'fin' };
}

export function reset(): Step {
  return { kind: 'reset' };
}

export function tunnelTo(port: number): Step {
  return { kind: 'tunnel', port };
}
