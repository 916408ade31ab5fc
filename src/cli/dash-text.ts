import type { Option } from 'commander';

/**
 * Text may begin with a dash ("- and then it rained"): a word of free text that does so and has
 * white space is text, not a flag (contract, section 5). The parser knows nothing of that, so such
 * words carry a mark through it that no argument of a process can hold.
 */
const MARK = '\0';

export function guardDashText(
  words: readonly string[],
  options: readonly Option[],
): readonly string[] {
  const takesValue = new Set(
    options.flatMap(({ required, long, short }) => (required ? [long, short] : [])),
  );
  const longs = new Set(options.map(({ long }) => long));
  const end = words.indexOf('--');
  return words.map((word, index) => {
    const isValue = index > 0 && takesValue.has(words[index - 1]);
    const isAfterFlags = end !== -1 && index > end;
    return !isValue && !isAfterFlags && isDashText(word, longs) ? MARK + word : word;
  });
}

function isDashText(word: string, longs: ReadonlySet<string | null | undefined>): boolean {
  if (!word.startsWith('-') || !/\s/.test(word)) return false;
  return !(word.includes('=') && longs.has(word.split('=', 1)[0]));
}

/** Takes the marks off the arguments again. */
export function restoreDashText(words: readonly string[]): readonly string[] {
  return words.map((word) => (word.startsWith(MARK) ? word.slice(MARK.length) : word));
}
