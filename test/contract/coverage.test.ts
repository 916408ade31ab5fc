import { readFile } from 'node:fs/promises';
import { describe, expect, test, vi } from 'vitest';
import { ENDPOINTS } from '../../src/contract/generated/endpoints.ts';
import { BEHAVIOURS } from './all-behaviours.ts';
import { contractNames, endpointName } from './contract-names.ts';
import { askRow } from './ask-row.ts';
import { testedElsewhere } from './behaviour.ts';
import { openService } from './open-service.ts';
import { pending } from './pending.ts';
import { NotApplicable } from './service-under-test.ts';

const tested = [...BEHAVIOURS, ...testedElsewhere];
const names = contractNames();
const covered = new Set(tested.flatMap(({ covers = [] }) => covers));
const asked = new Set(tested.flatMap(({ on }) => on.split(', ').map((one) => endpointName(one))));

function throwNotApplicable(): never {
  throw new NotApplicable('no such voice');
}

/** Those of the spec's section 5, and ours: signed addresses, the refusal of realtime v1, and health. */
const PUBLIC = [
  'GET /api/open/v3/speech/tts/capabilities',
  'GET /api/open/v3/openapi.json',
  'GET /api/open/tts/cached/{audioId}',
  'GET /api/open/tts/audio/{taskId}',
  'GET /api/open/media/files/{fileId}',
  'GET /v1/tts/live',
  'GET /healthz',
];

describe('the rows', () => {
  test('have an id each', () => {
    const ids = [...tested, ...pending].map(({ id }) => id);
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  });

  test('ask every endpoint, and wait for none that is there', () => {
    expect(names.endpoints.filter((endpoint) => !asked.has(endpoint))).toEqual([]);
    const missing = new Set(pending.map(({ on }) => endpointName(on)));
    expect(names.endpoints.filter((endpoint) => missing.has(endpoint))).toEqual([]);
  });

  test('ask every endpoint for its key, but those that are public', () => {
    const keyed = new Set(BEHAVIOURS.flatMap(({ id, on }) => (id.startsWith('auth.') ? [on] : [])));
    const others = ENDPOINTS.map(({ method, path }) => `${method} ${path}`);
    expect(others.filter((endpoint) => !keyed.has(endpoint))).toEqual(PUBLIC);
  });

  test.each([
    ['at once', () => throwNotApplicable()],
    ['later', async () => throwNotApplicable()],
  ])('are skipped at a service that gives no occasion, said %s', async (_when, check) => {
    const service = openService({ baseUrl: 'http://127.0.0.1:1', key: '', isOurs: false });
    const skip = vi.fn<(why: string) => void>();
    await askRow({ check }, service, skip);
    expect(skip.mock.calls).toEqual([['no such voice']]);
  });

  test('look at every field', () => {
    expect(names.fields.filter((field) => !covered.has(field))).toEqual([]);
  });

  test('bring about every error', () => {
    expect(names.errors.map(({ code }) => code).filter((code) => !covered.has(code))).toEqual([]);
  });

  test('try every limit and every header', () => {
    const all = [...names.limits.map(({ name }) => name), ...names.headers];
    expect(all.filter((name) => !covered.has(name))).toEqual([]);
  });

  test('speak of every message, error, end and state of realtime speech', () => {
    expect(names.realtime.filter((name) => !covered.has(name))).toEqual([]);
  });

  test('cover nothing that the contract does not know', () => {
    const known = new Set([
      ...names.fields,
      ...names.errors.map(({ code }) => code),
      ...names.limits.map(({ name }) => name),
      ...names.headers,
      ...names.realtime,
    ]);
    const isKnown = (name: string) =>
      known.has(name) || names.fields.some((field) => field.startsWith(`${name}.`));
    expect([...covered].filter((name) => !isKnown(name))).toEqual([]);
  });

  test.each(testedElsewhere)('$id is tested where it says', async ({ test: [file, name = ''] }) => {
    const source = await readFile(new URL(`../../${file}`, import.meta.url), 'utf8');
    expect(source).toContain(name);
  });
});
