import type { SingleBar } from 'cli-progress';
import type { Ora } from 'ora';
import type { Clock } from '../../effects/clock.ts';
import type { Io } from '../io.ts';

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

/** Work of which it is known how much is done. Every method is harmless when nothing is shown. */
export interface PercentBar {
  /** @param label what is going on now */
  update(percent: number, label: string): void;
  stop(): void;
}

const SILENT_PERCENT: PercentBar = { update: () => {}, stop: () => {} };
const WHOLE = 100;

/**
 * Shows on stderr how far work is, where a person is looking and it takes longer than a moment; otherwise
 * does nothing and loads nothing.
 */
export function startPercentBar(io: Io, clock: Clock, label: string): PercentBar {
  if (!io.showsProgress) return SILENT_PERCENT;
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

/** Bytes on their way. Every method is harmless when nothing is shown. */
export interface TransferBar {
  /** So many have gone. */
  update(bytes: number): void;
  stop(): void;
}

const SILENT_TRANSFER: TransferBar = { update: () => {}, stop: () => {} };
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
  if (!io.showsProgress) return SILENT_TRANSFER;
  let gone = 0;
  let bar: SingleBar | undefined;
  let isOver = false;
  const cancel = clock.after(A_MOMENT_MS, () => {
    void (async () => {
      const opened = await openTransferBar(io, label);
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

async function openTransferBar(io: Io, label: string): Promise<SingleBar> {
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

/** More would push what a person wrote out of sight. */
const MOST_LINES = 12;

/** A few lines on stderr that are written anew when something in them changes. */
export interface LiveLines {
  show(lines: readonly string[]): void;
  /** Takes them away. */
  clear(): void;
}

const SILENT_LINES: LiveLines = { show: () => {}, clear: () => {} };

/**
 * Lines that live where a person is looking; elsewhere nothing is shown. What did not change is not
 * written again, and what did is written at once, so that nothing flickers.
 */
export function liveLines(io: Pick<Io, 'progressStream' | 'showsProgress'>): LiveLines {
  if (!io.showsProgress) return SILENT_LINES;
  const { progressStream } = io;
  let shown: readonly string[] = [];
  const back = (): string => (shown.length === 0 ? '' : `\u001b[${shown.length}A\r\u001b[0J`);
  return {
    show(all) {
      const lines = fitting(all);
      if (lines.join('\n') === shown.join('\n')) return;
      progressStream.write(back() + lines.map((line) => `${line}\n`).join(''));
      shown = lines;
    },
    clear() {
      if (shown.length > 0) progressStream.write(back());
      shown = [];
    },
  };
}

function fitting(lines: readonly string[]): readonly string[] {
  if (lines.length <= MOST_LINES) return lines;
  const more = lines.length - MOST_LINES + 1;
  return [...lines.slice(0, MOST_LINES - 1), `… and ${more} more`];
}
