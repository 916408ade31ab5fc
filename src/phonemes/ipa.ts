import { isVowel, stressStrongly } from './stress.ts';

/** American English sounds in Kokoro's alphabet, by their spellings in IPA. Empty: a sign without sound of its own. */
const SOUNDS: ReadonlyMap<string, string> = new Map(
  `
  eɪ A|aɪ I|oʊ O|əʊ O|aʊ W|ɔɪ Y|eː A|oː O
  tʃ ʧ|dʒ ʤ|ʧ ʧ|ʤ ʤ|t\u0361ʃ ʧ|d\u0361ʒ ʤ|t\u035Cʃ ʧ|d\u035Cʒ ʤ
  ɜ ɜɹ|ɜɹ ɜɹ|ɜːɹ ɜɹ|ɜr ɜɹ|ɜːr ɜɹ|ɝ ɜɹ|əː ɜɹ|ɚ əɹ|ɹ\u0329 əɹ|r\u0329 əɹ
  l\u0329 ᵊl|n\u0329 ᵊn|m\u0329 ᵊm
  i i|ɪ ɪ|ᵻ ᵻ|ɨ ᵻ|e ɛ|ɛ ɛ|æ æ|a ɑ|ɑ ɑ|ɒ ɑ|ɔ ɔ|o O|ʊ ʊ|u u|ʉ u|ʌ ʌ|ɐ ə|ə ə
  p p|b b|t t|d d|k k|ɡ ɡ|g ɡ|ɾ T|m m|n n|ŋ ŋ|ɲ nj|f f|v v|θ θ|ð ð|s s|z z|ʃ ʃ|ʒ ʒ|h h|ɦ h
  ɹ ɹ|r ɹ|ɻ ɹ|l l|ɫ l|w w|ʍ w|j j|ˈ ˈ|' ˈ|ˌ ˌ
  `
    .split(/[|\n]/)
    .map((pair) => pair.trim().split(' '))
    .map(([ipa = '', sound = '']): [string, string] => [ipa, sound])
    .filter(([ipa]) => ipa !== '')
    .concat(
      Array.from('.‿ːˑʰ\u0361\u035C\u032F\u032A', (sign) => [sign, '']),
      [[' ', ' ']],
    ),
);

/** The signs of IPA that {@link fromIpa} reads. */
export const IPA_SIGNS: string = Array.from(new Set([...SOUNDS.keys()].join(''))).join('');

const SPELLING = new RegExp(
  [...SOUNDS.keys()]
    .toSorted((one, other) => other.length - one.length)
    .map((ipa) => ipa.replace('.', '\\.'))
    .join('|'),
  'gu',
);

/**
 * Converts phonemes in IPA to Kokoro's alphabet. A word without any stress mark gets the stress on its first vowel.
 * @param ipa has only signs of {@link IPA_SIGNS}
 */
export function fromIpa(ipa: string): string {
  const sounds = Array.from(
    ipa.normalize('NFD').matchAll(SPELLING),
    ([spelling]) => SOUNDS.get(spelling) ?? '',
  );
  return sounds.join('').trim().split(/ +/).map(stressed).join(' ');
}

/** Moves each stress mark from the beginning of its syllable to the vowel, where Kokoro's alphabet has it. */
function stressed(word: string): string {
  if (!/[ˈˌ]/u.test(word)) return stressStrongly(word);
  let mark = '';
  let moved = '';
  for (const sound of word) {
    if (sound === 'ˈ' || sound === 'ˌ') mark = sound;
    else {
      moved += isVowel(sound) ? mark + sound : sound;
      if (isVowel(sound)) mark = '';
    }
  }
  return moved;
}
