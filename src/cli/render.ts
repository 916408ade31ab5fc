import { toJson } from '../text/display.ts';
import type { Io } from './io.ts';
import type { CommandResult } from './result.ts';

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
    const { page } = await import('./pager.ts');
    if (await page(lines, io)) return;
  }
  await io.writeOut(lines);
}

function isLongerThan(count: number, text: string): boolean {
  return count !== Infinity && text.split('\n').length - 1 > count;
}
