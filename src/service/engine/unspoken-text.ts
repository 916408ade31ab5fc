import type { Region } from '../../text/reading/english.ts';
import { letterName } from '../../text/reading/english.ts';
import { isUnreadSign } from '../../text/reading/signs.ts';
import type { TextSpan } from './speech-engine.ts';
import type { TracedText } from './traced-text.ts';

/** Matches the letters and digits that a voice should speak, but not modifiers such as the ʻ of Hawaiian. */
export const COUNTED_LETTER = /(?![\u02b0-\u02ff])[\p{L}\p{N}]/u;
const JOINED = /[\p{M}\u200c\u200d]/u;

/**
 * Returns the positions of the letters and digits in a text that an engine cannot speak, and of the signs that have no
 * reading. A position includes the
 * combining marks of its letter. A foreign letter that is read as an English word, such as the `μ` of `10 μm`, counts
 * as spoken.
 * @param rewrite returns the text as the engine receives it
 * @param isForeign returns true for a character that the engine cannot speak
 * @param region regional rules for reading English; undefined if the text is spoken as it is written
 * @param first position of this text within a longer text, in code points
 */
export function unspokenIn(
  text: string,
  rewrite: () => TracedText,
  {
    first = 0,
    isForeign,
    region,
  }: {
    readonly isForeign: (character: string) => boolean;
    readonly region: Region | undefined;
    readonly first?: number;
  },
): TextSpan[] {
  const foreign = charactersOf(text).filter(
    ({ character }) => isForeign(character) || (region !== undefined && isUnreadSign(character)),
  );
  // A letter inside a foreign word is never read by its name.
  const named = foreign.filter(
    ({ at, character }, index) =>
      region !== undefined &&
      letterName(character) !== undefined &&
      foreign[index - 1]?.at !== at - 1 &&
      foreign[index + 1]?.at !== at + 1,
  );
  const isSpoken = named.length === 0 ? () => false : spokenUnits(rewrite(), isForeign);
  const spoken = new Set(named.filter((one) => isSpoken(one)));
  const units = foreign.filter((one) => !spoken.has(one));
  return rangesOf(text, new Set(units.map(({ at }) => at)), first);
}

function spokenUnits(
  traced: TracedText,
  isForeign: (character: string) => boolean,
): (letter: Character) => boolean {
  const spoken = new Set<number>();
  const left = new Map<number, ReadonlySet<string>>();
  for (const { characters, start, end } of piecesOf(traced)) {
    const remaining = new Set(characters.filter((character) => isForeign(character)));
    const hasLetter = characters.some(
      (character) => COUNTED_LETTER.test(character) && !isForeign(character),
    );
    for (let unit = start; unit < end; unit += 1) {
      if (hasLetter) spoken.add(unit);
      if (remaining.size > 0) left.set(unit, remaining);
    }
  }
  return ({ at, character }) => {
    const parts = [character, ...Array.from(character.normalize('NFKD'))];
    return spoken.has(at) && !parts.some((part) => left.get(at)?.has(part));
  };
}

function piecesOf(traced: TracedText) {
  const pieces: { start: number; end: number; characters: string[] }[] = [];
  for (const { at, character } of charactersOf(traced.text)) {
    const { start, end } = traced.source(at, at + character.length);
    const last = pieces.at(-1);
    if (last?.start === start && last.end === end) last.characters.push(character);
    else pieces.push({ start, end, characters: [character] });
  }
  return pieces;
}

interface Character {
  readonly at: number;
  readonly character: string;
}

function charactersOf(text: string): Character[] {
  let next = 0;
  return Array.from(text, (character) => {
    const at = next;
    next += character.length;
    return { at, character };
  });
}

function rangesOf(text: string, units: ReadonlySet<number>, first: number): TextSpan[] {
  const ranges: { start: number; end: number }[] = [];
  let at = 0;
  let point = first;
  for (const character of text) {
    const last = ranges.at(-1);
    const isNext = last?.end === point;
    if (isNext && (units.has(at) || JOINED.test(character))) last.end = point + 1;
    else if (units.has(at)) ranges.push({ start: point, end: point + 1 });
    at += character.length;
    point += 1;
  }
  return ranges;
}
