// The voices that are offered: languages of espeak-ng, each in a few timbres. None of them hisses:
// espeak-ng seeds that noise with the clock, so that nothing could be said twice.

/**
 * A timbre: a variant that comes with espeak-ng or lines of our own, and the lowest and highest
 * pitch of the melody in hertz.
 */
const TIMBRES = {
  man: { lines: [], pitch: [82, 118] },
  smooth: { lines: ['klatt 6'], pitch: [78, 112] },
  deep: { lines: formants(93), pitch: [62, 90] },
  woman: { variant: 'f2', pitch: [142, 220] },
  alto: { variant: 'f4', pitch: [120, 170] },
  robot: { lines: ['flutter 0', 'roughness 0'], pitch: [120, 120] },
};

/** Moves every formant; below 100 % as of a longer throat. */
function formants(percent) {
  return Array.from({ length: 9 }, (_, formant) => `formant ${formant} ${percent} 100 100`);
}

/**
 * @typedef {{ id: string, name: string, language: string, espeak: string,
 *   timbre: keyof typeof TIMBRES, level: number }} Voice
 * `espeak` is espeak-ng's name of the language; `level` is its average before levelling, measured
 * over a few sentences, in decibels of full scale.
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

function spoken(espeak, language, people, levels) {
  return Object.entries(levels).map(([timbre, level]) => ({
    id: `${espeak}-${timbre}`,
    name: `${people} ${timbre}`,
    language,
    espeak,
    timbre,
    level,
  }));
}

/** Lines of a variant that are replaced (its name and pitch) or left out (noise). */
const REPLACED = /^\s*(?:name|pitch|breathw?)\b/;

/** espeak-ng speaks so many hertz below what a variant says. */
const BELOW = 9;

/** Pitch, in hertz, beyond which the voices break up. */
const PITCH = { lowest: 40, highest: 480 };

/**
 * The text of a voice variant: the timbre at its pitch, shifted. A shift that would take that outside
 * of 40 to 480 Hz is limited to it.
 * @param {Voice} voice
 * @param {number} semitones
 * @param {(variant: string) => readonly string[]} variantLines lines of a variant of espeak-ng's own
 */
export function variantOf(voice, semitones, variantLines) {
  const { variant, lines = variantLines(variant), pitch } = TIMBRES[voice.timbre];
  const factor = 2 ** (reachable(pitch, semitones) / 12);
  return [
    'language variant',
    'name foley',
    ...lines.filter((line) => !REPLACED.test(line) && !line.startsWith('language')),
    `pitch ${pitch.map((hertz) => Math.round((hertz - BELOW) * factor + BELOW)).join(' ')}`,
    '',
  ].join('\n');
}

/** The semitones that the voice is really shifted by. */
function reachable([low, high], semitones) {
  const lowest = 12 * Math.log2(PITCH.lowest / low);
  const highest = 12 * Math.log2(PITCH.highest / high);
  return Math.min(highest, Math.max(lowest, semitones));
}

const COMMON_LEVEL = -20;

/** Higher is louder, by so many decibels a semitone. */
const LOUDER_BY_SEMITONE = 0.29;

/** The factor that brings the voice to -20 dB of full scale on average, as every engine does. */
export function gainOf(voice, semitones) {
  const level =
    voice.level + LOUDER_BY_SEMITONE * reachable(TIMBRES[voice.timbre].pitch, semitones);
  return 10 ** ((COMMON_LEVEL - level) / 20);
}
