import { sliceCodePoints } from './code-points.ts';

/** How much of the text an automatic name is made of (contract, section 3). */
export const SLUG_CHARACTERS = 40;

/**
 * A file name's stem from the beginning of a text: its first 40 characters as `[a-z0-9-]`, accents
 * folded, runs of anything else as one dash, none at either end. A text that leaves nothing (only
 * signs, or only letters of a script that does not fold to these) gives `speech`.
 */
export function slug(text: string): string {
  const folded = sliceCodePoints(text.trimStart(), 0, SLUG_CHARACTERS)
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{Mark}+/gu, '')
    .replaceAll(/[æđðħıłøœßþ]/g, (letter) => UNDECOMPOSED[letter] ?? '-')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, SLUG_CHARACTERS);
  const name = folded.replace(/^-/, '').replace(/-$/, '');
  return name === '' ? 'speech' : name;
}

/** Latin letters that Unicode does not take apart into a base letter and a mark. */
const UNDECOMPOSED: Readonly<Record<string, string>> = {
  æ: 'ae',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ı: 'i',
  ł: 'l',
  ø: 'o',
  œ: 'oe',
  ß: 'ss',
  þ: 'th',
};
