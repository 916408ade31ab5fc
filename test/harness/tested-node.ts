import { execFileSync } from 'node:child_process';

/** The Node that the tool runs under in tests: this one, or the one that `FOLEY_TEST_NODE` names. */
export const TESTED_NODE = process.env['FOLEY_TEST_NODE'] ?? process.execPath;

/** Its major version, such as 22. */
export function testedNodeMajor(): number {
  const print = ['-p', 'process.versions.node'];
  return Number.parseInt(execFileSync(TESTED_NODE, print, { encoding: 'utf8' }), 10);
}
