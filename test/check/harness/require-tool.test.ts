import { readFileSync, truncateSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, expect, inject, test } from 'vitest';
import { findOnPath, requireTool, skipWithout } from '../../harness/require-tool.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { summaryOf } from '../../harness/skip-summary.ts';

const note = (tool: string) => `${JSON.stringify({ tool, reason: 'because', test: 't' })}\n`;

const PATH = process.env['PATH'] ?? '';

afterEach(() => {
  process.env['PATH'] = PATH;
});

test('a tool is found by its full path, in the order of PATH', async () => {
  const sandbox = await createSandbox();
  for (const name of ['a', 'b']) {
    await mkdir(path.join(sandbox.out, name));
    await writeFile(path.join(sandbox.out, name, 'tool'), '', {
      mode: name === 'a' ? 0o644 : 0o755,
    });
  }
  process.env['PATH'] = ['a', 'b'].map((name) => path.join(sandbox.out, name)).join(path.delimiter);
  expect(findOnPath('tool')).toBe(path.join(sandbox.out, 'b', 'tool'));
  expect(requireTool('missing', 'tool')).toBe(path.join(sandbox.out, 'b', 'tool'));
});

test('a missing tool that the list does not excuse fails the test', () => {
  process.env['PATH'] = '/nonexistent';
  expect(() => requireTool('no-such-tool')).toThrow(
    'no-such-tool is missing, and test/allowed-skips.json does not excuse that.',
  );
});

test('a missing tool that the list excuses skips the test and is noted', ({ task }) => {
  const before = readFileSync(inject('skipNotes'));
  process.env['PATH'] = '/nonexistent';
  expect(() => requireTool('ffprobe')).toThrow(/skipped/);
  const noted = readFileSync(inject('skipNotes'), 'utf8').slice(before.length);
  // This test is no real skip: take its note back, and the mark that the runner put on it.
  truncateSync(inject('skipNotes'), before.length);
  Object.assign(task.result ?? {}, { pending: false });
  expect(JSON.parse(noted)).toMatchObject({ tool: 'ffprobe', test: task.name });
});

test('alternatives are excused together', () => {
  expect(() => skipWithout('ffprobe or mpg123')).toThrow(/does not excuse/);
});

test('the summary has a line for each missing tool', () => {
  expect(summaryOf('')).toBe('');
  expect(summaryOf(note('a') + note('b') + note('a'))).toBe(
    'Skipped 2 tests: a is missing: because\nSkipped 1 test: b is missing: because\n',
  );
});
