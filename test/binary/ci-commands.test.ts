import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { runFoley } from '../harness/run-foley.ts';
import type { RunOptions } from '../harness/run-options.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { startScriptedServer } from '../realtime/scripted-server.ts';
import { scripted } from './live/spoken.ts';

/** How the runner of GitHub and the agent of Azure find commands in a log. */
const COMMAND = /^\s*::|##[a-z]{0,16}\[/im;
/** Control characters other than tabs and line ends. */
const CONTROL = /(?!\r\n)[\0-\x08\x0b-\x1f\x7f-\x9f]/;
const TEXT =
  'One.\n::add-mask::two\n  ::error::three ##vso[task.four]\u001b[31m\u0007\b\r::error::five\u009b2J\u007f\tsix';

async function run(args: readonly string[], options: RunOptions = {}) {
  const json = { items: [{ text: TEXT }], '##[group]': TEXT };
  const server = await startScriptedServer({
    http: {
      'GET /json': { status: 200, json },
      'GET /text': { status: 200, headers: { 'Content-Type': 'text/plain' }, json: TEXT },
    },
  });
  const env = scripted(server, { CI: 'true' });
  const result = await runFoley(args, { ...options, env });
  return { ...result, stdout: result.stdout.toString(), json };
}

test.each([
  ['a raw string of --jq', ['api', 'GET', '/json', '--json', '--jq', '.items[0].text']],
  ['the JSON of --jq', ['api', 'GET', '/json', '--json', '--jq', '.']],
  ['a JSON response', ['api', 'GET', '/json']],
  ['a text response', ['api', 'GET', '/text']],
  ['a text', ['text', TEXT]],
  ['a text as JSON', ['text', TEXT, '--json']],
] as const)('with CI, %s holds no command of the runner', async (_name, args) => {
  const { code, json, stdout } = await run(args);
  expect([code, stdout]).toEqual([0, expect.not.stringMatching(COMMAND)]);
  expect(stdout).not.toMatch(CONTROL);
  expect(stdout).toContain('add-mask');
  if (args[2] === '/json' && args.length !== 6) expect(JSON.parse(stdout)).toEqual(json);
});

test('with CI, the colors of foley stay, and raw results of lists hold no control characters', async () => {
  const env = { CI: 'true' };
  const jq = await runFoley(['voices', 'list', '--local', '--json', '--jq', '"a\\u001b[31mb"'], {
    env,
  });
  expect(jq.stdout.toString()).toBe('a\\x1b[31mb\n');
  const colored = await runFoley(['voices', 'list', '--local', '--color', 'always'], { env });
  expect(colored.stdout.toString()).toContain('\u001b[2mID');
});

test('without CI, a pipe gets the text unchanged', async () => {
  const { stdout } = await runFoley(['text', TEXT]);
  expect(stdout.toString()).toBe(`${TEXT}\n`);
});

test('a file gets the text unchanged', async () => {
  const sandbox = await createSandbox();
  const file = path.join(sandbox.out, 'text.txt');
  const { code } = await run(['text', TEXT], { sandbox, stdout: { path: file } });
  expect(code).toBe(0);
  expect(await readFile(file, 'utf8')).toBe(`${TEXT}\n`);
});
