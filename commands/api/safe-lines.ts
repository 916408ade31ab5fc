import { display } from '../../src/text/display.ts';

/** A line above this is shown in pieces. */
const LONGEST_LINE = 16_384;

/**
 * Text from a server as lines that are safe on a terminal, each with its line end, as they arrive.
 * Tabs stay; what is no UTF-8 becomes replacement characters.
 */
export async function* safeLines(
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let held = '';
  for await (const chunk of bytes) {
    const lines = (held + decoder.decode(chunk, { stream: true })).split('\n');
    held = lines.pop() ?? '';
    for (const line of lines) yield `${safe(line)}\n`;
    if (held.length > LONGEST_LINE) {
      yield safe(held);
      held = '';
    }
  }
  held += decoder.decode();
  if (held !== '') yield `${safe(held)}\n`;
}

function safe(line: string): string {
  return line
    .replace(/\r$/, '')
    .split('\t')
    .map((part) => display(part))
    .join('\t');
}
