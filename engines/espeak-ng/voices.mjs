// The voices: languages of espeak-ng, each in a few timbres. No timbre has breath noise, because
// espeak-ng seeds that noise with the clock, and the same text must give the same samples.

/**
 * @typedef {'man' | 'smooth' | 'deep' | 'woman' | 'alto' | 'robot'} TimbreName
 * @typedef {{ name: TimbreName, pitch: readonly [lowest: number, highest: number] } &
 *   ({ lines: readonly string[] } | { variant: string })} Timbre
 * A variant that espeak-ng includes or the lines of a new variant, and the lowest and highest pitch in hertz.
 */

/** @type {readonly Timbre[]} */
const TIMBRES = [
  { name: 'man', lines: [], pitch: [82, 118] },
  { name: 'smooth', lines: ['klatt 6'], pitch: [78, 112] },
  { name: 'deep', lines: formants(93), pitch: [62, 90] },
  { name: 'woman', variant: 'f2', pitch: [142, 220] },
  { name: 'alto', variant: 'f4', pitch: [120, 170] },
  { name: 'robot', lines: ['flutter 0', 'roughness 0'], pitch: [120, 120] },
];

/**
 * Returns lines that scale every formant; below 100 % the voice sounds deeper.
 * @param {number} percent
 */
function formants(percent) {
  return Array.from({ length: 9 }, (_, formant) => `formant ${formant} ${percent} 100 100`);
}

/**
 * @typedef {{ id: string, name: string, language: string, espeak: string,
 *   timbre: Timbre, level: number }} Voice
 * `espeak` is the language name in espeak-ng; `level` is the average level of a few sentences, in
 * decibels of full scale.
 */

/** @type {readonly Voice[]} */
export const VOICES = [
  ...spoken('en-us', 'en-US', 'American', { man: -24.0, smooth: -23.6, woman: -22.1, alto: -23.2 }),
  ...spoken('en-us', 'en-US', 'American', { deep: -24.8, robot: -23.5 }),
  ...spoken('en-gb-x-rp', 'en-GB', 'British', { man: -23.4, smooth: -23.6, woman: -21.8 }),
  ...spoken('de', 'de', 'German', { man: -24.4, woman: -22.6 }),
  ...spoken('fr', 'fr', 'French', { man: -25.2, woman: -23.5 }),
  ...spoken('es', 'es', 'Spanish', { man: -24.4, woman: -22.6 }),
  ...spoken('es-419', 'es-419', 'Latin American', { man: -24.1, woman: -22.3 }),
  ...spoken('it', 'it', 'Italian', { man: -25.4, woman: -23.7 }),
  ...spoken('pt-br', 'pt-BR', 'Brazilian', { man: -24.0, woman: -22.2 }),
  ...spoken('pt', 'pt-PT', 'Portuguese', { man: -24.0, woman: -22.2 }),
  ...spoken('nl', 'nl', 'Dutch', { man: -23.7, woman: -21.9 }),
  ...spoken('sv', 'sv', 'Swedish', { man: -23.9, woman: -22.1 }),
  ...spoken('pl', 'pl', 'Polish', { man: -24.4, woman: -22.4 }),
  ...spoken('cs', 'cs', 'Czech', { man: -24.4, woman: -22.6 }),
  ...spoken('uk', 'uk', 'Ukrainian', { man: -23.1, woman: -21.2 }),
  ...spoken('ru', 'ru', 'Russian', { man: -25.1, woman: -23.3 }),
  ...spoken('tr', 'tr', 'Turkish', { man: -23.6, woman: -22.0 }),
  ...spoken('ar', 'ar', 'Arabic', { man: -24.5, woman: -22.7 }),
  ...spoken('hi', 'hi', 'Hindi', { man: -23.2, woman: -21.4 }),
  ...spoken('cmn', 'zh', 'Chinese', { man: -22.4, woman: -20.8 }),
  ...spoken('ja', 'ja', 'Japanese', { man: -23.9, woman: -22.3 }),
  ...spoken('ko', 'ko', 'Korean', { man: -23.4, woman: -21.5 }),
];

