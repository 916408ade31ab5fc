import type { SingleBar } from 'cli-progress';
import type { Clock } from '../effects/clock.ts';
import type { Io } from './io.ts';

/** Bytes on their way. Every method is harmless when nothing is shown. */
export interface TransferBar {
  /** So many have gone. */
  update(bytes: number): void;
  stop(): void;
}

const SILENT: TransferBar = { update: () => {}, stop: () => {} };

/** What is sent sooner than this needs no picture. */
const A_MOMENT_MS = 300;
const MEGABYTE = 1_000_000;

/**
 * Shows on stderr how much of something has gone, where a person is looking and it takes longer than a
 * moment; otherwise does nothing and loads nothing.
 */
export function startTransferBar(
  io: Io,
  clock: Clock,
  { label, totalBytes }: { readonly label: string; readonly totalBytes: number },
): TransferBar {
  if (!io.showsProgress) return SILENT;
  let gone = 0;
  let bar: SingleBar | undefined;
  let isOver = false;
  const cancel = clock.after(A_MOMENT_MS, () => {
    void (async () => {
      const opened = await openBar(io, label);
      if (isOver) return;
      bar = opened;
      bar.start(megabytes(totalBytes), megabytes(gone));
    })();
  });
  const stop = (): void => {
    isOver = true;
    cancel();
    bar?.stop();
  };
  io.cleanups.add(stop);
  return {
    update: (bytes) => {
      gone = bytes;
      bar?.update(megabytes(gone));
    },
    stop,
  };
}

async function openBar(io: Io, label: string): Promise<SingleBar> {
  const { default: progress } = await import('cli-progress');
  return new progress.SingleBar({
    format: `${label}  {bar} {value}/{total} MB  {eta_formatted}`,
    stream: io.progressStream,
    hideCursor: true,
    clearOnComplete: true,
    barsize: 24,
    linewrap: null,
    gracefulExit: false,
  });
}

function megabytes(bytes: number): number {
  return Math.round(bytes / (MEGABYTE / 10)) / 10;
}
