import { isInFont } from './font-coverage.ts';

export interface Title {
  /** What can be written of the prompt; empty when nothing can. */
  readonly text: string;
  /** Characters of the prompt that the font does not have; white space is none. */
  readonly lacking: number;
}

/** A title that is longer than this is cut; it is to be read at a glance. */
export const TITLE_MAX_CHARACTERS = 120;

/**
 * The prompt as a title: on one line, cut at a word, and without the characters that the font does not
 * have, since those would become boxes.
 */
export function titleOf(prompt: string): Title {
  const characters = Array.from(prompt.normalize('NFC').replaceAll(/\s+/gu, ' ').trim());
  const written = characters.filter((character) => isInFont(character));
  return {
    text: cut(written.join('').replaceAll(/ +/g, ' ').trim()),
    lacking: characters.length - written.length,
  };
}

function cut(text: string): string {
  const characters = Array.from(text);
  if (characters.length <= TITLE_MAX_CHARACTERS) return text;
  const kept = characters.slice(0, TITLE_MAX_CHARACTERS - 1).join('');
  const lastSpace = kept.lastIndexOf(' ');
  // A word that is as long as half a title is cut itself.
  const end = lastSpace > TITLE_MAX_CHARACTERS / 2 ? lastSpace : kept.length;
  return `${kept.slice(0, end).trimEnd()}…`;
}
