/** Ranges of code points that can mislead a terminal or a reader; tab and newline are not in them. */
const UNSAFE: readonly (readonly [first: number, last: number])[] = [
  [0x00, 0x08],
  [0x0b, 0x1f],
  // Delete and the C1 controls.
  [0x7f, 0x9f],
  // Zero-width characters and direction marks, line separators, embeddings and overrides.
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x2069],
  [0xfeff, 0xfeff],
  [0xfff9, 0xfffb],
  // Invisible letters.
  [0xe0000, 0xe0fff],
];

/** The unsafe characters in an output, such as `U+001B`, each once; none is what a test wants. */
export function unsafeCharacters(output: string | Uint8Array): string[] {
  const text = typeof output === 'string' ? output : Buffer.from(output).toString();
  const found = new Set(Array.from(text, (character) => character.codePointAt(0) ?? 0));
  return [...found]
    .filter((code) => UNSAFE.some(([first, last]) => code >= first && code <= last))
    .sort((a, b) => a - b)
    .map((code) => `U+${code.toString(16).toUpperCase().padStart(4, '0')}`);
}
