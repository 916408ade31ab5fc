import type { Io } from './io.ts';

/** More would push what a person wrote out of sight. */
const MOST_LINES = 12;

/** A few lines on stderr that are written anew when something in them changes. */
export interface LiveLines {
  show(lines: readonly string[]): void;
  /** Takes them away. */
  clear(): void;
}

const SILENT: LiveLines = { show: () => {}, clear: () => {} };

/**
 * Lines that live where a person is looking; elsewhere nothing is shown. What did not change is not
 * written again, and what did is written at once, so that nothing flickers.
 */
export function liveLines(io: Pick<Io, 'progressStream' | 'showsProgress'>): LiveLines {
  if (!io.showsProgress) return SILENT;
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
