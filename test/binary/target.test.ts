import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { errorLine } from '../harness/error-line.ts';
import { parseJsonDocument } from '../harness/json-lines.ts';
import { runFoley } from '../harness/run-foley.ts';
import type { RunOptions } from '../harness/run-options.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { snapshot } from '../harness/snapshot.ts';
import { startHostedService } from './support/hosted-service.ts';

const NOTICE = /^foley: using the embedded service; [^\n]*\n$/;
const LIST = ['voices', 'list'];

describe('the embedded service', () => {
  test('answers where nothing is configured, and says so in one line', async () => {
    const result = await runFoley(LIST);
    expect(result).toMatchObject({ code: 0, stderr: expect.stringMatching(NOTICE) });
  });

  test.each<readonly [string, readonly string[], RunOptions, boolean]>([
    ['with --local', ['--local'], {}, false],
    ['with FOLEY_TARGET=local', [], { env: { FOLEY_TARGET: 'local' } }, false],
    ['with --quiet', ['--quiet'], {}, false],
    ['with --quiet where CI is set', ['-q'], { env: { CI: 'true' } }, true],
    ['with --quiet where CI is empty', ['-q'], { env: { CI: '' } }, false],
    ['with --json', ['--json'], {}, true],
    ['with --local where CI is set', ['--local'], { env: { CI: '1' } }, false],
  ])('%s', async (_, flags, options, isSaid) => {
    const result = await runFoley([...LIST, ...flags], options);
    expect(result.code, result.stderr).toBe(0);
    if (isSaid) expect(result.stderr).toMatch(NOTICE);
    else expect(result.stderr).toBe('');
  });

  test('takes no notice of a key in the environment with --local', async () => {
    const env = { FOLEY_API_KEY: 'some-key', FOLEY_BASE_URL: 'https://api.example.com' };
    const result = await runFoley(['tts', 'Hi', '--local', '--json'], { env });
    expect(result.code, result.stderr).toBe(0);
    expect(parseJsonDocument(result.stdout)).toMatchObject({ target: 'embedded' });
  });

  test('keeps its data in the state folder, for this user only', async () => {
    const { sandbox } = await runFoley([...LIST, '--local']);
    const state = await snapshot(sandbox.state);
    expect(state.get('foley')).toMatchObject({ kind: 'folder', mode: 0o700 });
    expect((await snapshot(sandbox.home)).size).toBe(0);
  });
});

describe('the hosted service', () => {
  test('answers with a base URL and a key of the environment', async () => {
    const { server, env } = await startHostedService();
    const result = await runFoley(LIST, { env });
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(server.requests).toHaveLength(1);
  });

  test('answers with flags, the key from a file', async () => {
    const { server } = await startHostedService();
    const sandbox = await createSandbox();
    await writeFile(path.join(sandbox.home, 'key'), 'file-key\n');
    const flags = ['--base-url', server.origin, '--api-key-file', path.join(sandbox.home, 'key')];
    const result = await runFoley([...flags, ...LIST], { sandbox });
    expect(result).toMatchObject({ code: 0, stderr: '' });
    expect(server.requests[0]?.header('authorization')).toBe('Bearer file-key');
  });

  test('gets its key from stdin', async () => {
    const { server } = await startHostedService();
    const flags = ['--base-url', server.origin, '--api-key-file', '-'];
    const result = await runFoley([...LIST, ...flags], { input: 'piped-key\n' });
    expect(result).toMatchObject({ code: 0 });
    expect(server.requests[0]?.header('authorization')).toBe('Bearer piped-key');
  });

  test('is asked for public documents without a key', async () => {
    const { server } = await startHostedService();
    const result = await runFoley(['models', 'list', '--base-url', server.origin]);
    expect(result.code, result.stderr).toBe(0);
    expect(server.requests[0]?.header('authorization')).toBeUndefined();
  });
});

describe('what does not say clearly which service is meant is refused', () => {
  const KEY = { FOLEY_API_KEY: 'some-key' };
  const URL = { FOLEY_BASE_URL: 'http://127.0.0.1:1' };

  test.each<readonly [string, number, readonly string[], Readonly<Record<string, string>>]>([
    ['--local and --base-url', 2, ['--local', '--base-url', 'http://127.0.0.1:1'], {}],
    ['a key and no base URL', 2, [], KEY],
    ['a base URL and no key', 4, [], URL],
    ['an empty key', 4, [], { FOLEY_API_KEY: '' }],
    ['an empty key and a base URL', 4, [], { ...URL, FOLEY_API_KEY: '' }],
    ['hosted, and nothing configured', 4, [], { FOLEY_TARGET: 'hosted' }],
    ['another target', 2, [], { FOLEY_TARGET: 'cloud' }],
    ['plain http over a network', 2, ['--base-url', 'http://192.0.2.1'], KEY],
    ['no URL', 2, ['--base-url', 'example'], KEY],
    ['a URL with a password', 2, ['--base-url', 'https://a:b@example.com'], KEY],
  ])('%s is exit %i', async (_, code, flags, env) => {
    const result = await runFoley([...LIST, ...flags, '--json'], { env });
    expect(result.stdout).toHaveLength(0);
    const line = errorLine(result);
    expect(line).toMatchObject({ exitCode: code, billed: 'no' });
    expect(line.message).not.toContain('some-key');
  });
});
