import type { Io } from './io.ts';

/** Something that goes on. Every method is harmless when nothing is shown. */
export interface Progress {
  update(label: string): void;
  stop(): void;
}

const SILENT: Progress = { update: () => {}, stop: () => {} };

/**
 * Shows on stderr that work goes on, where a person is looking; otherwise does nothing and loads
 * nothing. The picture appears only when the work takes longer than a moment.
 */
export async function startProgress(
  io: Io,
  stderr: NodeJS.WritableStream,
  label: string,
): Promise<Progress> {
  if (!io.showsProgress) return SILENT;
  const { default: ora } = await import('ora');
  const spinner = ora({ text: label, stream: stderr, discardStdin: false }).start();
  return {
    update: (text) => {
      spinner.text = text;
    },
    stop: () => {
      spinner.stop();
    },
  };
}
