const SMALL = 200;
const FULL = 10_000;

/** How many bodies a fuzz test tries: few with `npm test`, many with `npm run soak`. */
export const FUZZ_RUNS = process.env['FOLEY_TEST_SIZE'] === 'full' ? FULL : SMALL;
