import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { runInShell } from '../harness/in-shell.ts';
import { requireBuild } from '../harness/run-foley.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import { createSandbox } from '../harness/sandbox.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

interface Step {
  readonly id?: string;
  readonly if?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly with?: Readonly<Record<string, string>>;
}

interface Action {
  readonly inputs: Readonly<Record<string, { readonly default?: string }>>;
  readonly outputs: Readonly<Record<string, { readonly value: string }>>;
  readonly runs: { readonly using: string; readonly steps: readonly Step[] };
}

const action = parse(readFileSync(path.join(ROOT, 'action.yml'), 'utf8')) as Action;
const HOSTILE =
  '$(touch x) `touch x` "; touch x; \' && touch x \\ ${{ github.token }} %0A::error::x';

interface Scope {
  readonly inputs: Readonly<Record<string, string>>;
  readonly steps: Record<string, { outputs: Record<string, string>; outcome: string }>;
  readonly github: Readonly<Record<string, string>>;
  readonly runner: Readonly<Record<string, string>>;
}

/** Replaces the expressions of GitHub Actions in a text by their values. */
function evaluate(text: string, scope: Scope): string {
  return text.replaceAll(/\$\{\{ (.*?) \}\}/g, (_, expression: string) =>
    String(calculate(expression, scope)),
  );
}

function format(pattern: string, ...values: readonly string[]): string {
  return pattern.replaceAll(/\{(\d)\}/g, (_, index: string) => values[Number(index)] ?? '');
}

function calculate(expression: string, scope: Scope): unknown {
  const script = expression.replaceAll(/\.(\w+(?:-\w+)+)/g, "['$1']");
  return vm.runInNewContext(script, { ...scope, format, always: () => true });
}

/** Runs the steps as a runner does, with bash and with a cache in a folder of the sandbox. */
async function runAction(sandbox: Sandbox, given: Readonly<Record<string, string>>) {
  requireBuild();
  const defaults = Object.entries(action.inputs).map(([name, input]) => [
    name,
    input.default ?? '',
  ]);
  const temp = path.join(sandbox.temporary, 'runner');
  mkdirSync(temp, { recursive: true });
  const scope: Scope = {
    inputs: { ...(Object.fromEntries(defaults) as Record<string, string>), ...given },
    steps: Object.fromEntries(
      action.runs.steps.map(({ id = '' }) => [id, { outputs: {}, outcome: 'skipped' }]),
    ),
    github: { action_path: ROOT, run_id: '7', run_attempt: '1' },
    runner: { os: 'Linux' },
  };
  let [code, log] = [0, ''];
  for (const step of action.runs.steps) {
    const condition = step.if ?? `${code} === 0`;
    if (calculate(condition, scope) !== true) continue;
    const outputs: Record<string, string> = {};
    let outcome = 'success';
    if (step.run === undefined) {
      useCache(sandbox, step, scope, outputs);
    } else {
      // The runner replaces expressions before the shell reads the script, so here must be none.
      expect(step.run).not.toContain('${{');
      const file = path.join(temp, 'output');
      writeFileSync(file, '', { mode: 0o666 });
      const entries = Object.entries(step.env ?? {});
      const env = Object.fromEntries(entries.map(([key, text]) => [key, evaluate(text, scope)]));
      const result = await runInShell(`set -eo pipefail\n${step.run}`, {
        sandbox,
        env: { ...env, RUNNER_TEMP: temp, GITHUB_OUTPUT: file, CI: 'true' },
      });
      log += result.stdout.toString() + result.stderr;
      if (result.code !== 0) [code, outcome] = [result.code ?? 1, 'failure'];
      Object.assign(outputs, readOutputs(file));
    }
    if (step.id !== undefined) scope.steps[step.id] = { outputs, outcome };
  }
  const paths = evaluate(action.outputs['paths']?.value ?? '', scope).split('\n');
  return { code, log, paths };
}

function useCache(
  sandbox: Sandbox,
  step: Step,
  scope: Scope,
  outputs: Record<string, string>,
): void {
  if (step.uses?.startsWith('actions/cache/') !== true) return;
  const [folder = '', key = '', keys = ''] = ['path', 'key', 'restore-keys'].map((name) =>
    evaluate(step.with?.[name] ?? '', scope),
  );
  const store = path.join(sandbox.temporary, 'cache');
  mkdirSync(store, { recursive: true });
  if (step.uses.startsWith('actions/cache/save')) {
    if (existsSync(path.join(sandbox.out, folder))) {
      cpSync(path.join(sandbox.out, folder), path.join(store, key), { recursive: true });
    }
    return;
  }
  outputs['cache-hit'] = String(existsSync(path.join(store, key)));
  const prefixes = [key, ...keys.split('\n').filter((prefix) => prefix !== '')];
  const found = prefixes.flatMap((prefix) =>
    readdirSync(store).filter((n) => n.startsWith(prefix)),
  );
  if (found[0] !== undefined) {
    cpSync(path.join(store, found[0]), path.join(sandbox.out, folder), { recursive: true });
  }
}

function readOutputs(file: string): Record<string, string> {
  const blocks = readFileSync(file, 'utf8').matchAll(/^(\w+)<<(.+)\n([\s\S]*?)\n\2\n/gm);
  return Object.fromEntries([...blocks].map(([, name = '', , value = '']) => [name, value]));
}

const filesIn = (sandbox: Sandbox): string[] =>
  readdirSync(sandbox.out).filter((name) => name !== '.foley');

