import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { runFoley } from '../harness/run-foley.ts';
import { createSandbox } from '../harness/sandbox.ts';

const TEN_SECONDS = fileURLToPath(new URL('../fixtures/media/beeps.m4a', import.meta.url));

test('align refuses a text that is far too long for the recording', async () => {
  const sandbox = await createSandbox();
  await writeFile(
    path.join(sandbox.out, 'book.txt'),
    'A long sentence of the book. '.repeat(28_000),
  );
  const { code, stderr, stdout } = await runFoley(['align', TEN_SECONDS, '-f', 'book.txt'], {
    sandbox,
  });
  expect({ code, stdout: stdout.toString() }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(
    'the text has 812000 characters, too many for a recording of 10.0 s: use at most 20600',
  );
});
