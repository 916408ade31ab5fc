import { accessSync, appendFileSync, constants, readFileSync } from 'node:fs';
import path from 'node:path';
import { inject, TestRunner } from 'vitest';

const ALLOWED = new URL('../allowed-skips.json', import.meta.url);

/**
 * The full path of a program that is not an npm package. Where none of `names` is installed the
 * test is skipped, and the skip is shown at the end of the run; it must be in
 * `test/allowed-skips.json`, else the test fails. Call it before anything is started.
 */
export function requireTool(...names: readonly [string, ...string[]]): string {
  for (const name of names) {
    const found = findOnPath(name);
    if (found !== undefined) {
      return found;
    }
  }
  return skipWithout(names.join(' or '));
}

/** The full path of a program on PATH, or undefined. */
export function findOnPath(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter).filter((one) => one !== '');
  return folders.map((folder) => path.join(folder, name)).find((file) => isExecutable(file));
}

/** Skips the running test because `tool` is missing; throws when that skip is not allowed. */
export function skipWithout(tool: string): never {
  const reason = allowedSkips().get(tool);
  if (reason === undefined) {
    throw new Error(`${tool} is missing, and test/allowed-skips.json does not excuse that.`);
  }
  const test = TestRunner.getCurrentTest();
  if (test === undefined) {
    throw new Error(`${tool} is asked for outside of a test.`);
  }
  appendFileSync(inject('skipNotes'), `${JSON.stringify({ tool, reason, test: test.name })}\n`);
  return test.context.skip(`${tool} is missing: ${reason}`);
}

/** The checked-in list: the tool that may be missing, and what is then not checked. */
function allowedSkips(): ReadonlyMap<string, string> {
  const list: unknown = JSON.parse(readFileSync(ALLOWED, 'utf8'));
  if (typeof list !== 'object' || list === null) {
    throw new TypeError('test/allowed-skips.json must be an object of tools and reasons.');
  }
  return new Map(Object.entries(list).map(([tool, reason]) => [tool, String(reason)]));
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
