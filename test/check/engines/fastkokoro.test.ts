import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { naturalModels } from '../../harness/natural-models.ts';
import { installPythonTools } from '../../harness/python-tools.ts';
import { runFoley } from '../../harness/run-foley.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { expectSentence, SLOW_MS, startProgram } from './real-server.ts';

const python = (name: string) => fileURLToPath(new URL(`../python/${name}`, import.meta.url));

test('the server fastkokoro of PyPI speaks, with the voices of its own list', async () => {
  const bin = await installPythonTools(python('fastkokoro.txt'));
  const sandbox = await createSandbox();
  const kokoro = path.join(await naturalModels(), 'kokoro');
  const interpreter = path.join(bin, 'python');
  const url = await startProgram(
    interpreter,
    python('serve_fastkokoro.py'),
    kokoro,
    sandbox.temporary,
  );
  const args = ['engine', 'add', 'farm', '--url', url];
  const added = await runFoley(args, { sandbox, timeoutMs: SLOW_MS });
  expect(added.code, added.stderr).toBe(0);
  await expectSentence(sandbox, 'af_heart');
}, 3_600_000);
