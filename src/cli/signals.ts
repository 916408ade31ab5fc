/** An event emitter for operating system signals, such as Node's `process`. */
export interface SignalSource {
  on(signal: StopSignal, listener: () => void): unknown;
  off(signal: StopSignal, listener: () => void): unknown;
}

/** Signals that stop a run; `SIGHUP` means that the terminal was closed. */
export type StopSignal = (typeof STOP_SIGNALS)[number];

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The abort reason of a run that a stop signal such as Ctrl-C ended. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  readonly stopSignal: StopSignal;

  constructor(stopSignal: StopSignal) {
    super(`stopped by ${stopSignal}`);
    this.stopSignal = stopSignal;
  }
}

/**
 * Listens for stop signals. The first signal aborts `signal` with `Interrupted`, and the second calls `onSecond`.
 * `stop` removes the listeners.
 */
export function watchSignals(
  source: SignalSource,
  onSecond: (signal: StopSignal) => void,
): { readonly signal: AbortSignal; readonly stop: () => void } {
  const controller = new AbortController();
  const listeners = STOP_SIGNALS.map((stopSignal) => {
    const listener = (): void => {
      if (controller.signal.aborted) onSecond(stopSignal);
      else controller.abort(new Interrupted(stopSignal));
    };
    source.on(stopSignal, listener);
    return { stopSignal, listener };
  });
  return {
    signal: controller.signal,
    stop: () => {
      for (const { listener, stopSignal } of listeners) source.off(stopSignal, listener);
    },
  };
}
