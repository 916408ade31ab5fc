/** The seed of the gates. */
const GATE_SEED = 20_260_501;

/**
 * The seed that everything made of chance begins with: `FOLEY_TEST_SEED`, or always the same one for the
 * gates; undefined for the soak, which looks for new failures.
 */
export function fixedSeed(): number | undefined {
  const given = process.env['FOLEY_TEST_SEED'];
  if (given !== undefined) return Number(given);
  return process.env['FOLEY_TEST_SIZE'] === 'full' ? undefined : GATE_SEED;
}
