import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/system/clock.ts';
import { systemRandom } from '../../src/system/random.ts';
import { startServer } from '../../src/service/http/serve.ts';
import { connectRaw } from '../harness/raw-connection.ts';
import { FAMILIES } from '../../src/contract/families.ts';
import { VOICES } from '../../src/service/voices/catalogue-voice.ts';
import { jsonPost, KEY, testService, voiceId } from './support/test-service.ts';
import type { TestService } from './support/test-service.ts';

const PATH = '/api/open/v1/voices';
const LEGACY_PATH = '/api/open/list-models';

type Filters = Readonly<Record<string, string | number | boolean>>;

/** The same question in the query of v1 and in the body of the older path, which answer the same. */
async function list({ call }: Pick<TestService, 'call'>, filters: Filters) {
  const query = new URLSearchParams(
    Object.entries(filters).map(([name, value]): [string, string] => [name, String(value)]),
  );
  const response = await call(`${PATH}?${query.toString()}`);
  expect(response.status).toBe(200);
  const body: unknown = await response.json();
  const legacy = await call(LEGACY_PATH, jsonPost(filters));
  expect(legacy.status).toBe(200);
  expect(await legacy.json()).toStrictEqual(body);
  const names: readonly string[] = Object(body).items.map((item: { title: string }) => item.title);
  return { body, names };
}

describe('the voices of v1', () => {
  it('come in their envelope, with the fields of both descriptions', async () => {
    const { body } = await list(await testService(), { pageSize: 1 });
    expect(body).toStrictEqual({
      total: VOICES.length,
      page: 1,
      pageSize: 1,
      totalPages: VOICES.length,
      items: [
        {
          voiceId: voiceId('Clara'),
          title: 'Clara',
          description: 'adult woman; warm, clear; natural; American English',
          created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
          updated_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
          isPersonal: false,
          id: voiceId('Clara'),
          name: 'Clara',
          provider: 'vendor',
        },
      ],
    });
  });

  it('come twenty to a page, and a page past the end is empty', async () => {
    const service = await testService();
    const first = await list(service, {});
    expect(first.body).toMatchObject({ page: 1, pageSize: 20, total: VOICES.length });
    expect(first.names).toEqual(VOICES.map(({ name }) => name).slice(0, 20));
    const second = await list(service, { page: 2, pageSize: 4 });
    expect(second.names).toEqual(VOICES.slice(4, 8).map(({ name }) => name));
    expect(await list(service, { page: 99 })).toMatchObject({ body: { page: 99 }, names: [] });
  });

  it('come by limit and offset too', async () => {
    const service = await testService();
    const { body, names } = await list(service, { limit: 4, offset: 6 });
    expect(names).toEqual(VOICES.slice(6, 10).map(({ name }) => name));
    expect(body).toMatchObject({ page: 2, pageSize: 4 });
    expect((await list(service, { offset: 3 })).body).toMatchObject({ page: 1, pageSize: 20 });
    const both = await service.call(`${PATH}?limit=2&page=2`);
    expect(both.status).toBe(400);
  });

  it.each([
    [{ modelType: 'public' }, VOICES.length],
    [{ modelType: 'all' }, VOICES.length],
    [{ modelType: 'personal' }, 0],
    [{ includePersonal: true }, VOICES.length],
    [{ modelType: 'personal', includePersonal: true }, 0],
  ])('for %j are %i', async (filters, count) => {
    const { body } = await list(await testService(), filters);
    expect(body).toMatchObject({ total: count });
  });

  it.each([
    [{ language: 'en-US' }, VOICES.map(({ name }) => name)],
    [{ language: 'EN-us' }, VOICES.map(({ name }) => name)],
    [{ language: 'en-GB' }, []],
    [{ language: 'en' }, []],
    [{ supportsLanguage: 'en-US' }, VOICES.map(({ name }) => name)],
    [{ supportsLanguage: 'EN' }, VOICES.map(({ name }) => name)],
    [{ supportsLanguage: 'e' }, []],
    [{ supportsLanguage: 'de' }, []],
    [{ search: 'nor' }, ['Nora']],
    [{ search: 'OLD' }, ['Greta', 'Angus']],
    [{ search: 'woman', provider: 'vendor' }, ['Clara']],
    [{ search: 'nothing like this' }, []],
    [{ search: '' }, VOICES.map(({ name }) => name)],
    [{ provider: 'altD' }, ['Greta', 'Angus']],
    [{ provider: 'none' }, []],
  ])('that fit %j are %j', async (filters, expected) => {
    const { body, names } = await list(await testService(), { ...filters, pageSize: 100 });
    expect(names).toEqual(expected);
    expect(body).toMatchObject({ total: expected.length });
  });

  it('have a provider for each family', async () => {
    const service = await testService();
    for (const { id } of FAMILIES) {
      expect((await list(service, { provider: id })).names.length).toBeGreaterThan(0);
    }
  });

  it.each(['page=0', 'page=x', 'pageSize=101', 'modelType=mine', 'includePersonal=yes', 'limit=0'])(
    '%s is refused',
    async (query) => {
      const { call } = await testService();
      const response = await call(`${PATH}?${query}`);
      expect(response.status).toBe(400);
      const [field] = query.split('=');
      expect(await response.json()).toMatchObject({ details: { errors: [{ field }] } });
    },
  );

  it('are listed whatever else is asked', async () => {
    const { call } = await testService();
    expect((await call(`${PATH}?sortBy=name`)).status).toBe(200);
    expect((await call(LEGACY_PATH, jsonPost({ sortBy: 'name' }))).status).toBe(200);
  });

  it('cost nothing and need a key', async () => {
    const { call, balance } = await testService();
    const before = await balance();
    await call(PATH);
    expect(await balance()).toEqual(before);
    const stranger = { headers: { Authorization: 'Bearer none' } };
    expect((await call(PATH, stranger)).status).toBe(401);
    expect((await call(LEGACY_PATH, { ...stranger, method: 'POST' })).status).toBe(401);
  });
});

