/** What follows a word: a sound, or a pause. */
export type Following = 'vowel' | 'consonant' | 'pause';

/** The place of a word in its sentence. */
export interface WordContext {
  readonly following: Following;
  /** Whether the next word is "to". */
  readonly isBeforeTo: boolean;
  /** Whether "a" is the name of the letter. */
  readonly isNameOfA: boolean;
  /** Returns the part of speech. Called only if the pronunciation depends on it: the tagger reads the whole sentence. */
  readonly tag: () => string;
}

/** Returns the phonemes of a function word whose sound depends on its neighbors, or undefined for other words. */
export function readFunctionWord(word: string, place: WordContext): string | undefined {
  const { following, isBeforeTo } = place;
  switch (word === word.toUpperCase() && word.length > 1 ? word : word.toLowerCase()) {
    case 'the':
    case 'THE':
      return following === 'vowel' ? 'ði' : 'ðə';
    case 'a':
      return place.isNameOfA ? 'ˈA' : 'ɐ';
    case 'an':
      return 'ɐn';
    case 'i':
      return word === 'I' ? 'ˌI' : undefined;
    case 'to':
    case 'TO':
      return BEFORE[following];
    case 'am':
      return word === 'am' && following !== 'pause' ? 'ɐm' : 'æm';
    case 'in':
      return following === 'pause' || place.tag() !== 'IN' ? 'ˈɪn' : 'ɪn';
    case 'by':
      return following !== 'pause' && place.tag().startsWith('RB') ? 'bˈI' : undefined;
    case 'used':
      return isBeforeTo && /^(?:VBD|JJ)$/.test(place.tag()) ? 'jˈust' : 'jˈuzd';
    case 'vs':
    case 'vs.':
      return 'vˈɜɹsəs';
    default:
      return undefined;
  }
}

/** The sounds of "to". */
const BEFORE: Readonly<Record<Following, string>> = { vowel: 'tʊ', consonant: 'tə', pause: 'tu' };
