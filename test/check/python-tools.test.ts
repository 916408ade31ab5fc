import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { beforeAll, describe, expect, test } from 'vitest';
import { firstVoiceId, startServe } from '../binary/support/serve.ts';
import { fixedSeed } from '../harness/fixed-seed.ts';
import { installPythonTools } from '../harness/python-tools.ts';
import { createSandbox } from '../harness/sandbox.ts';

const PYTHON_FILES = fileURLToPath(new URL('python', import.meta.url));
const MINUTE = 60_000;

/** Tools of others, written in Python, in an environment of the project's own. */
describe('tools in Python', () => {
  let bin = '';

  beforeAll(async () => {
    bin = await installPythonTools(path.join(PYTHON_FILES, 'requirements.txt'));
  }, 10 * MINUTE);

  test(
    'schemathesis finds no answer that the OpenAPI document does not describe',
    async () => {
      const { apiKey, baseUrl } = await startServe([], { timeoutMs: 20 * MINUTE });
      const sandbox = await createSandbox();
      const config = path.join(PYTHON_FILES, 'schemathesis.toml');
      const seed = String(fixedSeed() ?? Math.trunc(Math.random() * 2 ** 31));
      // What a schema cannot say, such as which voices there are, decides what is accepted.
      const without = 'positive_data_acceptance,negative_data_rejection';
      const flags = `--seed ${seed} --exclude-checks ${without} --max-examples 25`;
      const { all, exitCode } = await execa(
        path.join(bin, 'schemathesis'),
        [
          '--config-file',
          config,
          'run',
          `${baseUrl}/api/open/v3/openapi.json`,
          '--header',
          `Authorization: Bearer ${apiKey}`,
          '--continue-on-failure',
          '--no-color',
          ...flags.split(' '),
        ],
        { all: true, cwd: sandbox.root, reject: false },
      );
      expect(exitCode, all).toBe(0);
    },
    20 * MINUTE,
  );

  test(
    'the openai client speaks, streams, lists models and shows messages',
    async () => {
      const serving = await startServe(['--rate-limit', '20/s']);
      const { all, exitCode } = await execa(
        path.join(bin, 'python'),
        [path.join(PYTHON_FILES, 'openai_client.py')],
        {
          all: true,
          env: { ...serving.env, FOLEY_VOICE: await firstVoiceId(serving) },
          reject: false,
        },
      );
      expect(exitCode, all).toBe(0);
    },
    2 * MINUTE,
  );
});
