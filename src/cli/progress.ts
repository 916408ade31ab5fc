import type { Ora } from 'ora';
import type { Clock } from '../effects/clock.ts';
import type { Io } from './io.ts';

/** Something that goes on. Every method is harmless when nothing is shown. */
export interface Progress {
  update(label: string): void;
  stop(): void;
}

const SILENT: Progress = { update: () => {}, stop: () => {} };

/** Work that is done sooner than this needs no picture. */
const A_MOMENT_MS = 300;

/**
 * Shows on stderr that work goes on, where a person is looking and the work takes longer than a
 * moment; otherwise does nothing and loads nothing.
 */
export function startProgress(io: Io, clock: Clock, label: string): Progress {
  if (!io.showsProgress) return SILENT;
  let text = label;
  let spinner: Ora | undefined;
  let isOver = false;
  const cancel = clock.after(A_MOMENT_MS, () => {
    void (async () => {
      const { default: ora } = await import('ora');
      if (isOver) return;
      spinner = ora({ text, stream: io.progressStream, discardStdin: false }).start();
    })();
  });
  const stop = (): void => {
    isOver = true;
    cancel();
    spinner?.stop();
  };
  io.cleanups.add(stop);
  return {
    update: (next) => {
      text = next;
      if (spinner !== undefined) spinner.text = next;
    },
    stop,
  };
}
