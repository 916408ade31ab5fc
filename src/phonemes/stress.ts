const PRIMARY = 'ˈ';
const SECONDARY = 'ˌ';
const VOWELS = 'AIOQWYaiuæɑɒɔəɛɜɪʊʌᵻ';
const LONG_SOUNDS = 'AIOQWYʤʧ';

/** Returns whether a sound of Kokoro's alphabet is a vowel. */
export function isVowel(sound: string): boolean {
  return sound !== '' && VOWELS.includes(sound);
}

/** Returns whether phonemes have a main stress. */
export function hasMainStress(phonemes: string): boolean {
  return phonemes.includes(PRIMARY);
}

/** Gives phonemes without any stress a secondary stress on their first vowel, as for a function word with a capital. */
export function stressLightly(phonemes: string): string {
  return isStressed(phonemes) ? phonemes : stressFirstVowel(phonemes, SECONDARY);
}

/** Gives phonemes a main stress if they have none, as for a word in capitals. */
export function stressStrongly(phonemes: string): string {
  if (hasMainStress(phonemes)) return phonemes;
  if (phonemes.includes(SECONDARY)) return phonemes.replaceAll(SECONDARY, PRIMARY);
  return stressFirstVowel(phonemes, PRIMARY);
}

/** Makes the main stress a secondary one, and removes other secondary ones. */
export function weaken(phonemes: string): string {
  if (!hasMainStress(phonemes)) return phonemes;
  return phonemes.replaceAll(SECONDARY, '').replace(PRIMARY, SECONDARY);
}

/** Joins the names of letters: every letter gets a secondary stress, and the last one the main stress. */
export function joinLetters(letters: readonly string[]): string {
  const sounds = letters.map((one) => {
    return one.replaceAll(SECONDARY, '').replaceAll(PRIMARY, SECONDARY);
  });
  const phonemes = sounds.join('');
  const last = phonemes.lastIndexOf(SECONDARY);
  if (last === -1) return phonemes;
  return phonemes.slice(0, last) + PRIMARY + phonemes.slice(last + 1);
}

/**
 * Weakens the lighter parts of a compound, so that half of its parts keep a main stress: `well-known`, `twenty-one`.
 * A part after a single letter is the weaker one: `X-ray`.
 */
export function stressCompound(
  parts: readonly { readonly text: string; readonly phonemes: string }[],
): readonly string[] {
  const spoken = [...parts.keys()].filter((at) => parts[at]?.phonemes !== '');
  const stressed = spoken.filter((at) => hasMainStress(parts[at]?.phonemes ?? ''));
  const weakened = new Set<number>();
  const [first, second] = spoken;
  if (spoken.length === 2 && first !== undefined && parts[first]?.text.length === 1) {
    if (second !== undefined) weakened.add(second);
  } else if (spoken.length > 1 && stressed.length > (spoken.length + 1) >> 1) {
    const unstressed = spoken.length - stressed.length;
    const byWeight = stressed.toSorted((one, other) => {
      return weight(parts[one]?.phonemes ?? '') - weight(parts[other]?.phonemes ?? '');
    });
    for (const at of byWeight.slice(0, (spoken.length >> 1) - unstressed)) weakened.add(at);
  }
  return parts.map(({ phonemes }, at) => (weakened.has(at) ? weaken(phonemes) : phonemes));
}

function isStressed(phonemes: string): boolean {
  return hasMainStress(phonemes) || phonemes.includes(SECONDARY);
}

function stressFirstVowel(phonemes: string, mark: string): string {
  const at = phonemes.split('').findIndex(isVowel);
  if (at === -1) return phonemes;
  return phonemes.slice(0, at) + mark + phonemes.slice(at);
}

/** Returns how heavy a word sounds: the number of its sounds, where a diphthong counts twice. */
function weight(phonemes: string): number {
  return phonemes.length + phonemes.split('').filter((one) => LONG_SOUNDS.includes(one)).length;
}
