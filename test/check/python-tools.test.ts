import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { beforeAll, describe, expect, test } from 'vitest';
import { firstVoiceId, startServe } from '../binary/support/serve.ts';
import { fixedSeed } from '../harness/fixed-seed.ts';
import { findOnPath } from '../harness/require-tool.ts';
import { sandbox } from '../harness/sandbox.ts';

const PYTHON_FILES = fileURLToPath(new URL('python', import.meta.url));
const CACHE = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url));
const MINUTE = 60_000;

/** Tools of others, written in Python, in an environment of the project's own. */
describe('tools in Python', () => {
  let bin = '';

  beforeAll(async () => {
    bin = await installTools();
  }, 10 * MINUTE);

  test(
    'schemathesis finds no answer that the OpenAPI document does not describe',
    async () => {
      const { apiKey, baseUrl } = await startServe([], { timeoutMs: 20 * MINUTE });
      const box = await sandbox();
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
        { all: true, cwd: box.root, reject: false },
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

/**
 * Installs what requirements.txt pins, once for each version of that file.
 * @returns the folder of the programs
 */
async function installTools(): Promise<string> {
  const requirements = path.join(PYTHON_FILES, 'requirements.txt');
  const digest = createHash('sha256')
    .update(await readFile(requirements))
    .digest('hex');
  const folder = path.join(CACHE, `python-${digest.slice(0, 16)}`);
  const bin = path.join(folder, process.platform === 'win32' ? 'Scripts' : 'bin');
  const whole = path.join(folder, 'is-complete');
  if (existsSync(whole)) return bin;
  const python = findOnPath('python3') ?? findOnPath('python');
  if (python === undefined) {
    throw new Error('npm run check needs Python 3.10 or newer with venv; python3 is not on PATH.');
  }
  await rm(folder, { recursive: true, force: true });
  await mkdir(CACHE, { recursive: true });
  await execa(python, ['-m', 'venv', folder]);
  await execa(path.join(bin, 'python'), ['-m', 'pip', 'install', '--quiet', '-r', requirements]);
  await writeFile(whole, '');
  return bin;
}
