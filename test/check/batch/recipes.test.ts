import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { runFoley } from '../../harness/run-foley.ts';
import { createSandbox } from '../../harness/sandbox.ts';
import { parseJsonLines } from '../../harness/json-lines.ts';
import { firstVoiceId } from '../../binary/support/serve.ts';
import { batchSandbox } from '../../binary/batch/batch-sandbox.ts';

const WORKFLOW = fileURLToPath(new URL('../../../examples/ci/github-actions.yml', import.meta.url));
const PAGE = fileURLToPath(new URL('../../../docs/batch.md', import.meta.url));
const ITEMS = Array.from(
  { length: 21 },
  (_, index) => `chapter-${String(index + 1).padStart(2, '0')}`,
);

/** An engine: its values for the recipe and for the environment of a task. */
interface Engine {
  readonly heading: string;
  readonly tasks: number;
  words(task: number): Readonly<Record<string, string>>;
  env(task: number): Readonly<Record<string, string>>;
}

// As for `sbatch --array=N` of a single task, which runs again.
function slurmEnv(task: number): Readonly<Record<string, string>> {
  return {
    SLURM_ARRAY_JOB_ID: '77',
    SLURM_ARRAY_TASK_ID: `${task + 1}`,
    SLURM_ARRAY_TASK_COUNT: '1',
    SLURM_ARRAY_TASK_MIN: `${task + 1}`,
    SLURM_ARRAY_TASK_MAX: `${task + 1}`,
    SLURM_ARRAY_TASK_STEP: '1',
  };
}

const ENGINES: readonly Engine[] = [
  {
    heading: 'GitHub Actions',
    tasks: 4,
    words: (task) => ({
      '${{ matrix.shard }}': `${task + 1}`,
      '${{ strategy.job-total }}': '4',
      '${{ github.run_id }}': '123',
    }),
    env: () => ({ GITHUB_ACTIONS: 'true', CI: 'true' }),
  },
  {
    heading: 'Slurm',
    tasks: 8,
    words: (task) => ({ '"$SLURM_ARRAY_TASK_ID/8"': `${task + 1}/8` }),
    env: slurmEnv,
  },
  {
    heading: 'GitLab',
    tasks: 4,
    words: () => ({}),
    env: (task) => ({ CI: 'true', CI_NODE_INDEX: `${task + 1}`, CI_NODE_TOTAL: '4' }),
  },
  {
    heading: 'Kubernetes',
    tasks: 8,
    words: () => ({ '/data/': '' }),
    env: (task) => ({ JOB_COMPLETION_INDEX: `${task}`, JOB_COMPLETIONS: '8' }),
  },
  {
    heading: 'GNU parallel',
    tasks: 8,
    words: (task) => ({ '{}': `${task + 1}` }),
    env: (task) => ({ PARALLEL_SEQ: `${task + 1}`, PARALLEL_PID: '1' }),
  },
];