test('the action speaks a hostile text as text, and buys nothing when another runner repeats it', async () => {
  const sandbox = await createSandbox();
  const inputs = { text: HOSTILE, subtitles: 'vtt', 'output-dir': "out's $(touch x) dir" };
  const first = await runAction(sandbox, inputs);
  const folder = inputs['output-dir'];
  expect(first, first.log).toMatchObject({
    code: 0,
    paths: [`${folder}/speech.mp3`, `${folder}/speech.vtt`],
  });
  expect(filesIn(sandbox)).toEqual([folder]);
  const [audio, captions] = first.paths.map((name) => readFileSync(path.join(sandbox.out, name)));
  expect(audio?.length).toBeGreaterThan(10_000);
  expect(captions?.toString()).toMatch(/^WEBVTT[\s\S]*touch x/);

  // Another runner has only the cache.
  for (const gone of [sandbox.out, sandbox.state]) {
    rmSync(gone, { recursive: true });
    mkdirSync(gone);
  }
  const second = await runAction(sandbox, inputs);
  expect(second, second.log).toMatchObject({ code: 0, paths: first.paths });
  expect(readFileSync(path.join(sandbox.out, `${folder}/speech.mp3`))).toEqual(audio);
  expect(second.log).toMatch(/1 skipped, 0 credits used/);
});

test('the action speaks a folder, and only the changed text when it runs again', async () => {
  const sandbox = await createSandbox();
  const folder = path.join(sandbox.out, 'my $(touch x) texts');
  mkdirSync(path.join(folder, 'b'), { recursive: true });
  writeFileSync(path.join(folder, 'a.txt'), 'The first text.');
  writeFileSync(path.join(folder, 'b', 'c d.md'), 'The **second** text.');
  const inputs = { folder: 'my $(touch x) texts', voice: 'Clara', format: 'wav' };
  const first = await runAction(sandbox, inputs);
  expect(first, first.log).toMatchObject({ code: 0, paths: ['audio/a.wav', 'audio/b/c d.wav'] });
  writeFileSync(path.join(folder, 'a.txt'), 'The changed text.');
  rmSync(path.join(sandbox.out, 'audio'), { recursive: true });
  const second = await runAction(sandbox, inputs);
  expect(second, second.log).toMatchObject({ code: 0, paths: first.paths });
  expect(second.log).toMatch(/1 done, 0 failed, 1 skipped/);
  expect(filesIn(sandbox).toSorted()).toEqual(['audio', 'my $(touch x) texts']);
});

test('the action names the exit code of foley, and the inputs that are missing', async () => {
  const sandbox = await createSandbox();
  expect(await runAction(sandbox, { text: 'Hi.', voice: '$(touch x)' })).toMatchObject({
    code: 20,
  });
  for (const inputs of [{}, { text: 'Hi.', folder: 'texts' }, { folder: 'missing' }]) {
    const { code, log } = await runAction(sandbox, inputs);
    expect({ code, log }).toMatchObject({ code: 2, log: expect.stringMatching(/^::error::/m) });
  }
  expect(filesIn(sandbox).filter((name) => name !== 'audio')).toEqual([]);
});

test('the action keeps the audio of a partial result, and the next attempt takes it from the cache', async () => {
  const sandbox = await createSandbox();
  const inputs = { text: 'Hello 你好 world.' };
  const first = await runAction(sandbox, inputs);
  expect(first, first.log).toMatchObject({ code: 3, paths: ['audio/speech.mp3'] });
  expect(readdirSync(path.join(sandbox.temporary, 'cache'))).toEqual([
    expect.stringMatching(/^foley-Linux-[0-9a-f]{64}-7-1$/),
  ]);
  rmSync(path.join(sandbox.out, 'audio'), { recursive: true });
  const second = await runAction(sandbox, inputs);
  expect(second.log).toMatch(/0 done, 0 failed, 1 skipped, 0 credits used/);
  expect(second.paths).toEqual(first.paths);
});

test('the action saves what changed settings made, and ignores files that are not texts', async () => {
  const sandbox = await createSandbox();
  mkdirSync(path.join(sandbox.out, 'texts'));
  writeFileSync(path.join(sandbox.out, 'texts', 'a.txt'), 'One text.');
  symlinkSync('missing', path.join(sandbox.out, 'texts', 'link'));
  const inputs = { folder: 'texts' };
  const repeat = async (summary: RegExp): Promise<void> => {
    rmSync(path.join(sandbox.out, 'audio'), { recursive: true, force: true });
    const { code, log } = await runAction(sandbox, inputs);
    expect({ code, log }).toMatchObject({ code: 0, log: expect.stringMatching(summary) });
  };
  await repeat(/1 done, 0 failed, 0 skipped/);
  const config = path.join(sandbox.out, 'foley.config.json');
  writeFileSync(config, JSON.stringify({ speed: 1.5, lexicon: 'words.tsv' }));
  writeFileSync(path.join(sandbox.out, 'words.tsv'), 'text\tword\n');
  await repeat(/1 done, 0 failed, 0 skipped/);
  await repeat(/0 done, 0 failed, 1 skipped/);
  writeFileSync(path.join(sandbox.out, 'words.tsv'), 'text\tpage\n');
  writeFileSync(path.join(sandbox.out, 'texts', 'data.bin'), 'not a text');
  await repeat(/1 done, 0 failed, 0 skipped/);
  await repeat(/0 done, 0 failed, 1 skipped/);
});
