// What the tests get when they import fast-check (vitest.config.ts). The gates make the same choices
// each time, so that a change is what fails them; `npm run soak` makes new ones.
import fc from '../../node_modules/fast-check/lib/fast-check.js';
import { fixedSeed } from './fixed-seed.ts';

const seed = fixedSeed();
if (seed !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed });

export * from '../../node_modules/fast-check/lib/fast-check.js';
export default fc;
