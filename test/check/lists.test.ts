import { describe, expect, test } from 'vitest';
import { VOICES } from '../fault-server/healthy-service.ts';
import { answer } from '../fault-server/http-text.ts';
import type { Step } from '../fault-server/steps.ts';
import { errorLine } from '../harness/error-line.ts';
import { runFoley } from '../harness/run-foley.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { startInTerminal } from '../harness/terminal.ts';
import { startHostedService, voicesAnswer } from '../binary/support/hosted-service.ts';

const [FIRST] = VOICES;

/** Each command that prints a list, with the names of its columns. */
const LISTS: readonly (readonly [command: string, columns: string])[] = [
  ['voices list', 'id,name,language,models,languages,kind'],
  ['voices list --api v1', 'id,name,kind,description'],
  ['voices list --api compat', 'id,name'],
  ['models list', 'id,longest-text,formats,controls,operations,available'],
  ['jobs list', 'id,status,created,credits,voice,model,text,characters'],
  ['lipsync list', 'id,status,created,credits,billed-as'],
  ['image models', 'model,aspect-ratio,resolution,seconds,size,credits,references,note'],
  ['video models', 'model,aspect-ratio,resolution,seconds,size,credits,references,note'],
  ['engine list', 'name,version,license,voices,languages,size,command'],
  ['auth list', 'name,in-use,service,realtime'],
  ['config list', 'name,value,origin'],
  ['recover --list', 'id,what,credits,output,running'],
];

describe('--columns', () => {
  test('chooses and orders the columns, as tab-separated values without titles', async () => {
    const { env } = await startHostedService();
    const args = ['voices', 'list', '--columns', 'Kind,name, id'];
    const result = await runFoley(args, { env });
    expect(result).toMatchObject({ code: 0, stderr: '' });
    const [line = ''] = result.stdout.toString().split('\n');
    expect(line).toBe(`public\t${FIRST.name}\t${FIRST.voiceId}`);
  });

  test('on a terminal is a table with titles that leaves none out', async () => {
    const { env } = await startHostedService();
    const args = ['voices', 'list', '--columns', 'models,id'];
    const running = await startInTerminal([...args, '--color', 'never'], { env, columns: 50 });
    const [title = '', row = ''] = (await running.done).stdout.toString().split('\r\n');
    expect(title).toMatch(/MODELS +ID$/);
    expect(row).toMatch(new RegExp(`${FIRST.voiceId}$`));
  });

  test('escapes tabs and line ends, so that a row is a line with as many tabs as columns', async () => {
    const name = 'a\tb\nc\u001b[31m';
    const { env } = await startHostedService([voicesAnswer([{ ...FIRST, name }])]);
    const result = await runFoley(['voices', 'list', '--columns', 'name,id'], { env });
    expect(result.stdout.toString()).toBe(`a\\tb\\nc\\x1b[31m\t${FIRST.voiceId}\n`);
  });

  test.each(LISTS)('of %s are %s', async (command, columns) => {
    const sandbox = await createSandbox();
    const args = command.split(' ');
    const result = await runFoley([...args, '--local', '--columns', columns], { sandbox });
    expect(result.code, result.stderr).toBe(0);
    const lines = result.stdout.toString().split('\n').slice(0, -1);
    for (const line of lines) expect(line.split('\t')).toHaveLength(columns.split(',').length);
    const help = await runFoley([...args, '--help'], { sandbox });
    const listed = help.stdout.toString().replaceAll(/\s+/g, ' ');
    expect(listed).toContain('columns and their order: ');
    for (const name of columns.split(',')) expect(listed).toContain(name);
  });

  test('refuses an unknown column before it sends a request, and names the columns', async () => {
    const { env, server } = await startHostedService();
    const args = ['voices', 'list', '--columns', 'id,nmae'];
    const result = await runFoley(args, { env });
    expect(result).toMatchObject({ code: 2 });
    expect(result.stderr).toContain(
      '--columns has "nmae"; it takes id, name, language, description, models, languages, kind',
    );
    expect(result.stderr).toContain('Did you mean name?');
    const other = ['voices', 'list', '--api', 'compat', '--columns', 'language'];
    expect(await runFoley(other, { env })).toMatchObject({ code: 2 });
    expect(server.requests).toEqual([]);
  });

  test('is refused with --json, whose fields are fixed, and by recover without --list', async () => {
    const json = await runFoley(['models', 'list', '--columns', 'id', '--json']);
    expect(errorLine(json)).toMatchObject({ code: 'usage', exitCode: 2 });
    const recover = await runFoley(['recover', '--columns', 'id']);
    expect(recover).toMatchObject({ code: 2 });
    expect(recover.stderr).toContain('--columns requires --list');
  });
});

