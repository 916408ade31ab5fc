import { mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { requireBuild } from '../harness/run-foley.ts';
import { runProgram } from '../harness/run-program.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { startTool } from './tools.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MODULES = path.join(ROOT, 'node_modules');

/** Packs foley as it would be published. Returns the path of the tarball. */
async function pack(sandbox: Sandbox): Promise<string> {
  requireBuild();
  const args = ['pack', ROOT, '--ignore-scripts', '--pack-destination', sandbox.out];
  const packed = await runProgram('npm', args, { sandbox });
  expect(packed, packed.stderr).toMatchObject({ code: 0 });
  const name = (await readdir(sandbox.out)).find((file) => file.endsWith('.tgz')) ?? '';
  return path.join(sandbox.out, name);
}

/** A project with the packed foley, its dependencies and the types of Node. */
async function consumer(sandbox: Sandbox): Promise<void> {
  const tarball = await pack(sandbox);
  const modules = path.join(sandbox.out, 'node_modules');
  await mkdir(path.join(modules, 'foley'), { recursive: true });
  const args = ['-xzf', tarball, '-C', path.join(modules, 'foley'), '--strip-components=1'];
  expect(await runProgram('tar', args, { sandbox })).toMatchObject({ code: 0 });
  for (const name of await readdir(MODULES)) {
    if (!name.startsWith('.')) await symlink(path.join(MODULES, name), path.join(modules, name));
  }
}

/** Uses each part of both interfaces. */
const PROGRAM = `import { createClient, FoleyError } from 'foley/client';
import type { Client, Speech } from 'foley/client';
import { startService } from 'foley/service';
import type { EphemeralService } from 'foley/service';

async function main(): Promise<void> {
  const service: EphemeralService = await startService({ credits: 5, faults: [], keys: ['a', { key: 'b' }] });
  const client: Client = createClient(service);
  const { items } = await client.voices.list({ pageSize: 1 });
  const voiceId: string = items[0]?.voiceId ?? '';
  const speech: Speech = await client.speech.create({ text: 'Hi.', voiceId, format: 'wav' });
  const words: readonly string[] = speech.unspoken.map(({ text }) => text);
  try {
    await client.speech.aligned({ text: 'Hello, hello, hello.', voiceId });
  } catch (error) {
    if (error instanceof FoleyError) console.log(speech.format, words.length, error.exitCode satisfies number);
  }
  await client.close();
  await service.close();
}

void main();
`;

/** Each line is an error. */
const WRONG = `import { createClient } from 'foley/client';
import { startService } from 'foley/service';
void startService({ credits: '5' });
void startService({ fault: [] });
void createClient({ baseUrl: 'https://x' });
void createClient({ baseUrl: 'https://x', apiKey: 'k' }).speech.create({ text: 'a', voiceId: 'b', format: 'flac' });
`;

const TSC = path.join(MODULES, 'typescript/bin/tsc');
const OPTIONS = [
  '--strict',
  '--exactOptionalPropertyTypes',
  '--target',
  'es2023',
  '--types',
  'node',
];

test('attw finds no problem in the types of the packed foley', async () => {
  const sandbox = await createSandbox();
  const tool = await startTool(
    'attw',
    ['--no-color', '--format', 'ascii', await pack(sandbox)],
    sandbox.out,
  );
  const { code, stdout } = await tool.done;
  expect(code, stdout.toString()).toBe(0);
  expect(stdout.toString()).toMatch(/"foley\/client"[^]*"foley\/service"/);
});

test('tsc accepts the packed foley in ES modules, CommonJS and bundled modules, which then run', async () => {
  const sandbox = await createSandbox();
  await consumer(sandbox);
  await writeFile(path.join(sandbox.out, 'package.json'), '{"type":"module"}');
  for (const [file, module, resolution] of [
    ['main.mts', 'nodenext', 'nodenext'],
    ['main.cts', 'nodenext', 'nodenext'],
    ['main.ts', 'preserve', 'bundler'],
  ] as const) {
    const how = ['--module', module, '--moduleResolution', resolution, ...OPTIONS];
    const compile = async (name: string, text: string) => {
      await writeFile(path.join(sandbox.out, name), text);
      return runProgram(process.execPath, [TSC, ...how, name], { sandbox });
    };
    const compiled = await compile(file, PROGRAM);
    expect(compiled.stdout.toString()).toBe('');
    expect(compiled.code).toBe(0);
    const wrong = (await compile(`wrong-${file}`, WRONG)).stdout.toString();
    expect(wrong.match(/\(\d+(?=,)/g)).toEqual(['(3', '(4', '(5', '(6']);
    const program = file.replace(/ts$/, 'js');
    const { stderr, stdout } = await runProgram(process.execPath, [program], { sandbox });
    expect({ stderr, stdout: stdout.toString() }).toEqual({ stderr: '', stdout: 'wav 0 21\n' });
  }
});