describe('POST /api/open/list-models', () => {
  it('needs no body', async () => {
    const { call } = await testService();
    expect((await call(LEGACY_PATH, { method: 'POST' })).status).toBe(200);
    const headers = { 'Content-Length': '0' };
    expect((await call(LEGACY_PATH, { method: 'POST', headers })).status).toBe(200);
  });

  it('needs none over HTTP either', async () => {
    const { service } = await testService();
    const effects = { clock: systemClock, random: systemRandom };
    const server = await startServer({ service, host: '127.0.0.1', port: 0, ...effects });
    onTestFinished(() => server.close());
    const connection = await connectRaw(server.baseUrl);
    const head = `POST ${LEGACY_PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${KEY}\r\n`;
    connection.send(`${head}Connection: close\r\n\r\n`);
    expect(await connection.untilClosed()).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  });

  it('refuses a body that is no object', async () => {
    const { call } = await testService();
    expect((await call(LEGACY_PATH, jsonPost([]))).status).toBe(400);
    expect((await call(LEGACY_PATH, jsonPost({ page: '1' }))).status).toBe(400);
    const text = { method: 'POST', headers: { 'Content-Type': 'text/plain' }, body: 'x' };
    expect((await call(LEGACY_PATH, text)).status).toBe(415);
  });
});

describe('GET /api/openapi.json', () => {
  it('is the document of v3, with a key', async () => {
    const { call, service } = await testService();
    const own = await call('/api/openapi.json');
    const document = await call('/api/open/v3/openapi.json');
    expect(await own.json()).toStrictEqual(await document.json());
    const url = 'http://127.0.0.1:4747/api/openapi.json';
    expect((await service.fetch(new Request(url))).status).toBe(401);
    const keyed = new Request(url, { headers: { Authorization: `Bearer ${KEY}` } });
    expect((await service.fetch(keyed)).status).toBe(200);
  });
});
