const LINE_BREAK = /\r\n|[\n\r\u0085\u2028\u2029]/g;

/**
 * Whether a paragraph ends with this sentence: the white space that belongs to it has a blank line.
 */
export function endsParagraph(sentence: string): boolean {
  const space = sentence.slice(sentence.trimEnd().length);
  return (space.match(LINE_BREAK)?.length ?? 0) > 1;
}
