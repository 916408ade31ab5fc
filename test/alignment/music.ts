import { noise } from './spoken.ts';

/** Kinds of synthetic music. */
export const MUSIC = ['band', 'strings', 'drums'] as const;

const RATE = 16_000;
const BEAT_SECONDS = 0.5;
const BAR_SECONDS = 4 * BEAT_SECONDS;
/** Semitones above A of the chords of the bars, repeated. */
const CHORDS = [
  [0, 4, 7],
  [9, 12, 16],
  [5, 9, 12],
  [7, 11, 14],
];
const MELODY = [12, 14, 16, 19, 16, 14, 12, 7];

/** Plays music with peaks near `level`: chords, bass, drums and a melody (`band`), or some of them. */
export function music(
  seconds: number,
  kind: (typeof MUSIC)[number] = 'band',
  level = 0.3,
): Float32Array {
  const hiss = noise(seconds, 1);
  return Float32Array.from({ length: seconds * RATE }, (_, at) => {
    const time = at / RATE;
    const chord = CHORDS[Math.floor(time / BAR_SECONDS) % CHORDS.length] ?? [];
    const drums = kick(time % BEAT_SECONDS) + hat(time % (BEAT_SECONDS / 2)) * (hiss[at] ?? 0);
    if (kind === 'drums') return level * drums;
    const vibrato = kind === 'strings' ? 0.004 * Math.sin(2 * Math.PI * 5.5 * time) : 0;
    const decay = kind === 'strings' ? 1 : Math.exp(-0.7 * (time % BAR_SECONDS));
    const chords = chord.reduce((sum, note) => sum + tone(220, note, time + vibrato / 5.5, 6), 0);
    if (kind === 'strings') return (level / 3) * chords;
    const bass = 0.4 * Math.exp(-3 * (time % BEAT_SECONDS)) * tone(55, chord[0] ?? 0, time, 1);
    return level * ((decay * chords) / 3 + bass + drums + melody(time));
  });
}

function kick(seconds: number): number {
  const sweep = 50 * seconds + 4 * (1 - Math.exp(-30 * seconds));
  return 0.8 * Math.exp(-25 * seconds) * Math.sin(2 * Math.PI * sweep);
}

function hat(seconds: number): number {
  return 0.3 * Math.exp(-60 * seconds);
}

function melody(time: number): number {
  const length = BEAT_SECONDS / 2;
  const note = MELODY[Math.floor(time / length) % MELODY.length] ?? 0;
  return 0.25 * Math.exp(-4 * (time % length)) * tone(440, note, time, 2);
}

/** A tone with `harmonics`, `note` semitones above `hertz`. */
function tone(hertz: number, note: number, time: number, harmonics: number): number {
  const base = 2 * Math.PI * hertz * 2 ** (note / 12) * time;
  let sum = 0;
  for (let harmonic = 1; harmonic <= harmonics; harmonic += 1) {
    sum += Math.sin(base * harmonic) / harmonic;
  }
  return sum;
}
