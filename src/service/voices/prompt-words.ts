import type { Variation } from '../engine/hibari/cast.ts';
import { BRIGHTNESSES, clamp, PITCH_FACTORS, STRETCHES } from './voice-maker.ts';

/** The voice that a prompt describes (docs/voice-design.md). */
export interface WantedVoice {
  readonly variation: Variation;
  /** The words of the prompt that describe the voice, in lower case. */
  readonly words: readonly string[];
  /** The words of the prompt that ask for something that the built-in voice cannot do, such as an accent. */
  readonly beyond: readonly string[];
}

/** Words with the same effect on the voice: factors, and decibels of brightness. */
export interface PromptRule extends Partial<Variation> {
  /** Of the words of one group, the last applies. */
  readonly group: 'kind' | 'age' | 'pitch' | 'size' | 'tone' | 'pace' | 'manner';
  readonly words: string;
}

export const PROMPT_RULES: readonly PromptRule[] = [
  { group: 'kind', words: 'woman female lady she her', pitch: 1, stretch: 1 },
  { group: 'kind', words: 'man male gentleman guy he his', pitch: 0.58, stretch: 0.84 },
  { group: 'kind', words: 'girl', pitch: 1.28, stretch: 1.14 },
  { group: 'kind', words: 'boy child kid', pitch: 1.24, stretch: 1.1 },
  { group: 'age', words: 'young younger teenage teenager', pitch: 1.06, stretch: 1.03, pace: 1.04 },
  {
    group: 'age',
    words: 'old older elderly aged',
    pitch: 0.9,
    stretch: 0.98,
    pace: 0.88,
    brightness: -0.4,
  },
  { group: 'pitch', words: 'deep deeper low lower bass', pitch: 0.82, stretch: 0.96 },
  { group: 'pitch', words: 'high higher squeaky', pitch: 1.2, stretch: 1.03 },
  { group: 'size', words: 'big large huge giant full', stretch: 0.93 },
  { group: 'size', words: 'small tiny little thin light', stretch: 1.06 },
  { group: 'tone', words: 'bright brighter crisp brilliant', brightness: 2 },
  { group: 'tone', words: 'clear', brightness: 1 },
  { group: 'tone', words: 'sharp shrill harsh', brightness: 2.6 },
  { group: 'tone', words: 'warm warmer mellow smooth', brightness: -1.2 },
  { group: 'tone', words: 'dark darker muffled', brightness: -2.2 },
  { group: 'pace', words: 'slow slower slowly', pace: 0.8 },
  { group: 'pace', words: 'unhurried calm relaxed', pace: 0.9 },
  { group: 'pace', words: 'fast faster quick quickly rapid', pace: 1.22 },
  { group: 'pace', words: 'lively energetic eager', pitch: 1.04, pace: 1.1 },
  { group: 'manner', words: 'soft softer softly gentle', pace: 0.97, brightness: -1 },
  { group: 'manner', words: 'strong firm commanding', pace: 0.97, brightness: 0.8 },
];

/** Words for what the built-in voice cannot do: other languages and accents, emotions, and qualities of the throat. */
export const BEYOND = new Set(
  (
    'accent british scottish irish welsh australian canadian indian african southern texan german french spanish ' +
    'italian portuguese dutch russian polish chinese japanese korean arabic hindi turkish swedish ' +
    'happy cheerful joyful sad angry furious afraid fearful scared excited bored sarcastic crying laughing romantic ' +
    'whisper whispering whispery breathy hoarse husky raspy gravelly nasal shouting singing robotic metallic lisp stutter'
  ).split(' '),
);

/** Finds the English words in a prompt that describe a voice. Words after "not", "no" or "without" have no effect. */
export function wantedVoice(prompt: string): WantedVoice {
  const rules = new Map<PromptRule['group'], PromptRule>();
  const words = new Set<string>();
  const beyond = new Set<string>();
  const plain = prompt.toLowerCase().replaceAll('’', "'").replaceAll(WITHOUT_EFFECT, ' ');
  for (const word of plain.match(/[a-z]+/g) ?? []) {
    if (BEYOND.has(word)) beyond.add(word);
    const rule = PROMPT_RULES.find((one) => one.words.split(' ').includes(word));
    if (rule === undefined) continue;
    rules.set(rule.group, rule);
    words.add(word);
  }
  const chosen = [...(rules.has('kind') ? [] : [NO_KIND]), ...rules.values()];
  const product = (name: 'pace' | 'pitch' | 'stretch'): number =>
    chosen.reduce((all, rule) => all * (rule[name] ?? 1), 1);
  const brightness = chosen.reduce((sum, rule) => sum + (rule.brightness ?? 0), 0);
  const variation = {
    pitch: product('pitch'),
    stretch: product('stretch'),
    pace: product('pace'),
    brightness,
  };
  return { variation, words: [...words], beyond: [...beyond] };
}

// Negated words, and the accent that the voice has.
const WITHOUT_EFFECT =
  /\bamerican(?: accent)?\b|\b(?:not|no|never|without|neither|nor|isn't|doesn't|non)[ -]+(?:(?:a|an|any|at all|so|too|very|really|sound|speak|of)[ -]+)*[a-z]+(?:[ ]+or[ ]+[a-z]+)*/g;

/** Between a woman and a man. */
const NO_KIND: Partial<Variation> = { pitch: 0.79, stretch: 0.93 };

const DIFFERENCES = [
  { pitch: 1, pace: 1, brightness: 0 },
  { pitch: 0.92, pace: 0.97, brightness: -0.6 },
  { pitch: 1.08, pace: 1.03, brightness: 0.6 },
] as const;

/** Number of voices that a design proposes. */
export const CANDIDATES = DIFFERENCES.length;

/** Returns the variations of the candidates: as described, and two that differ from it in pitch, pace and brightness. */
export function candidateVariations(wanted: Variation): readonly Variation[] {
  // Inside the limits, all candidates stay different.
  const [lower, higher] = [DIFFERENCES[1].pitch, DIFFERENCES[2].pitch];
  const pitch = clamp(wanted.pitch, {
    lowest: PITCH_FACTORS.lowest / lower,
    highest: PITCH_FACTORS.highest / higher,
  });
  return DIFFERENCES.map((difference) => ({
    pitch: pitch * difference.pitch,
    stretch: clamp(wanted.stretch, STRETCHES),
    pace: wanted.pace * difference.pace,
    brightness: clamp(wanted.brightness + difference.brightness, BRIGHTNESSES),
  }));
}

/** Says which words of a prompt were used, and which the built-in voice cannot follow. */
export function describeWords({ beyond, words }: WantedVoice): string {
  const used =
    words.length === 0 ? 'no known word in the prompt' : `from the words ${words.join(', ')}`;
  return beyond.length === 0 ? used : `${used}; it cannot do: ${beyond.join(', ')}`;
}
