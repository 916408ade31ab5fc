/** The Node that the tool runs under in tests: this one, or the one that `FOLEY_TEST_NODE` names. */
export const TESTED_NODE = process.env['FOLEY_TEST_NODE'] ?? process.execPath;
