import { existsSync } from 'node:fs';
import { cp, readFile, symlink, writeFile, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import type { RunResult } from '../harness/run-options.ts';
import { runProgram } from '../harness/run-program.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { TESTED_NODE } from '../harness/tested-node.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const LEFT_OUT = new Set(['.git', 'coverage', 'dist', 'fixtures', 'node_modules']);
const BUILD_TIMEOUT_MS = 240_000;

/** A block of code that begins with `// FILE`, or with `// FILE, in LIST` for an entry of an exported list. */
const CODE = /```ts\n *\/\/ ([\w./-]+)(?:, in (\w+))?\n([\s\S]*?)```/g;

test(
  'the recipes of CONTRIBUTING.md add a command and an endpoint',
  async () => {
    const { foley, read } = await followRecipes();

    expect((await foley('hello', 'Ada')).stdout.toString()).toBe('Hello, Ada!\n');
    expect((await foley('--help')).stdout.toString()).toMatch(/^ *hello +Greet someone$/m);
    expect((await foley('__complete', 'hel')).stdout.toString()).toMatch(/^hello\b/);
    expect(await read('docs/reference.md')).toContain('foley hello');

    const greet = (name: string): Promise<RunResult> =>
      foley('api', 'POST', '/api/open/v3/greetings', '-F', `name=${name}`, '--local');
    expect(JSON.parse((await greet('Ada')).stdout.toString())).toEqual({ greeting: 'Hello, Ada!' });
    const refused = await greet('A name of many letters');
    expect(refused.stderr).toContain('name has 22 characters; allowed:');
    expect(refused.code).toBe(20);
    const document = await foley('api', 'GET', '/api/open/v3/openapi.json', '--local');
    const { components, paths } = JSON.parse(document.stdout.toString());
    expect(paths['/api/open/v3/greetings'].post.operationId).toBe('createGreeting');
    expect(components.schemas.Greeting.properties.name.maxLength).toBe(20);
    expect(await read('src/contract/generated/endpoints.ts')).toContain("id: 'createGreeting'");
  },
  2 * BUILD_TIMEOUT_MS,
);

/** Adds the code of CONTRIBUTING.md to a copy of the repository, builds it and generates what follows. */
async function followRecipes() {
  const sandbox = await createSandbox();
  const copy = path.join(sandbox.root, 'copy');
  await cp(ROOT, copy, {
    recursive: true,
    filter: (source) => !LEFT_OUT.has(path.basename(source)),
  });
  await symlink(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'));
  const page = await readFile(path.join(ROOT, 'CONTRIBUTING.md'), 'utf8');
  for (const [, file = '', list, code = ''] of page.matchAll(CODE)) {
    await addCode(path.join(copy, file), list, code);
  }
  const node = (...words: readonly string[]): Promise<RunResult> =>
    runProgram(TESTED_NODE, words, { sandbox, timeoutMs: BUILD_TIMEOUT_MS });
  const generated = await node(path.join(copy, 'scripts/generate.mjs'));
  expect(generated.code, generated.stderr).toBe(0);
  return {
    foley: (...words: readonly string[]) => node(path.join(copy, 'bin/foley.cjs'), ...words),
    read: (file: string) => readFile(path.join(copy, file), 'utf8'),
  };
}

async function addCode(file: string, list: string | undefined, code: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  const before = existsSync(file) ? await readFile(file, 'utf8') : '';
  const head = new RegExp(`^export (?:const|interface) ${list}\\b.*[[{]$`, 'm');
  const after =
    list === undefined ? `${before}\n${code}` : before.replace(head, (line) => `${line}\n${code}`);
  expect(after, `${file} has no list ${list}`).not.toBe(before);
  await writeFile(file, after);
}