/** Returns the arguments of a recipe after `foley batch`. */
async function recipeOf({ heading, words }: Engine, task: number): Promise<string[]> {
  const page = await readFile(PAGE, 'utf8');
  const section = page.split(/^### /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  const [, plain] = /foley batch (.*?)(?: ::: .*)?$/m.exec(section) ?? [];
  const [, listed] = /\[foley, batch, (.*)\]$/m.exec(section) ?? [];
  const line = plain ?? listed?.replaceAll(',', '');
  if (line === undefined) throw new Error(`there is no recipe for ${heading}`);
  const filled = Object.entries(words(task)).reduce(
    (text, [from, to]) => text.replaceAll(from, to),
    line,
  );
  return filled.split(' ');
}

test.each(ENGINES)('the tasks of the recipe for $heading speak each item once', async (engine) => {
  const sandbox = await createSandbox();
  await mkdir(path.join(sandbox.out, 'chapters'));
  for (const name of ITEMS)
    await writeFile(path.join(sandbox.out, 'chapters', `${name}.txt`), `${name}.`);
  const spoken: string[] = [];
  const sizes: number[] = [];
  for (let task = 0; task < engine.tasks; task += 1) {
    const args = ['batch', ...(await recipeOf(engine, task)), '--dry-run', '--json', '-v', 'v'];
    // A plan sends no request when a voice is named.
    const env = {
      ...engine.env(task),
      FOLEY_BASE_URL: 'http://127.0.0.1:9',
      FOLEY_API_KEY: 'key',
    };
    const result = await runFoley(args, { sandbox, env });
    expect(result.code, result.stderr).toBe(0);
    const events = parseJsonLines(result.stdout.toString()).map((event) => Object(event));
    const ids = events.filter(({ event }) => event === 'item').map(({ id }) => String(id));
    spoken.push(...ids);
    sizes.push(ids.length);
  }
  expect(spoken.toSorted()).toEqual(ITEMS);
  expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(1);
});

test('the workflow restores items that its cache has lost, and saves the cache also after a failure', async () => {
  const workflow = await readFile(WORKFLOW, 'utf8');
  const [saving = ''] = /uses: actions\/cache\/save@[^]*?(?=\n\n)/.exec(workflow) ?? [];
  expect(saving).toMatch(/if: always\(\)/);
  const lines = [...workflow.replaceAll(/\\\n\s*/g, '').matchAll(/^ +(?:run: )?foley (.*)$/gm)];
  const { sandbox, service } = await batchSandbox({ 'dialogue/one.txt': 'One line.' });
  const values: Readonly<Record<string, string>> = {
    ...service.env,
    FOLEY_VOICE: await firstVoiceId(service),
    FOLEY_TARGET: 'hosted',
  };
  const names = [...workflow.matchAll(/^ +([A-Z_]+): /gm)].map(([, name = '']) => name);
  const env = Object.fromEntries(names.map((name) => [name, values[name] ?? '1']));
  for (const place of ['first', 'second']) {
    // A new machine, such as a runner whose cache was evicted.
    const fresh = { ...env, CI: 'true', XDG_STATE_HOME: path.join(sandbox.home, place) };
    await rm(path.join(sandbox.out, 'audio'), { recursive: true, force: true });
    for (const [, line = ''] of lines) {
      const words = line
        .replaceAll(/\$\{\{.*?\}\}/g, 'main')
        .replaceAll('"', '')
        .split(' ');
      const result = await runFoley(words, { sandbox, env: fresh });
      expect(result.code, result.stderr).toBe(0);
    }
  }
});

test.each([
  ['a Slurm array', { SLURM_ARRAY_TASK_ID: '3', SLURM_ARRAY_TASK_COUNT: '1' }, /TASK_ID\/8/],
  ['a matrix or shards of GitLab', { CI_NODE_INDEX: '2', CI_NODE_TOTAL: '3' }, /--shard auto/],
])('without --shard, a task of %s sends nothing and is exit 2', async (_system, env, hint) => {
  const result = await runFoley(['batch', '--lines', '-', '-v', 'v', '--dry-run', '-q'], {
    env: { ...env, FOLEY_TARGET: 'local' },
    input: 'One.\nTwo.\nThree.\n',
  });
  expect(result).toMatchObject({ code: 2, stderr: expect.stringMatching(hint) });
});

test('a shard is named with --quiet, and its summary counts the items of the other shards', async () => {
  const { batch, events } = await batchSandbox({ 'lines.txt': 'One.\nTwo.\nThree.' });
  const args = ['--lines', 'lines.txt', '--output-dir', 'audio', '--shard', 'auto'];
  const env = { CI_NODE_INDEX: '2', CI_NODE_TOTAL: '3' };
  const quiet = await batch([...args, '-q'], { env });
  expect(quiet.code, quiet.stderr).toBe(0);
  expect(quiet.stderr).toBe('foley: shard 2 of 3 (CI_NODE_INDEX); --shard 1/1 speaks all items\n');
  expect(quiet.stdout.toString()).toMatch(/^1 done, 0 failed, 0 skipped, 2 in other shards, /);
  const { plan, summary } = await events(args, { env });
  expect([plan, summary]).toMatchObject([{ otherShards: 2 }, { otherShards: 2 }]);
  const all = await events(['--lines', 'lines.txt', '--output-dir', 'audio', '--shard', '1/1']);
  expect(all.summary).not.toHaveProperty('otherShards');
});

test('a task without the number of tasks is exit 2', async () => {
  const result = await runFoley(['batch', '--lines', '-', '-v', 'v', '--dry-run'], {
    env: { JOB_COMPLETION_INDEX: '3', FOLEY_TARGET: 'local' },
    input: 'One.\n',
  });
  expect(result).toMatchObject({ code: 2, stderr: expect.stringMatching(/JOB_COMPLETIONS/) });
});
