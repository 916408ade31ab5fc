import { describe, expect, test } from 'vitest';
import { answer } from '../../fault-server/http-text.ts';
import type { Rule } from '../../fault-server/script.ts';
import { parseJsonDocument } from '../../harness/json-lines.ts';
import { runFoley } from '../../harness/run-foley.ts';
import { startHostedService } from '../../binary/support/hosted-service.ts';
import { localDocument } from '../../binary/support/local-document.ts';

const V1_PATH = '/api/open/v1/voices';
const COMPAT_PATH = '/v1/audio/voices';
const FORM_A = {
  voiceId: 'v-1',
  title: 'Ada',
  description: 'Clear',
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-02T00:00:00Z',
  isPersonal: true,
};
const FORM_B = { id: 'v-2', name: 'Ben', provider: 'vendor' };

function json(path: string, body: (page: number) => unknown): Rule {
  return {
    optional: true,
    method: 'GET',
    path,
    answer: ({ query }) =>
      answer(
        200,
        { 'Content-Type': 'application/json' },
        JSON.stringify(body(Number(query.get('page') ?? 1))),
      ),
  };
}

/** Two pages of v1, one in each form of its items. */
function v1Pages(): Rule {
  return json(V1_PATH, (page) => ({
    total: 2,
    page,
    pageSize: 1,
    totalPages: 2,
    items: [page === 1 ? FORM_A : FORM_B],
  }));
}

async function ask(...flags: readonly string[]) {
  const rules = [v1Pages(), json(COMPAT_PATH, () => ({ voices: [{ id: 'v-3' }, FORM_B] }))];
  const { server, env } = await startHostedService(rules);
  const result = await runFoley(['voices', 'list', ...flags], { env });
  return { result, requests: server.requests, connections: server.connections };
}

describe('voices list --api v1', () => {
  test('prints what the service said', async () => {
    const { result, requests } = await ask('--api', 'v1', '--json');
    expect(parseJsonDocument(result.stdout)).toMatchObject({ total: 2, items: [FORM_A] });
    expect(requests.map(({ target }) => target)).toEqual([V1_PATH]);
  });

  test('takes items of either form, as a table', async () => {
    const { result } = await ask('--api', 'v1', '--all');
    const lines = result.stdout.toString().trimEnd().split('\n');
    expect(lines.map((line) => line.split(/\s{2,}/))).toEqual([
      ['ID', 'NAME', 'KIND', 'DESCRIPTION'],
      ['v-1', 'Ada', 'personal', 'Clear'],
      ['v-2', 'Ben', 'public'],
    ]);
  });

  test('with --all is every page as items and total', async () => {
    const { result, requests } = await ask('--api', 'v1', '--all', '--json', '--search', 'a');
    expect(parseJsonDocument(result.stdout)).toStrictEqual({ items: [FORM_A, FORM_B], total: 2 });
    expect(requests.map(({ query }) => Object.fromEntries(query))).toEqual([
      { page: '1', pageSize: '100', search: 'a' },
      { page: '2', pageSize: '100', search: 'a' },
    ]);
  });

  test('says when there are more', async () => {
    const { result } = await ask('--api', 'v1');
    expect(result.stderr).toBe('foley: page 1 of 2; --all shows all 2\n');
  });

  test.each([
    [['--type', 'personal'], { modelType: 'personal' }],
    [['--type', 'all', '--include-personal'], { modelType: 'all', includePersonal: 'true' }],
    [['--language', 'en-GB'], { language: 'en-GB' }],
    [['--supports-language', 'de'], { supportsLanguage: 'de' }],
    [['--search', 'a b&c'], { search: 'a b&c' }],
    [['--provider', 'altA'], { provider: 'altA' }],
    [
      ['--search', 'x', '--page', '2', '--page-size', '5'],
      { search: 'x', page: '2', pageSize: '5' },
    ],
  ])('is chosen by %j', async (flags, query) => {
    const { result, requests } = await ask(...flags);
    expect(result.code, result.stderr).toBe(0);
    expect(requests[0]?.path).toBe(V1_PATH);
    expect(Object.fromEntries(requests[0]?.query ?? [])).toEqual(query);
    const named = await ask('--api', 'v1', ...flags);
    expect(named.requests[0]?.target).toBe(requests[0]?.target);
  });

  test('filters for real', async () => {
    expect(await localDocument('voices', 'list', '--language', 'en-US')).toMatchObject({
      total: 15,
    });
    expect(await localDocument('voices', 'list', '--search', 'nora')).toMatchObject({
      items: [{ title: 'Nora' }],
    });
    const personal = await runFoley(['voices', 'list', '--type', 'personal', '--local']);
    expect(personal).toMatchObject({ stdout: Buffer.alloc(0), stderr: 'No voices.\n' });
    const speaks = await localDocument('voices', 'list', '--supports-language', 'en', '--all');
    expect(speaks).toMatchObject({ total: Object(await localDocument('voices', 'list')).total });
  });
});

describe('voices list --api compat', () => {
  test('prints what the service said, and a table of ids', async () => {
    const { result, requests } = await ask('--api', 'compat', '--json');
    expect(parseJsonDocument(result.stdout)).toStrictEqual({ voices: [{ id: 'v-3' }, FORM_B] });
    expect(requests.map(({ target }) => target)).toEqual([COMPAT_PATH]);
    const table = await ask('--api', 'compat');
    const lines = table.result.stdout.toString().trimEnd().split('\n');
    expect(lines.map((line) => line.split(/\s{2,}/))).toEqual([
      ['ID', 'NAME'],
      ['v-3', 'v-3'],
      ['v-2', 'Ben'],
    ]);
  });

  test('with --all is items and total, as everywhere', async () => {
    const { result } = await ask('--api', 'compat', '--all', '--json');
    expect(parseJsonDocument(result.stdout)).toStrictEqual({
      items: [{ id: 'v-3' }, FORM_B],
      total: 2,
    });
  });

  test('lists the same voices as v3 for real', async () => {
    const compat = Object(await localDocument('voices', 'list', '--api', 'compat'));
    const v3 = Object(await localDocument('voices', 'list', '--all'));
    expect(compat.voices.map(({ id }: { id: string }) => id)).toEqual(
      v3.items.map(({ voiceId }: { voiceId: string }) => voiceId),
    );
  });
});

test.each([
  [['--api', 'v3', '--search', 'x'], '--search does not work with --api v3'],
  [['--api', 'v3', '--type', 'all'], '--type does not work with --api v3'],
  [['--api', 'v3', '--provider', 'x'], '--provider does not work with --api v3'],
  [['--api', 'compat', '--language', 'en'], '--language does not work with --api compat'],
  [['--api', 'compat', '--page', '2'], '--page does not work with --api compat'],
  [['--api', 'compat', '--include-personal'], '--include-personal does not work with --api compat'],
  [['--api', 'v2'], '--api is "v2"; it takes v3, v1, compat'],
  [['--type', 'mine'], '--type is "mine"; it takes public, personal, all'],
  [['--search', ''], '--search is empty'],
])('%j is exit 2', async (flags, message) => {
  const { result, connections } = await ask(...flags);
  expect(result.code).toBe(2);
  expect(result.stderr).toContain(message);
  expect(connections).toBe(0);
});

test('a v1 list without its items is exit 25', async () => {
  const { env } = await startHostedService([json(V1_PATH, () => ({ voices: [] }))]);
  const result = await runFoley(['voices', 'list', '--api', 'v1'], { env });
  expect(result.code).toBe(25);
});
