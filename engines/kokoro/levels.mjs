// The loudness of the voices as the model gives it, measured on one sentence of each voice.

/** Loudness in LUFS, by kind of voice and name. */
const LEVELS = {
  ...levels('af', {
    alloy: -22.2,
    aoede: -17.9,
    bella: -21.8,
    heart: -22.5,
    jessica: -22.1,
    kore: -18.5,
    nicole: -22.1,
    nova: -27.0,
    river: -21.5,
    sarah: -20.9,
    sky: -24.1,
  }),
  ...levels('am', {
    adam: -18.2,
    echo: -22.6,
    eric: -21.3,
    fenrir: -19.1,
    liam: -21.6,
    michael: -24.0,
    onyx: -22.9,
    puck: -18.5,
    santa: -23.1,
  }),
  ...levels('bf', { alice: -20.8, emma: -20.1, isabella: -17.5, lily: -21.5 }),
  ...levels('bm', { daniel: -21.4, fable: -22.6, george: -21.3, lewis: -23.2 }),
  ...levels('ef', { dora: -23.6 }),
  ...levels('em', { alex: -23.0, santa: -23.0 }),
  ...levels('ff', { siwis: -19.8 }),
  ...levels('hf', { alpha: -16.5, beta: -17.8 }),
  ...levels('hm', { omega: -17.2, psi: -19.2 }),
  ...levels('if', { sara: -14.7 }),
  ...levels('im', { nicola: -19.7 }),
  ...levels('pf', { dora: -23.6 }),
  ...levels('pm', { alex: -23.0, santa: -22.9 }),
};

/** Loudness of a voice that is not in the table. */
const USUAL = -21;

function levels(kind, names) {
  return Object.fromEntries(Object.entries(names).map(([name, lufs]) => [`${kind}_${name}`, lufs]));
}

/** Returns the loudness of a voice in LUFS. */
export function levelOf(id) {
  return LEVELS[id] ?? USUAL;
}
