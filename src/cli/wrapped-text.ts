import stringWidth from 'string-width';

/** What is typed is never cut, so that it can be copied: it stands between backticks. */
const PIECES = /[^\s`]*(?:`[^`]*`[^\s`]*)+|\S+/g;

/** What a build service would obey at the beginning of a line (text/display.ts) is not put there. */
const ORDER = /^(?:::|##)/;

/**
 * Sentences on lines of at most `columns`, cut between words; a word or a quoted command that is longer has a
 * line of its own. Text that fits, or that nobody looks at (an infinite width), stays as it is.
 */
export function wrappedText(text: string, columns: number): string {
  if (stringWidth(text) <= columns) return text;
  const lines: string[] = [];
  for (const [piece] of text.matchAll(PIECES)) {
    const last = lines.at(-1);
    const longer = last === undefined ? piece : `${last} ${piece}`;
    const isTooLong = stringWidth(longer) > columns && !ORDER.test(piece);
    if (last === undefined || isTooLong) lines.push(piece);
    else lines[lines.length - 1] = longer;
  }
  return lines.join('\n');
}
