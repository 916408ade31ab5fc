import { stressLightly } from './stress.ts';

/** An ending that the dictionary leaves out: the word before it, and how to add its sound. */
export interface Ending {
  readonly stem: string;
  readonly addSound: (stem: string) => string;
}

/** Returns the ways to take -s, -'s, -ed, -ing or a short form such as -'ll off a word, the most likely one first. */
export function endingsOf(word: string): readonly Ending[] {
  return [...plurals(word), ...pasts(word), ...participles(word), ...shortForms(word)];
}

/** Adds the sound of a plural or a possessive: `cats`, `dogs`, `boxes`. */
export function addS(stem: string): string {
  const last = stem.at(-1) ?? '';
  if ('ptkfθ'.includes(last)) return `${stem}s`;
  return 'szʃʒʧʤ'.includes(last) ? `${stem}ᵻz` : `${stem}z`;
}

const FLAP_BEFORE_VOWEL = /([AIOWYiuæɑəɛɪɹʊʌ])t$/;

function plurals(word: string): readonly Ending[] {
  if (word.length < 3 || !word.endsWith('s')) return [];
  const stems: string[] = [];
  if (!word.endsWith('ss')) stems.push(word.slice(0, -1));
  const addsSyllable = word.length > 4 && word.endsWith('es') && !word.endsWith('ies');
  if (word.endsWith("'s") || addsSyllable) stems.push(word.slice(0, -2));
  if (word.length > 4 && word.endsWith('ies')) stems.push(`${word.slice(0, -3)}y`);
  return stems.map((stem) => ({ stem, addSound: addS }));
}

function pasts(word: string): readonly Ending[] {
  if (word.length < 4 || !word.endsWith('d')) return [];
  const stems: string[] = [];
  if (!word.endsWith('dd')) stems.push(word.slice(0, -1));
  if (word.length > 4 && word.endsWith('ed') && !word.endsWith('eed')) {
    stems.push(word.slice(0, -2));
  }
  return stems.map((stem) => ({ stem, addSound: addEd }));
}

function addEd(stem: string): string {
  const last = stem.at(-1) ?? '';
  if ('pkfθʃsʧ'.includes(last)) return `${stem}t`;
  if (last === 'd') return `${stem}ᵻd`;
  return last === 't' ? `${stem.replace(FLAP_BEFORE_VOWEL, '$1T')}ᵻd` : `${stem}d`;
}

function participles(word: string): readonly Ending[] {
  if (word.length < 5 || !word.endsWith('ing')) return [];
  const before = word.slice(0, -3);
  const stems = word.length > 5 ? [before, `${before}e`] : [`${before}e`];
  // "Stopping" doubles the consonant, and "picnicking" adds a k.
  if (/([bcdgklmnprstvxz])\1$|ck$/.test(before)) stems.push(before.slice(0, -1));
  return stems.map((stem) => ({ stem, addSound: addIng }));
}

function addIng(stem: string): string {
  return `${stressLightly(stem).replace(FLAP_BEFORE_VOWEL, '$1T')}ɪŋ`;
}

function shortForms(word: string): readonly Ending[] {
  const [, stem, short = ''] = /^(.+)'(ll|d|ve|re)$/s.exec(word) ?? [];
  if (stem === undefined) return [];
  return [{ stem, addSound: (one) => one + (short === 'd' ? soundOfD(one) : SHORT[short]) }];
}

const SHORT: Readonly<Record<string, string>> = { ll: 'əl', ve: 'əv', re: 'əɹ' };

function soundOfD(stem: string): string {
  return /[td]$/.test(stem) ? 'ᵻd' : 'd';
}
