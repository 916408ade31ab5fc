/**
 * Returns the first sign of phonemes in IPA that a voice does not speak; undefined if it speaks all.
 * @param signs the signs that the voice speaks
 */
export function foreignSign(phonemes: string, signs: string): string | undefined {
  const known = new Set(signs);
  return Array.from(
    phonemes.trim().replaceAll(/\s+/gu, ' ').normalize('NFD').replaceAll('c\u0327', 'ç'),
  ).find((sign) => !known.has(sign));
}
