import { isAbsolute, delimiter } from 'node:path';
import { splitWords } from '../speech/play.ts';
import type { Io } from './io.ts';

/** As `git` and `gh` start less: quit when all fits, keep colors, leave the text on the screen. */
const USUAL = 'less';
const LESS_FLAGS = 'FRX';

/**
 * Shows a text that is longer than the screen through the pager of FOLEY_PAGER or PAGER, and waits until it is
 * closed.
 * @returns false when there is no pager, so that the text has to be written as it is
 * @throws Failure (usage) when the variable has a quote that is not closed
 */
export async function page(text: string, { env }: Pick<Io, 'env'>): Promise<boolean> {
  const [command, ...args] = splitWords(env['FOLEY_PAGER'] ?? env['PAGER'] ?? USUAL, 'the pager');
  if (command === undefined || command === 'cat') return false;
  const { execa } = await import('execa');
  const folders = (env['PATH'] ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  const ended = await execa(command, args, {
    input: text,
    stdout: 'inherit',
    stderr: 'inherit',
    // The key is not for other programs, and the current folder is none to look for them in.
    env: {
      FOLEY_API_KEY: undefined,
      PATH: folders.join(delimiter),
      LESS: env['LESS'] ?? LESS_FLAGS,
      LV: env['LV'] ?? '-c',
    },
    reject: false,
  });
  // One that ended by itself has shown what its reader wanted to see.
  return ended.exitCode !== undefined && ended.exitCode !== 127;
}
