// What the tests get when they import fast-check (vitest.config.ts). The gates make the same choices
// each time, so that a change is what fails them; `npm run soak` makes new ones.
import fc from '../../node_modules/fast-check/lib/fast-check.js';
import type { StringConstraints } from '../../node_modules/fast-check/lib/fast-check.js';
import { fixedSeed } from './fixed-seed.ts';

const seed = fixedSeed();
if (seed !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });

const [FIRST_SURROGATE, SURROGATES, LAST_CHARACTER] = [0xd800, 0x800, 0x10_ffff];

/**
 * The unit `binary` of fast-check, with the same choices. That of fast-check keeps a map of the million characters: a
 * second of work, and 90 MB that every collection of garbage reads (findings/fast-check-maps-every-character.sh).
 */
const binary = fc.nat(LAST_CHARACTER - SURROGATES).map(
  (index) => String.fromCodePoint(index < FIRST_SURROGATE ? index : index + SURROGATES),
  (value) => {
    const code = typeof value === 'string' ? value.codePointAt(0) : undefined;
    if (code === undefined || String.fromCodePoint(code) !== value) throw new Error('not a unit');
    if (code < FIRST_SURROGATE) return code;
    if (code < FIRST_SURROGATE + SURROGATES) throw new Error('a surrogate');
    return code - SURROGATES;
  },
);

export function string(constraints: StringConstraints = {}) {
  return fc.string(constraints.unit === 'binary' ? { ...constraints, unit: binary } : constraints);
}

export * from '../../node_modules/fast-check/lib/fast-check.js';
export default { ...fc, string };