describe('--jq', () => {
  test('prints each result of the expression on a line, and strings without quotes', async () => {
    const { env } = await startHostedService();
    const expression = '.items[0] | .name, "", "a\\tb", {voiceId}, -1.5, null';
    const result = await runFoley(['voices', 'list', '--jq', expression], { env });
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(result.stdout.toString()).toBe(
      `${FIRST.name}\n\na\tb\n{"voiceId":"${FIRST.voiceId}"}\n-1.5\nnull\n`,
    );
  });

  test('is jq: functions, formats and expressions that begin with a dash', async () => {
    const { env } = await startHostedService();
    const cases = [
      ['[.models[] | select(.available)] | length | . > 0', 'true\n'],
      ['.models[0].id | test("^VENDOR"; "i"), (try error("x") catch .)', 'true\nx\n'],
      ['[1, "a"] | @tsv, @csv', '1\ta\n1,"a"\n'],
      ['-1', '-1\n'],
      ['empty', ''],
      ['env | has("FOLEY_API_KEY")', 'false\n'],
    ];
    for (const [expression = '', printed] of cases) {
      const result = await runFoley(['models', 'list', `--jq=${expression}`], { env });
      expect(result.stdout.toString(), `${expression}: ${result.stderr}`).toBe(printed);
    }
  });

  test('on a terminal indents JSON, and escapes control characters in strings', async () => {
    const name = 'a\tb\nc\u001b[31m';
    const { env } = await startHostedService([voicesAnswer([{ ...FIRST, name }])]);
    const args = ['voices', 'list', '--jq', '.items[0] | .name, {isPersonal}'];
    const { stdout } = await (await startInTerminal(args, { env })).done;
    expect(stdout.toString()).toBe('a\tb\r\nc\\x1b[31m\r\n{\r\n  "isPersonal": false\r\n}\r\n');
  });

  test.each([
    ['.items[', /^foley: --jq: syntax error, .* \(line 1, column 7\)\nSee https:\/\/jqlang/],
    ['.a\n| nope(1)', /^foley: --jq: nope\/1 is not defined \(line 2, column 3\)\n/],
    ['', /^foley: --jq is empty\n/],
  ])('%j is refused before a request is sent', async (expression, message) => {
    const { env, server } = await startHostedService();
    const result = await runFoley(['voices', 'list', '--jq', expression], { env });
    expect(result).toMatchObject({ code: 2 });
    expect(result.stderr).toMatch(message);
    expect(server.requests).toEqual([]);
  });

  test.each([
    ['.total.x', 'Cannot index number with string ("x")'],
    ['error("no \\(1 + 1)")', 'no 2'],
    ['[limit(20; def f: [f]; f)]', 'out of memory'],
  ])(
    '%s that fails on the document is exit code 2, with nothing on stdout',
    async (expression, message) => {
      const { env } = await startHostedService();
      const args = ['voices', 'list', '--jq', `.items[0].name, (${expression})`];
      const result = await runFoley(args, { env });
      expect(result).toMatchObject({ code: 2 });
      expect(result.stdout.toString()).toBe('');
      expect(result.stderr).toContain(`foley: --jq: ${message}\n`);
    },
  );

  test('Ctrl-C ends an expression that runs forever', async () => {
    const { env, server } = await startHostedService();
    const args = ['voices', 'list', '--jq', 'def f: f; f'];
    const running = await startInTerminal(args, { env });
    await expect.poll(() => server.requests.length).toBe(1);
    running.write('\x03');
    expect(await running.done).toMatchObject({ code: 130 });
  });

  test.each([
    ['jobs list', '.items | length', '0'],
    ['lipsync list', '.items | length', '0'],
    ['image models', '.models | type', 'array'],
    ['engine list', '.total', '0'],
    ['auth list', '.total', '0'],
    ['config list', '.items[] | select(.name == "format").value', 'mp3'],
    ['recover --list', '.items | length', '0'],
    [
      'api GET /api/open/v3/voices',
      '.items[] | select(.name == "Clara") | .primaryLanguage',
      'en-US',
    ],
  ])('of %s filters its document', async (command, expression, printed) => {
    const result = await runFoley([...command.split(' '), '--local', '--jq', expression]);
    expect(result.stdout.toString(), result.stderr).toBe(`${printed}\n`);
  });

  test('reports a billed request whose response the expression cannot filter', async () => {
    const { env } = await startHostedService([
      { method: 'POST', path: '/api/open/v3/speech/jobs', answer: jsonAnswer({ jobId: 'j-1' }) },
    ]);
    const args = ['api', 'POST', '/api/open/v3/speech/jobs', '-F', 'text=hi', '--jq', '.jobId.x'];
    const result = await runFoley(args, { env });
    expect(result).toMatchObject({ code: 30 });
    expect(result.stderr).toContain('--jq: Cannot index string');
  });

  test('on a command without it names the commands that have it', async () => {
    const result = await runFoley(['profile', 'get', '--jq', '.']);
    expect(result).toMatchObject({ code: 2 });
    expect(result.stderr).toContain('Commands that print a list, and `foley api`, have --jq.');
  });

  test('is refused with --columns, and by recover without --list', async () => {
    const both = await runFoley(['models', 'list', '--jq', '.', '--columns', 'id']);
    expect(both).toMatchObject({ code: 2 });
    expect(both.stderr).toContain("'--columns <names>' cannot be used with option '--jq");
    const recover = await runFoley(['recover', '--jq', '.']);
    expect(recover).toMatchObject({ code: 2 });
    expect(recover.stderr).toContain('--jq requires --list');
  });
});

function jsonAnswer(body: object): Step[] {
  return answer(200, { 'Content-Type': 'application/json' }, JSON.stringify(body));
}
