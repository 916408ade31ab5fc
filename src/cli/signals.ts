/** Source of signals; Node's `process` is one. */
export interface SignalSource {
  on(signal: StopSignal, listener: () => void): unknown;
  off(signal: StopSignal, listener: () => void): unknown;
}

/** Signals that stop a run cleanly; `SIGHUP` is a terminal that was closed. */
export type StopSignal = (typeof STOP_SIGNALS)[number];

const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** The user or the system asked the run to stop. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  readonly stopSignal: StopSignal;

  constructor(stopSignal: StopSignal) {
    super(`stopped by ${stopSignal}`);
    this.stopSignal = stopSignal;
  }
}

export interface SignalWatch {
  /** Aborted with `Interrupted` at the first signal. */
  readonly signal: AbortSignal;
  /** Gives the signals back to their default handling. */
  stop(): void;
}

/**
 * Turns the first of these signals into an abort, so that work is put down cleanly. The second one
 * calls `onImpatience`, which ends the process at once.
 */
export function watchSignals(
  source: SignalSource,
  onImpatience: (signal: StopSignal) => void,
): SignalWatch {
  const controller = new AbortController();
  const listeners = STOP_SIGNALS.map((stopSignal) => {
    const listener = (): void => {
      if (controller.signal.aborted) onImpatience(stopSignal);
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
