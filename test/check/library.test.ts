import { readFileSync } from 'node:fs';
import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startService } from '../../src/library/service.ts';
import { requireBuild } from '../harness/run-foley.ts';
import { runProgram } from '../harness/run-program.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import { createSandbox } from '../harness/sandbox.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PAGE = readFileSync(path.join(ROOT, 'docs/library.md'), 'utf8');
const EXAMPLES = [...PAGE.matchAll(/^```js\n([^]*?)^```$/gm)].map(([, code = '']) => code);

/** With these, every command fails. */
const HOSTILE = { FOLEY_TARGET: 'hosted', FOLEY_API_KEY: '', FOLEY_BASE_URL: 'ftp://nowhere' };

/** A project that has installed foley, and whose configuration is invalid. */
async function project(): Promise<Sandbox> {
  requireBuild();
  const sandbox = await createSandbox();
  await mkdir(path.join(sandbox.out, 'node_modules'));
  await symlink(ROOT, path.join(sandbox.out, 'node_modules/foley'));
  await writeFile(path.join(sandbox.out, 'foley.config.json'), 'not JSON');
  return sandbox;
}

async function run(sandbox: Sandbox, name: string, code: string, args: readonly string[] = []) {
  await writeFile(path.join(sandbox.out, name), code);
  return runProgram(process.execPath, [...args, name], { sandbox, env: HOSTILE });
}

describe('docs/library.md', () => {
  test.each(EXAMPLES.map((code, index) => [index + 1, code] as const))(
    'example %i prints what it says, whatever the environment and configuration are',
    async (_number, code) => {
      const sandbox = await project();
      const name = code.includes('require(') ? 'example.cjs' : 'example.mjs';
      const { stderr, stdout } = await run(sandbox, name, code);
      const prints = [...code.matchAll(/\/\/ prints (.*)$/gm)].map(([, text]) => `${text}\n`);
      expect({ stderr, stdout: stdout.toString() }).toEqual({
        stderr: '',
        stdout: prints.join(''),
      });
      expect(await readdir(sandbox.temporary)).toEqual([]);
    },
  );

  test('has an example of each part', () => {
    expect(EXAMPLES.length).toBeGreaterThan(4);
  });
});

test('examples/library/speech-feature.mjs passes, and has about 15 lines of code', async () => {
  const sandbox = await project();
  const code = readFileSync(path.join(ROOT, 'examples/library/speech-feature.mjs'), 'utf8');
  const lines = code.split('\n').filter((line) => line !== '' && !line.startsWith('//'));
  expect(lines.length).toBeLessThanOrEqual(15);
  const { code: exit, stdout } = await run(sandbox, 'speech-feature.mjs', code, ['--test']);
  expect({ exit, stdout: stdout.toString() }).toMatchObject({
    exit: 0,
    stdout: expect.stringMatching(/pass 1\b[^]*fail 0\b/),
  });
});

test.each([
  ['an ES module', 'a.mjs', (name: string) => `import * as part from '${name}';`],
  ['CommonJS', 'a.cjs', (name: string) => `const part = require('${name}');`],
])(
  'importing from %s has no side effect, and gives the documented names',
  async (_kind, file, importing) => {
    for (const [name, exported] of [
      ['foley/client', 'createClient'],
      ['foley/service', 'startService'],
    ] as const) {
      const sandbox = await project();
      const code = `const before = process.eventNames().length;
${importing(name)}
const { ${exported}, FoleyError } = part;
console.log(typeof ${exported}, typeof FoleyError, process.eventNames().length - before);
`;
      const { stderr, stdout } = await run(sandbox, file, code);
      expect({ stderr, stdout: stdout.toString() }).toEqual({
        stderr: '',
        stdout: 'function function 0\n',
      });
      for (const folder of [
        sandbox.home,
        sandbox.config,
        sandbox.state,
        sandbox.cache,
        sandbox.temporary,
      ]) {
        expect(await readdir(folder)).toEqual([]);
      }
      const expected = ['foley.config.json', 'node_modules', file].toSorted();
      expect((await readdir(sandbox.out)).toSorted()).toEqual(expected);
    }
  },
);

test('a client that is not closed does not keep its program running', async () => {
  const service = await startService();
  onTestFinished(() => service.close());
  const sandbox = await project();
  const { apiKey, baseUrl } = service;
  const code = `import { createClient } from 'foley/client';
const client = createClient(${JSON.stringify({ apiKey, baseUrl })});
const [{ voiceId }] = (await client.voices.list()).items;
await client.speech.create({ text: 'Hello.', voiceId });
await client.speech.live({ text: 'Hello.', voiceId });
const open = () => process.getActiveResourcesInfo().filter((name) => name.startsWith('TCP')).length;
// The WebSocket says goodbye, which takes at most a second.
for (let tries = 0; tries < 50 && open() > 0; tries += 1) await new Promise((done) => setTimeout(done, 100));
console.log(open());
`;
  const { stderr, stdout } = await run(sandbox, 'a.mjs', code);
  expect({ stderr, stdout: stdout.toString() }).toEqual({ stderr: '', stdout: '0\n' });
});

test('startService removes the folders of killed processes, and keeps those of running ones', async () => {
  const sandbox = await project();
  const folders = async () =>
    (await readdir(sandbox.temporary)).filter((name) => name.startsWith('foley-eph'));
  const start =
    "import { startService } from 'foley/service';\nconst service = await startService();\n";
  await run(sandbox, 'killed.mjs', `${start}process.kill(process.pid, 'SIGKILL');`);
  const [orphan] = await folders();
  expect(orphan).toBeDefined();
  await mkdir(path.join(sandbox.temporary, 'foley-ephemeral-unknown'));
  const spawning = `${start}import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
spawnSync(process.execPath, ['killed.mjs'], { stdio: 'ignore' });
console.log(readdirSync(tmpdir()).length);
await service.close();`;
  const { stderr, stdout } = await run(sandbox, 'b.mjs', spawning);
  expect({ stderr, stdout: stdout.toString() }).toEqual({ stderr: '', stdout: '3\n' });
  const left = await folders();
  expect(left).not.toContain(orphan);
  expect(left).toContain('foley-ephemeral-unknown');
  // The second killed process, whose folder the next start removes.
  expect(left).toHaveLength(2);
});
