import type { Clock } from '../../system/clock.ts';
import type { Io } from '../io.ts';

/** A progress display for running work. If foley shows no progress, the methods do nothing. */
export interface Progress {
  /** Updates the label and, if `done` is given, the completed part of the total. */
  update(label: string, done?: number): void;
  stop(): void;
}

/** How completed work is counted: in percent, or in bytes of a known total. */
export type ProgressTotal = 'percent' | { readonly bytes: number };

const SILENT: Progress = { update: () => {}, stop: () => {} };

// Shorter work shows no progress.
const DELAY_MS = 300;

/** Shows progress on stderr. Does nothing if the output options or the terminal do not allow progress displays. */
export function startProgress(
  io: Io,
  clock: Clock,
  label: string,
  total?: ProgressTotal,
): Progress {
  if (!io.showsProgress) return SILENT;
  let now = { label, done: 0 };
  let drawing: Drawing | undefined;
  let isOver = false;
  const cancel = clock.after(DELAY_MS, () => {
    void (async () => {
      const opened = await (total === undefined ? openSpinner(io) : openBar(io, total));
      if (isOver) return;
      drawing = opened;
      drawing.start(now);
    })();
  });
  const stop = (): void => {
    isOver = true;
    cancel();
    drawing?.stop();
  };
  io.cleanups.add(stop);
  return {
    update: (next, done = now.done) => {
      now = { label: next, done };
      drawing?.update(now);
    },
    stop,
  };
}

interface Drawn {
  readonly label: string;
  readonly done: number;
}

interface Drawing {
  start(drawn: Drawn): void;
  update(drawn: Drawn): void;
  stop(): void;
}

async function openSpinner({ progressStream }: Io): Promise<Drawing> {
  const { default: ora } = await import('ora');
  const spinner = ora({ stream: progressStream, discardStdin: false });
  return {
    start: ({ label }) => void spinner.start(label),
    update: ({ label }) => {
      spinner.text = label;
    },
    stop: () => void spinner.stop(),
  };
}

async function openBar({ progressStream }: Io, total: ProgressTotal): Promise<Drawing> {
  const { default: progress } = await import('cli-progress');
  const isPercent = total === 'percent';
  const bar = new progress.SingleBar({
    ...barStyle(progressStream),
    format: isPercent
      ? '{label}  {bar} {percentage}%'
      : '{label}  {bar} {value}/{total} MB  {eta_formatted}',
  });
  const value = (done: number): number => (isPercent ? Math.round(done) : megabytes(done));
  return {
    start: ({ done, label }) =>
      bar.start(isPercent ? 100 : megabytes(total.bytes), value(done), { label }),
    update: ({ done, label }) => bar.update(value(done), { label }),
    stop: () => bar.stop(),
  };
}

export function barStyle(stream: NodeJS.WritableStream) {
  return {
    stream,
    hideCursor: true,
    clearOnComplete: true,
    barsize: 24,
    linewrap: null,
    gracefulExit: false,
  } as const;
}

function megabytes(bytes: number): number {
  return Math.round(bytes / 100_000) / 10;
}

// More lines would scroll the command out of view.
const MOST_LINES = 12;

/** Lines on stderr that foley rewrites in place. */
export interface LiveLines {
  show(lines: readonly string[]): void;
  clear(): void;
}

const SILENT_LINES: LiveLines = { show: () => {}, clear: () => {} };

/** Creates lines that are rewritten in place on a terminal. To avoid flicker, each change is a single write. */
export function liveLines(io: Io): LiveLines {
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
