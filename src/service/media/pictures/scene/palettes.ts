/** Colours of a scene, as `#rrggbb`. */
export interface Palette {
  readonly skyTop: string;
  readonly skyBottom: string;
  /** Sun or moon. */
  readonly light: string;
  /** From the farthest to the nearest. */
  readonly layers: readonly [string, string, string];
  readonly isDark: boolean;
}

const DAY: Palette = {
  skyTop: '#2f7fc8',
  skyBottom: '#cfe9f7',
  light: '#fff3c4',
  layers: ['#7fa3ad', '#4f7f63', '#2c5a3c'],
  isDark: false,
};
const SUNSET: Palette = {
  skyTop: '#4b2a6b',
  skyBottom: '#f2a15c',
  light: '#ffe0a3',
  layers: ['#a8586b', '#6d3a5c', '#38213f'],
  isDark: false,
};
const NIGHT: Palette = {
  skyTop: '#070b24',
  skyBottom: '#2b3f78',
  light: '#f4f1dc',
  layers: ['#26335f', '#182143', '#0c1128'],
  isDark: true,
};
const FOREST: Palette = {
  skyTop: '#5f9e8f',
  skyBottom: '#e4efc8',
  light: '#fffbe0',
  layers: ['#6fa07a', '#3d7350', '#1d4630'],
  isDark: false,
};
const WINTER: Palette = {
  skyTop: '#8fb4d6',
  skyBottom: '#eef4fa',
  light: '#ffffff',
  layers: ['#b9cbdd', '#d6e2ee', '#f4f8fb'],
  isDark: false,
};
const DESERT: Palette = {
  skyTop: '#4f9fc4',
  skyBottom: '#f6dfb0',
  light: '#fff0b8',
  layers: ['#d9a866', '#c4823f', '#93562a'],
  isDark: false,
};

/** Palettes by the words that ask for them; the first that is found counts. */
const BY_WORD: readonly (readonly [RegExp, Palette])[] = [
  [/\b(night|midnight|moon|stars?|space|galaxy|dark)\b/i, NIGHT],
  [/\b(sunset|sunrise|dawn|dusk|evening|autumn|fire|red|orange)\b/i, SUNSET],
  [/\b(snow|winter|ice|frozen|arctic|white)\b/i, WINTER],
  [/\b(desert|sand|dunes?|canyon|yellow|gold)\b/i, DESERT],
  [/\b(forest|jungle|garden|meadow|green|spring)\b/i, FOREST],
  [/\b(day|noon|summer|sky|blue|sea|ocean|beach)\b/i, DAY],
];

const ALL = [DAY, SUNSET, NIGHT, FOREST, WINTER, DESERT] as const;

/** The palette that the prompt asks for, else one by lot. @param lot in [0, 1) */
export function paletteFor(prompt: string, lot: number): Palette {
  const asked = BY_WORD.find(([words]) => words.test(prompt));
  return asked?.[1] ?? ALL[Math.floor(lot * ALL.length)] ?? DAY;
}
