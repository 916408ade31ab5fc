/** What the process tells about signals; Node's `process` is one. */
export interface SignalSource {
  on(signal: StopSignal, listener: () => void): unknown;
  off(signal: StopSignal, listener: () => void): unknown;
}

export type StopSignal = 'SIGINT' | 'SIGTERM';

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
 * Turns the first SIGINT or SIGTERM into an abort, so that work is put down cleanly. The second one
 * calls `onImpatience`, which ends the process at once.
 */
export function watchSignals(
  source: SignalSource,
  onImpatience: (signal: StopSignal) => void,
): SignalWatch {
  const controller = new AbortController();
  const listen = (stopSignal: StopSignal) => (): void => {
    if (controller.signal.aborted) onImpatience(stopSignal);
    else controller.abort(new Interrupted(stopSignal));
  };
  const onInterrupt = listen('SIGINT');
  const onTerminate = listen('SIGTERM');
  source.on('SIGINT', onInterrupt);
  source.on('SIGTERM', onTerminate);
  return {
    signal: controller.signal,
    stop: () => {
      source.off('SIGINT', onInterrupt);
      source.off('SIGTERM', onTerminate);
    },
  };
}
