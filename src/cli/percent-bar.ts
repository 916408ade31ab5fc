import type { SingleBar } from 'cli-progress';
import type { Clock } from '../effects/clock.ts';
import type { Io } from './io.ts';

/** Work of which it is known how much is done. Every method is harmless when nothing is shown. */
export interface PercentBar {
  /** @param label what is going on now */
  update(percent: number, label: string): void;
  stop(): void;
}

const SILENT: PercentBar = { update: () => {}, stop: () => {} };

/** What is done sooner than this needs no picture. */
const A_MOMENT_MS = 300;
const WHOLE = 100;

/**
 * Shows on stderr how far work is, where a person is looking and it takes longer than a moment; otherwise
 * does nothing and loads nothing.
 */
export function startPercentBar(io: Io, clock: Clock, label: string): PercentBar {
  if (!io.showsProgress) return SILENT;
  let now = { percent: 0, label };
  let bar: SingleBar | undefined;
  let isOver = false;
  const cancel = clock.after(A_MOMENT_MS, () => {
    void (async () => {
      const opened = await openBar(io);
      if (isOver) return;
      bar = opened;
      bar.start(WHOLE, now.percent, { label: now.label });
    })();
  });
  const stop = (): void => {
    isOver = true;
    cancel();
    bar?.stop();
  };
  io.cleanups.add(stop);
  return {
    update: (percent, next) => {
      now = { percent: Math.round(percent), label: next };
      bar?.update(now.percent, { label: now.label });
    },
    stop,
  };
}

async function openBar(io: Io): Promise<SingleBar> {
  const { default: progress } = await import('cli-progress');
  return new progress.SingleBar({
    format: '{label}  {bar} {percentage}%',
    stream: io.progressStream,
    hideCursor: true,
    clearOnComplete: true,
    barsize: 24,
    linewrap: null,
    gracefulExit: false,
  });
}
