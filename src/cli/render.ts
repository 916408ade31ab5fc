import type { Io } from './io.ts';
import type { CommandResult } from './result.ts';

/** Characters that JSON may hold raw but that can change what a terminal shows. */
const UNSAFE_IN_JSON =
  /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

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

/** JSON in which every control and direction character is escaped, so that it is safe to look at. */
export function toJson(data: unknown, pretty = false): string {
  return JSON.stringify(data, undefined, pretty ? 2 : undefined).replace(
    UNSAFE_IN_JSON,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
