import type { Clock } from '../../effects/clock.ts';

/** The generations that run, so that a service that ends can finish them. */
export interface Generations {
  /** Notes one that runs; its signal aborts when the service cannot wait any longer. */
  start(): RunningGeneration;
  /** How many run. */
  readonly size: number;
  /**
   * Waits until none runs, for so long at most or until `hurry` is aborted; then those that are left are
   * aborted.
   */
  drain(graceMs: number, hurry?: AbortSignal): Promise<void>;
}

export interface RunningGeneration {
  readonly signal: AbortSignal;
  /** Stops the engine: nobody wants the rest. */
  abort(reason: unknown): void;
  end(): void;
}

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
      const stop = clock.after(graceMs, halt);
      hurry?.addEventListener('abort', halt, { once: true });
      if (hurry?.aborted === true) halt();
      await none;
      stop();
      hurry?.removeEventListener('abort', halt);
    },
  };
}
