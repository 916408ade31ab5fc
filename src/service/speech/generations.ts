import type { Clock } from '../../system/clock.ts';

export type Generations = ReturnType<typeof createGenerations>;

export interface RunningGeneration {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  end(): void;
}

const HURRY_MS = 1_000;

/** Creates the list of running speech generations, which the service finishes before it closes. */
export function createGenerations(clock: Clock) {
  const running = new Set<AbortController>();
  let onEmpty: (() => void) | undefined;
  return {
    get size() {
      return running.size;
    },
    /** Registers a running generation. If the service closes before the generation has ended, it may abort `signal`. */
    start(): RunningGeneration {
      const controller = new AbortController();
      running.add(controller);
      return {
        signal: controller.signal,
        abort: (reason) => controller.abort(reason),
        end() {
          running.delete(controller);
          if (running.size === 0) onEmpty?.();
        },
      };
    },
    /** Waits for all generations. Aborts unfinished ones after `graceMs`, or one second after `hurry` is aborted. */
    async drain(graceMs: number, hurry?: AbortSignal): Promise<void> {
      if (running.size === 0) return;
      const empty = new Promise<void>((resolve) => {
        onEmpty = resolve;
      });
      const abortAll = (): void => {
        for (const controller of running) controller.abort(new Error('the service is closing'));
      };
      const stops = [clock.after(graceMs, abortAll)];
      const hasten = (): void => void stops.push(clock.after(HURRY_MS, abortAll));
      hurry?.addEventListener('abort', hasten, { once: true });
      if (hurry?.aborted === true) hasten();
      await empty;
      for (const stop of stops) stop();
      hurry?.removeEventListener('abort', hasten);
    },
  };
}
