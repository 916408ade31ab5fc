/**
 * What a modest engine can do about an emotion or an instruction: pace, pitch and level. Nothing
 * here understands language; it looks for ids and plain English words (docs/service.md).
 */
export interface Direction {
  /** Multiplies the speaking rate. */
  readonly speed: number;
  /** Semitones. */
  readonly pitch: number;
  /** Change of level in decibels. */
  readonly gainDb: number;
}

/** No direction at all. */
export const PLAIN: Direction = { speed: 1, pitch: 0, gainDb: 0 };

const EMOTIONS = new Map<string, Direction>([
  ['neutral', PLAIN],
  ['calm', { speed: 0.92, pitch: -0.5, gainDb: -1 }],
  ['happy', { speed: 1.08, pitch: 2, gainDb: 1 }],
  ['surprised', { speed: 1.05, pitch: 3, gainDb: 1 }],
  ['fearful', { speed: 1.15, pitch: 2, gainDb: 0 }],
  ['angry', { speed: 1.12, pitch: 1, gainDb: 3 }],
  ['disgusted', { speed: 0.94, pitch: -1, gainDb: 0 }],
  ['sad', { speed: 0.88, pitch: -1.5, gainDb: -2 }],
]);

const WORDS: readonly (readonly [RegExp, Direction])[] = [
  [/\b(slow|slowly|slower|unhurried|relaxed)\b/i, { speed: 0.82, pitch: 0, gainDb: 0 }],
  [/\b(fast|faster|quick|quickly|rapid|hurried)\b/i, { speed: 1.22, pitch: 0, gainDb: 0 }],
  [/\b(high|higher|bright|childlike)\b/i, { speed: 1, pitch: 2.5, gainDb: 0 }],
  [/\b(low|lower|deep|deeper|grave)\b/i, { speed: 1, pitch: -2.5, gainDb: 0 }],
  [/\b(loud|loudly|louder|shout|shouting)\b/i, { speed: 1, pitch: 0.5, gainDb: 4 }],
  [/\b(quiet|quietly|soft|softly|whisper|whispering)\b/i, { speed: 0.97, pitch: -0.5, gainDb: -6 }],
  [/\b(happy|cheerful|joyful|excited|energetic)\b/i, { speed: 1.08, pitch: 2, gainDb: 1 }],
  [/\b(sad|sorrowful|melancholic|tired)\b/i, { speed: 0.88, pitch: -1.5, gainDb: -2 }],
  [/\b(angry|furious)\b/i, { speed: 1.12, pitch: 1, gainDb: 3 }],
  [/\b(calm|calmly|gentle|gently|soothing)\b/i, { speed: 0.92, pitch: -0.5, gainDb: -1 }],
];

/** How an emotion id changes the delivery; `undefined` for an id that this service does not know. */
export function directEmotion(id: string): Direction | undefined {
  return EMOTIONS.get(id.toLowerCase());
}

/** How an instruction changes the delivery; `undefined` when it holds no word that is known here. */
export function directInstruction(instruction: string): Direction | undefined {
  const found = WORDS.filter(([word]) => word.test(instruction)).map(([, direction]) => direction);
  return found.length === 0 ? undefined : found.reduce(combine, PLAIN);
}

/** Both directions at once, within what still sounds like speech. */
export function combine(one: Direction, other: Direction): Direction {
  return {
    speed: clamp(one.speed * other.speed, 0.6, 1.6),
    pitch: clamp(one.pitch + other.pitch, -5, 5),
    gainDb: clamp(one.gainDb + other.gainDb, -8, 8),
  };
}

function clamp(value: number, minimum: number, maximum: number): number {
  return Math.min(maximum, Math.max(minimum, value));
}
