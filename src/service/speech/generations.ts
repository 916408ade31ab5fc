import type { Clock } from '../../effects/clock.ts';

/** The generations that run, so that a service that ends can finish them. */
export interface Generations {
  /** Notes one that runs; its signal aborts when the service cannot wait any longer. */
  start(): RunningGeneration;
  /** How many run. */
  readonly size: number;
  /**
   * Waits until none runs, for so long at most; then those that are left are aborted. Once `hurry` is
   * aborted only a moment is left to them, in which those end by themselves whose client is gone.
   */
  drain(graceMs: number, hurry?: AbortSignal): Promise<void>;
}

export interface RunningGeneration {
  readonly signal: AbortSignal;
  /** Stops the engine: nobody wants the rest. */
  abort(reason: unknown): void;
  end(): void;
}

const HURRY_MS = 1_000;

/** A list of generations, empty at first. */
export function createGenerations(clock: Clock): Generations {
  const running = new Set<AbortController>();
  let whenNone: (() => void) | undefined;
  return {
    get size() {
      return running.size;
    },
    start() {
      const controller = new AbortController();
      running.add(controller);
      return {
        signal: controller.signal,
        abort: (reason) => controller.abort(reason),
        end() {
          running.delete(controller);
          if (running.size === 0) whenNone?.();
        },
      };
    },
    async drain(graceMs, hurry) {
      if (running.size === 0) return;
      const none = new Promise<void>((resolve) => {
        whenNone = resolve;
      });
      const halt = (): void => {
        for (const controller of running) controller.abort(new Error('the service is closing'));
      };
      const stops = [clock.after(graceMs, halt)];
      const hasten = (): void => void stops.push(clock.after(HURRY_MS, halt));
      hurry?.addEventListener('abort', hasten, { once: true });
      if (hurry?.aborted === true) hasten();
      await none;
      for (const stop of stops) stop();
      hurry?.removeEventListener('abort', hasten);
    },
  };
}
