import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { errorAnswer } from '../fault-server/catalogue.ts';
import { VOICES, VOICES_PATH } from '../fault-server/healthy-service.ts';
import { errorLine } from '../harness/error-line.ts';
import { parseJsonDocument } from '../harness/json-lines.ts';
import { runFoley } from '../harness/run-foley.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { requireTool } from '../harness/require-tool.ts';
import { startInTerminal } from '../harness/terminal.ts';
import { unsafeCharacters } from '../harness/unsafe-characters.ts';
import { startHostedService, voicesAnswer } from './support/hosted-service.ts';
import { localDocument } from './support/local-document.ts';

const LOCAL_IDS = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('voices list', () => {
  test('is a table with a line for each voice', async () => {
    const result = await runFoley(['voices', 'list', '--local']);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    const [title = '', ...rows] = result.stdout.toString().trimEnd().split('\n');
    expect(title.split(/\s+/)).toEqual(['ID', 'NAME', 'LANGUAGE', 'DESCRIPTION', 'MODELS']);
    expect(rows.length).toBeGreaterThan(5);
    for (const row of rows) {
      expect(row).toMatch(
        /^[0-9a-f-]{36} {2,}[A-Z][a-z]+ +en-US {2,}(?:(?:adult|young|old) )?(?:woman|man|girl|boy); [a-z, ]+; natural; American English {2,}\S+(?:, \S+)*$/,
      );
    }
  });

  test('has no column for descriptions if the service has none', async () => {
    const { env } = await startHostedService();
    const { stdout } = await runFoley(['voices', 'list'], { env });
    const [title = ''] = stdout.toString().split('\n');
    expect(title.trim().split(/\s+/)).toEqual(['ID', 'NAME', 'LANGUAGE', 'MODELS']);
  });

  test('with --json is what the service said', async () => {
    const { env } = await startHostedService();
    const result = await runFoley(['voices', 'list', '--json', '--include-personal'], { env });
    expect(parseJsonDocument(result.stdout)).toStrictEqual({
      total: 2,
      page: 1,
      pageSize: 20,
      totalPages: 1,
      items: VOICES,
      requestId: expect.any(String),
    });
  });

  test('asks for what the flags say', async () => {
    const { server, env } = await startHostedService();
    await runFoley(['voices', 'list'], { env });
    const flags = ['--page', '2', '--page-size', '1', '--include-personal'];
    await runFoley(['voices', 'list', ...flags], { env });
    const queries = server.requests.map(({ query }) => Object.fromEntries(query));
    expect(queries).toEqual([{}, { page: '2', pageSize: '1', includePersonal: 'true' }]);
  });

  test('goes through pages, and says when there are more', async () => {
    const first = await runFoley(['voices', 'list', '--page-size', '4', '--local']);
    expect(first.stdout.toString().trimEnd().split('\n')).toHaveLength(5);
    expect(first.stderr).toMatch(/^foley: page 1 of \d+; --all shows all \d+\n$/);
    const quiet = await runFoley(['voices', 'list', '--page-size', '4', '--local', '-q']);
    expect(quiet.stderr).toBe('');
    const flags = ['--page-size', '4', '--page', '2', '--quiet'];
    const second = await localDocument('voices', 'list', ...flags);
    expect(second).toMatchObject({ page: 2, pageSize: 4, items: expect.any(Array) });
    for (const { voiceId } of Object(second).items) {
      expect(first.stdout.toString()).not.toContain(voiceId);
    }
  });

  test('with --all is every page as items and total', async () => {
    const { server, env } = await startHostedService();
    const result = await runFoley(['voices', 'list', '--all', '--include-personal', '--json'], {
      env,
    });
    expect(parseJsonDocument(result.stdout)).toStrictEqual({ items: VOICES, total: 2 });
    expect(server.requests.every(({ query }) => query.get('includePersonal') === 'true')).toBe(
      true,
    );
  });

  test('with --all has as many voices as the service says there are, each once', async () => {
    const all = await localDocument('voices', 'list', '--all');
    const page = await localDocument('voices', 'list');
    expect(all).toMatchObject({ total: Object(page).total });
    const ids: readonly string[] = Object(all).items.map(
      (voice: { voiceId: string }) => voice.voiceId,
    );
    expect(ids).toHaveLength(Object(page).total);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(LOCAL_IDS);
  });

  test.each([
    ['--page', '0', /--page is "0"/],
    ['--page', 'x', /--page is "x"/],
    ['--page-size', '101', /--page-size is "101".*1 to 100/],
    ['--all', '--page=2', /--all.*--page/],
  ])('%s %s is exit 2', async (flag, value, reason) => {
    const result = await runFoley(['voices', 'list', flag, value]);
    expect(result.code).toBe(2);
    expect(result.stderr).toMatch(reason);
  });

  test('fits a terminal, and never shortens an id', async () => {
    const running = await startInTerminal(['voices', 'list', '--local', '--no-progress'], {
      columns: 72,
    });
    const { stdout } = await running.done;
    const lines = stdout.toString().trimEnd().split('\r\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(72 + 9);
    const rows = lines.slice(1);
    expect(rows.every((row) => /^[0-9a-f-]{36} {2}/.test(row))).toBe(true);
    expect(rows.some((row) => row.endsWith('…'))).toBe(true);
  });

  test('without a voice of a language says how codes look', async () => {
    const result = await runFoley(['voices', 'list', '--language', 'en', '--local']);
    expect(result).toMatchObject({ code: 0, stdout: Buffer.alloc(0) });
    expect(result.stderr).toMatch(/^No voices of the language "en"\. .*, such as en-US; /);
  });

  test('on a terminal of 100 columns shows descriptions rather than models', async () => {
    const voices = ['voices', 'list', '--local', '--no-progress'];
    const lineOf = async (columns: number): Promise<string> => {
      const { stdout } = await (await startInTerminal(voices, { columns })).done;
      return /^.* Clara .*$/m.exec(stdout.toString().replaceAll('\r', ''))?.[0] ?? '';
    };
    expect(await lineOf(100)).toMatch(/en-US +adult woman; warm, clear; natural; American/);
    expect(await lineOf(130)).toMatch(/; warm, clear; natural; \S.* {2}vendor-s21pro, /);
  });

  test('shows what a voice is called, whatever is in its name', async () => {
    const [voice] = VOICES;
    const name = '\u001b[31mEvil\u0007\u202e\r\nTwo';
    const { env } = await startHostedService([voicesAnswer([{ ...voice, name }])]);
    const table = await runFoley(['voices', 'list'], { env });
    expect(unsafeCharacters(table.stdout)).toEqual([]);
    expect(table.stdout.toString()).toContain('Evil');
    expect(table.stdout.toString().trimEnd().split('\n')).toHaveLength(2);
    const json = await runFoley(['voices', 'list', '--json'], { env });
    expect(unsafeCharacters(json.stdout)).toEqual([]);
    expect(parseJsonDocument(json.stdout)).toHaveProperty('items.0.name', name);
  });
});

describe('voices get', () => {
  test('shows one voice', async () => {
    const list = await localDocument('voices', 'list');
    const { voiceId, name } = Object(list).items[0];
    const result = await runFoley(['voices', 'get', voiceId, '--local']);
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(result.stdout.toString()).toContain(voiceId);
    expect(result.stdout.toString()).toContain(name);
    const document = await localDocument('voices', 'get', voiceId);
    expect(document).toStrictEqual({ ...Object(list).items[0], requestId: expect.any(String) });
  });

  test('an unknown id is exit 20 with the code of the service', async () => {
    const args = ['voices', 'get', '00000000-0000-4000-8000-000000000000', '--local', '--json'];
    const line = { code: 'ERR_VOICE_NOT_FOUND', exitCode: 20, status: 404, billed: 'no' };
    expect(errorLine(await runFoley(args))).toMatchObject(line);
  });

  test('an id with a slash in it stays one id', async () => {
    const { server, env } = await startHostedService([
      { method: 'GET', path: /voices/, answer: errorAnswer(404) },
    ]);
    await runFoley(['voices', 'get', '../profile?x=1'], { env });
    expect(server.requests[0]?.target).toBe(`${VOICES_PATH}/..%2Fprofile%3Fx%3D1`);
  });
});

describe('a list that is longer than the screen', () => {
  const LIST = ['voices', '--local', '--no-progress'];

  test('goes through the pager of FOLEY_PAGER, which does not get the key', async () => {
    const env = {
      FOLEY_PAGER: 'sh -c "env > seen; cat > paged; echo shown"',
      PAGER: 'false',
      FOLEY_API_KEY: 'a-secret',
    };
    const running = await startInTerminal(LIST, { rows: 6, env });
    const { sandbox, code, stdout } = await running.done;
    expect([code, stdout.toString()]).toEqual([0, 'shown\r\n']);
    expect(await readFile(path.join(sandbox.out, 'paged'), 'utf8')).toMatch(
      /ID +NAME.*\n[^]*Martin/,
    );
    const seen = await readFile(path.join(sandbox.out, 'seen'), 'utf8');
    expect(seen).toContain('LESS=FRX');
    expect(seen).not.toContain('a-secret');
  });

  test.each([
    ['PAGER that reads nothing', { PAGER: 'true' }, []],
    ['no pager that could be started: as it is', { PAGER: 'no-such-pager' }, ['Martin']],
    ['cat: as it is', { FOLEY_PAGER: 'cat', PAGER: 'false' }, ['Martin']],
    ['CI: as it is', { CI: '1', PAGER: 'true' }, ['Martin']],
    ['an empty FOLEY_PAGER: as it is', { FOLEY_PAGER: '', PAGER: 'false' }, ['Martin']],
    ['a pager that a signal ended', { PAGER: "sh -c 'kill -TERM $$'" }, []],
  ])('with %s', async (_how, env, names) => {
    const running = await startInTerminal(LIST, { rows: 6, env });
    const { code, stdout } = await running.done;
    expect(code).toBe(0);
    expect(['Martin'].filter((name) => stdout.toString().includes(name))).toEqual(names);
  });

  test('goes through the pager of the setting, which takes precedence over PAGER', async () => {
    const sandbox = await createSandbox();
    await runFoley(['config', 'set', 'pager', 'sh -c "cat > paged"'], { sandbox });
    const running = await startInTerminal(LIST, { sandbox, rows: 6, env: { PAGER: 'cat' } });
    expect((await running.done).stdout.toString()).toBe('');
    expect(await readFile(path.join(sandbox.out, 'paged'), 'utf8')).toContain('Martin');
  });

  test('Ctrl-C is for the pager: foley waits until the user closes it, and exits with 130', async () => {
    const pager = `sh -c "trap 'echo interrupted' INT; cat > paged; echo ready
      until read key < /dev/tty; do :; done; echo closed"`;
    const running = await startInTerminal(LIST, { rows: 6, env: { PAGER: pager } });
    await running.waitFor('stdout', /ready/);
    running.write('\x03');
    await running.waitFor('stdout', /interrupted/);
    running.write('\x03');
    await running.waitFor('stdout', /interrupted[^]*interrupted/);
    running.write('q\r');
    const { code, stdout } = await running.done;
    expect(stdout.toString()).toMatch(/closed\r\n$/);
    expect(code).toBe(130);
  });

  // The pager stops foley, so that its own end and the signal reach foley at the same time.
  test('Ctrl-C counts when foley learns of it and of the end of the pager at once', async () => {
    // `script` of util-linux misses the end of a program that stopped before.
    requireTool('python3');
    const pager = `sh -c 'cat > paged; kill -STOP $PPID; kill -INT $PPID
      (trap "" HUP; while sleep 0.3; kill -CONT $PPID; do :; done) > /dev/null 2>&1 &'`;
    const options = { rows: 6, env: { PAGER: pager } };
    const running = await startInTerminal(LIST, options, 'python3');
    expect((await running.done).code).toBe(130);
  });

  test.each([
    [['--json'], 6],
    [['--no-pager'], 6],
    [[], 60],
  ])('not with %j on %d lines', async (flags, rows) => {
    const running = await startInTerminal([...LIST, ...flags], { rows, env: { PAGER: 'true' } });
    expect((await running.done).stdout.toString()).toContain('Martin');
  });
});
