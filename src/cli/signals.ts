import { constants } from 'node:os';

/** An event emitter for operating system signals, such as Node's `process`. */
export interface SignalSource {
  on(signal: ReceivedSignal, listener: () => void): unknown;
  off(signal: ReceivedSignal, listener: () => void): unknown;
}

/** A signal that stops foley. `SIGHUP` means that the terminal was closed. */
export type StopSignal = (typeof RECEIVED_SIGNALS)[number][1];

type ReceivedSignal = (typeof RECEIVED_SIGNALS)[number][0];

const RECEIVED_SIGNALS = [
  ['SIGINT', 'SIGINT'],
  ['SIGTERM', 'SIGTERM'],
  ['SIGHUP', 'SIGHUP'],
  // Ctrl-Break; only Windows sends this signal.
  ['SIGBREAK', 'SIGINT'],
] as const;

/** The abort reason after a stop signal, such as `SIGINT` from Ctrl-C. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  readonly stopSignal: StopSignal;

  constructor(stopSignal: StopSignal) {
    super(`stopped by ${stopSignal}`);
    this.stopSignal = stopSignal;
  }
}

/**
 * Listens for stop signals. The first stop signal aborts the returned `signal` with `Interrupted`. Each later one calls
 * `onSecond`. The returned function `stop` removes the listeners.
 */
export function watchSignals(
  source: SignalSource,
  onSecond: (signal: StopSignal) => void,
): { readonly signal: AbortSignal; readonly stop: () => void } {
  const controller = new AbortController();
  const listeners = RECEIVED_SIGNALS.map(([name, stopSignal]) => {
    const listener = (): void => {
      if (controller.signal.aborted) onSecond(stopSignal);
      else controller.abort(new Interrupted(stopSignal));
    };
    source.on(name, listener);
    return { name, listener };
  });
  return {
    signal: controller.signal,
    stop: () => {
      for (const { listener, name } of listeners) source.off(name, listener);
    },
  };
}

/** The part of Node's `process` that {@link endWithSignal} needs. */
export interface EndingProcess {
  readonly platform: NodeJS.Platform;
  readonly pid: number;
  exitCode?: number | string | null | undefined;
  exit(): unknown;
  kill(pid: number, signal: StopSignal): unknown;
  removeAllListeners(signal: StopSignal): unknown;
}

/**
 * Ends the process by sending it a stop signal. On Windows, the process exits instead, with the exit code that shells
 * use for the signal, such as 130.
 */
export function endWithSignal(host: EndingProcess, signal: StopSignal): void {
  host.exitCode = 128 + constants.signals[signal];
  // Windows has no signals between processes.
  if (host.platform === 'win32') {
    host.exit();
    return;
  }
  // A remaining listener, such as a spinner's, would swallow the signal.
  host.removeAllListeners(signal);
  // The calling shell sees the signal.
  host.kill(host.pid, signal);
}
