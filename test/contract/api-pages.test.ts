import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ENDPOINTS } from '../../src/contract/endpoints.ts';
import { shownIn } from './api-pages.ts';
import { namedSchemas } from './contract-names.ts';

const shown = new Set(
  readdirSync('docs/api').flatMap((name) => shownIn(readFileSync(`docs/api/${name}`, 'utf8'))),
);

/** Additions of this service, described in docs/service.md. */
const ELSEWHERE = new Set<string>(['getHealth', 'getMediaFile']);

describe('the pages of docs/api', () => {
  it('show every endpoint of the contract', () => {
    const ids = ENDPOINTS.map(({ id }) => id).filter((id) => !ELSEWHERE.has(id));
    expect(ids.filter((id) => !shown.has(id))).toEqual([]);
  });

  it('show every schema of the contract', () => {
    expect(Object.keys(namedSchemas()).filter((name) => !shown.has(name))).toEqual([]);
  });
});
