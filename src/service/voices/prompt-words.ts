/** What a design makes of a description: docs/voice-design.md has this table. */
export interface VoiceTraits {
  /** Median pitch in hertz. */
  readonly medianHz: number;
  /** Multiplies the engine voice's own speed. */
  readonly speed: number;
  /** Language code, where a language or an accent is named. */
  readonly language: string | undefined;
  /** The words that were found, in lower case. */
  readonly words: readonly string[];
}

/** What a group of words does. */
interface PromptRule {
  readonly about: 'voice' | 'age' | 'pitch' | 'speed' | 'language';
  readonly words: readonly string[];
  /** Sets the pitch that the others multiply. */
  readonly medianHz?: number;
  readonly pitch?: number;
  readonly speed?: number;
  readonly language?: string;
}

/** Between a woman's and a man's. */
const DEFAULT_HZ = 150;

export const PROMPT_RULES: readonly PromptRule[] = [
  { about: 'voice', words: ['woman', 'female', 'lady', 'she', 'her'], medianHz: 195 },
  { about: 'voice', words: ['man', 'male', 'gentleman', 'he', 'his'], medianHz: 112 },
  { about: 'voice', words: ['girl', 'boy', 'child', 'kid'], medianHz: 270 },
  { about: 'age', words: ['young', 'teenage', 'teenager'], pitch: 1.06, speed: 1.04 },
  { about: 'age', words: ['old', 'older', 'elderly'], pitch: 0.93, speed: 0.88 },
  { about: 'pitch', words: ['deep', 'low'], pitch: 0.82 },
  { about: 'pitch', words: ['high', 'squeaky'], pitch: 1.22 },
  { about: 'speed', words: ['slow', 'slowly'], speed: 0.8 },
  { about: 'speed', words: ['fast', 'quick', 'quickly'], speed: 1.22 },
  { about: 'language', words: ['american'], language: 'en-US' },
  { about: 'language', words: ['british'], language: 'en-GB' },
  { about: 'language', words: ['german'], language: 'de' },
  { about: 'language', words: ['french'], language: 'fr' },
  { about: 'language', words: ['spanish'], language: 'es' },
  { about: 'language', words: ['italian'], language: 'it' },
  { about: 'language', words: ['portuguese'], language: 'pt' },
];

/**
 * Looks for plain English words in a prompt; of each group the last word counts. The prompt is not
 * understood: "not slow" is slow.
 */
export function traitsOf(prompt: string): VoiceTraits {
  const rules = new Map<PromptRule['about'], PromptRule>();
  const words = new Set<string>();
  for (const word of prompt.toLowerCase().match(/[a-z]+/g) ?? []) {
    const rule = PROMPT_RULES.find((one) => one.words.includes(word));
    if (rule === undefined) continue;
    rules.set(rule.about, rule);
    words.add(word);
  }
  const product = (name: 'pitch' | 'speed'): number =>
    [...rules.values()].reduce((all, rule) => all * (rule[name] ?? 1), 1);
  return {
    medianHz: (rules.get('voice')?.medianHz ?? DEFAULT_HZ) * product('pitch'),
    speed: product('speed'),
    language: rules.get('language')?.language,
    words: [...words],
  };
}