/** Scripts whose words every language speaks (ISO 15924). */
const COMMON_SCRIPTS = 'Latn Armn Beng Deva Geor Gujr Guru Hang Knda Mlym Sinh Taml'.split(' ');

/** Further scripts, by the language of espeak-ng. */
const FURTHER_SCRIPTS = new Map([
  ['en-us', []],
  ['en-gb-x-rp', []],
  ['ru', ['Grek', 'Cyrl']],
  ['uk', ['Grek', 'Cyrl']],
  ['ar', ['Grek', 'Arab']],
  ['cmn', ['Grek', 'Hani']],
  ['ja', ['Grek', 'Hira', 'Kana']],
]);

/**
 * Returns the scripts whose words a voice speaks (ISO 15924). It skips other letters, or says their names.
 * @param {Voice} voice
 */
export function scriptsOf({ espeak }) {
  return [...COMMON_SCRIPTS, ...(FURTHER_SCRIPTS.get(espeak) ?? ['Grek'])];
}

/**
 * @param {string} espeak
 * @param {string} language
 * @param {string} people
 * @param {Readonly<Partial<Record<TimbreName, number>>>} levels
 */
function spoken(espeak, language, people, levels) {
  return TIMBRES.flatMap((timbre) => {
    const level = levels[timbre.name];
    if (level === undefined) return [];
    const { name } = timbre;
    return [
      { id: `${espeak}-${name}`, name: `${people} ${name}`, language, espeak, timbre, level },
    ];
  });
}

/** Lines of a variant that are replaced (name and pitch) or dropped (breath noise). */
const REPLACED = /^\s*(?:name|pitch|breathw?)\b/;

/** espeak-ng speaks this many hertz below the pitch in a variant. */
const BELOW = 9;

/** Limits of the pitch in hertz, beyond which the voices break up. */
const PITCH = { lowest: 40, highest: 480 };

/**
 * Returns the text of a voice variant: the timbre of the voice, with the pitch shifted within 40 to
 * 480 Hz.
 * @param {Voice} voice
 * @param {number} semitones
 * @param {(variant: string) => readonly string[]} variantLines lines of an included variant
 */
export function variantOf(voice, semitones, variantLines) {
  const { timbre } = voice;
  const { pitch } = timbre;
  const lines = 'lines' in timbre ? timbre.lines : variantLines(timbre.variant);
  const factor = 2 ** (reachable(pitch, semitones) / 12);
  return [
    'language variant',
    'name foley',
    ...lines.filter((line) => !REPLACED.test(line) && !line.startsWith('language')),
    `pitch ${pitch.map((hertz) => Math.round((hertz - BELOW) * factor + BELOW)).join(' ')}`,
    '',
  ].join('\n');
}

/**
 * Limits a shift in semitones to the limits of the pitch.
 * @param {readonly [lowest: number, highest: number]} pitch
 * @param {number} semitones
 */
function reachable([low, high], semitones) {
  const lowest = 12 * Math.log2(PITCH.lowest / low);
  const highest = 12 * Math.log2(PITCH.highest / high);
  return Math.min(highest, Math.max(lowest, semitones));
}

const COMMON_LEVEL = -20;

/** Decibels by which a voice gets louder for each semitone. */
const LOUDER_BY_SEMITONE = 0.29;

/**
 * Returns the factor on samples that brings the average level to -20 dB of full scale.
 * @param {Voice} voice
 * @param {number} semitones
 */
export function gainOf(voice, semitones) {
  const level = voice.level + LOUDER_BY_SEMITONE * reachable(voice.timbre.pitch, semitones);
  return 10 ** ((COMMON_LEVEL - level) / 20);
}
