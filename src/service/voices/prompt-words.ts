/** What a modest engine can make of a description: docs/voice-design.md has this table. */
export interface VoiceTraits {
  /** Median pitch in hertz. */
  readonly medianHz: number;
  /** These multiply, as those of `EngineSource` do. */
  readonly speed: number;
  readonly melody: number;
  readonly formants: number;
  /** Language code, where a language or an accent is named. */
  readonly language: string | undefined;
  /** The words that were understood, as they were written. */
  readonly words: readonly string[];
}

/** What a group of words does. */
interface PromptRule {
  readonly about: 'voice' | 'age' | 'pitch' | 'pace' | 'mood' | 'language';
  readonly words: readonly string[];
  /** Sets the pitch that the others change. */
  readonly medianHz?: number;
  readonly pitch?: number;
  readonly speed?: number;
  readonly melody?: number;
  readonly formants?: number;
  readonly language?: string;
}

/** Between a woman's and a man's, for whoever says nothing of it. */
const DEFAULT_HZ = 150;
/** What three candidates around it can still differ within. */
const BOUNDS = {
  medianHz: [80, 330],
  speed: [0.65, 1.45],
  melody: [0.4, 1.2],
  formants: [0.9, 1.12],
} as const;

/** In each group about the voice, the pitch and the pace the last word that is said counts; of the others all do. */
export const PROMPT_RULES: readonly PromptRule[] = [
  {
    about: 'voice',
    words: ['woman', 'women', 'female', 'feminine', 'lady', 'mother', 'she', 'her'],
    medianHz: 195,
  },
  {
    about: 'voice',
    words: ['man', 'men', 'male', 'masculine', 'gentleman', 'father', 'guy', 'he', 'his'],
    medianHz: 112,
  },
  {
    about: 'voice',
    words: ['girl', 'boy', 'child', 'kid', 'childlike', 'elf', 'fairy'],
    medianHz: 270,
    formants: 1.1,
  },
  { about: 'voice', words: ['androgynous', 'neutral', 'genderless'], medianHz: 150 },
  {
    about: 'age',
    words: ['young', 'youthful', 'teenage', 'teenager', 'student'],
    pitch: 1.06,
    speed: 1.04,
    formants: 1.03,
  },
  {
    about: 'age',
    words: ['old', 'older', 'elderly', 'aged', 'grandmother', 'grandfather', 'wizard'],
    pitch: 0.93,
    speed: 0.88,
    formants: 0.97,
  },
  {
    about: 'pitch',
    words: ['deep', 'low', 'bass', 'baritone', 'booming', 'gravelly', 'giant'],
    pitch: 0.82,
    formants: 0.94,
  },
  {
    about: 'pitch',
    words: ['high', 'bright', 'light', 'soprano', 'squeaky', 'shrill'],
    pitch: 1.22,
    formants: 1.05,
  },
  { about: 'pace', words: ['slow', 'slowly', 'unhurried', 'measured', 'deliberate'], speed: 0.8 },
  { about: 'pace', words: ['fast', 'quick', 'quickly', 'rapid', 'hurried', 'brisk'], speed: 1.22 },
  {
    about: 'mood',
    words: ['calm', 'gentle', 'soothing', 'relaxed', 'soft', 'warm', 'kind'],
    speed: 0.94,
    melody: 0.85,
  },
  {
    about: 'mood',
    words: ['cheerful', 'happy', 'energetic', 'excited', 'lively', 'friendly', 'playful'],
    pitch: 1.05,
    speed: 1.06,
    melody: 1.15,
  },
  {
    about: 'mood',
    words: ['sad', 'melancholic', 'tired', 'weary'],
    pitch: 0.95,
    speed: 0.88,
    melody: 0.7,
  },
  {
    about: 'mood',
    words: ['serious', 'stern', 'authoritative', 'confident', 'newsreader'],
    pitch: 0.96,
    melody: 0.8,
  },
  { about: 'mood', words: ['monotone', 'robotic', 'robot', 'flat'], melody: 0.4 },
  { about: 'mood', words: ['expressive', 'dramatic', 'storyteller', 'narrator'], melody: 1.15 },
  { about: 'mood', words: ['angry', 'furious', 'urgent'], pitch: 1.04, speed: 1.12, melody: 1.1 },
  { about: 'language', words: ['american', 'us'], language: 'en-US' },
  { about: 'language', words: ['british', 'english', 'scottish', 'uk'], language: 'en-GB' },
  { about: 'language', words: ['german'], language: 'de' },
  { about: 'language', words: ['french'], language: 'fr' },
  { about: 'language', words: ['spanish'], language: 'es' },
  { about: 'language', words: ['italian'], language: 'it' },
  { about: 'language', words: ['portuguese', 'brazilian'], language: 'pt' },
  { about: 'language', words: ['dutch'], language: 'nl' },
  { about: 'language', words: ['swedish'], language: 'sv' },
  { about: 'language', words: ['polish'], language: 'pl' },
  { about: 'language', words: ['czech'], language: 'cs' },
  { about: 'language', words: ['ukrainian'], language: 'uk' },
  { about: 'language', words: ['russian'], language: 'ru' },
  { about: 'language', words: ['turkish'], language: 'tr' },
  { about: 'language', words: ['arabic'], language: 'ar' },
  { about: 'language', words: ['hindi', 'indian'], language: 'hi' },
  { about: 'language', words: ['chinese', 'mandarin'], language: 'zh' },
  { about: 'language', words: ['japanese'], language: 'ja' },
  { about: 'language', words: ['korean'], language: 'ko' },
];

const RULE_OF_WORD = new Map(
  PROMPT_RULES.flatMap((rule) => rule.words.map((word) => [word, rule])),
);

/**
 * Looks for plain English words in a prompt (docs/api/voice-design.md). It is not understood: "not slow" is
 * slow. Without such a word it is an ordinary voice of English.
 */
export function traitsOf(prompt: string): VoiceTraits {
  const said = (prompt.toLowerCase().match(/[a-z]+/g) ?? []).flatMap((word) => {
    const rule = RULE_OF_WORD.get(word);
    return rule === undefined ? [] : [{ word, rule }];
  });
  const rules = standing(said.map(({ rule }) => rule));
  const product = (name: 'pitch' | 'speed' | 'melody' | 'formants'): number =>
    rules.reduce((all, rule) => all * (rule[name] ?? 1), 1);
  const base = rules.find(({ medianHz }) => medianHz !== undefined)?.medianHz ?? DEFAULT_HZ;
  return {
    medianHz: within(BOUNDS.medianHz, base * product('pitch')),
    speed: within(BOUNDS.speed, product('speed')),
    melody: within(BOUNDS.melody, product('melody')),
    formants: within(BOUNDS.formants, product('formants')),
    language: rules.find(({ language }) => language !== undefined)?.language,
    words: [...new Set(said.map(({ word }) => word))],
  };
}

/** Each rule once; of those that exclude each other only the last. */
function standing(rules: readonly PromptRule[]): readonly PromptRule[] {
  const lastFirst = [...new Set([...rules].reverse())];
  return lastFirst.filter(
    (rule, index) =>
      ADDING.has(rule.about) || lastFirst.findIndex(({ about }) => about === rule.about) === index,
  );
}

const ADDING: ReadonlySet<PromptRule['about']> = new Set(['age', 'mood']);

function within([lowest, highest]: readonly [number, number], value: number): number {
  return Math.min(highest, Math.max(lowest, value));
}
