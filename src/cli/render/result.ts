import type { ExitName } from '../../contract/exit-codes.ts';
import type { Failure } from '../../errors/failure.ts';
import { toJson } from '../../text/display.ts';
import type { Io } from '../io.ts';
import type { SeenNames } from '../known-names.ts';
import type { Look } from './style.ts';

/**
 * What a command gives back. One renderer turns it into text for a person or into JSON; a command
 * never prints.
 */
export interface CommandResult {
  /** The document of `--json`. `undefined` when stdout already carried the result (audio). */
  readonly data?: unknown;
  /** The text for stdout without `--json`; without it stdout stays empty. */
  readonly human?: (look: Look) => string;
  /** A sentence for stderr, told after it; `--quiet` silences it. */
  readonly notice?: string;
  /** How the process ends when not with 0, such as `partial`. */
  readonly exit?: ExitName;
  /** What went wrong although there is a result; it is told after it, and decides how the process ends. */
  readonly failure?: Failure;
  /** Names that the service told, kept for the completion of shells. */
  readonly seen?: SeenNames;
}

/** Writes a command's result to stdout: one JSON document, or text for a person. */
export async function render(result: CommandResult, io: Io, json: boolean): Promise<void> {
  if (json) {
    if (result.data !== undefined) {
      await io.writeOut(`${toJson(result.data, io.stdoutIsTerminal)}\n`);
    }
    return;
  }
  const text = result.human?.(io.out);
  if (text === undefined || text === '') return;
  const lines = text.endsWith('\n') ? text : `${text}\n`;
  if (isLongerThan(io.pageLines, lines)) {
    const { page } = await import('../pager.ts');
    if (await page(lines, io)) return;
  }
  await io.writeOut(lines);
}

function isLongerThan(count: number, text: string): boolean {
  return count !== Infinity && text.split('\n').length - 1 > count;
}
