import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DEFINITIONS } from '../../src/contract/endpoints.ts';
import { BEHAVIOURS } from './all-behaviours.ts';
import { shownIn } from './api-pages.ts';
import { namedSchemas } from './contract-names.ts';
import { testedElsewhere } from './behaviour.ts';
import { pending } from './pending.ts';

const shown = new Set(
  readdirSync('docs/api').flatMap((name) => shownIn(readFileSync(`docs/api/${name}`, 'utf8'))),
);

/** Every page, and every heading of one: `speech`, `speech#v3`. */
const sections = new Set(
  readdirSync('docs/api').flatMap((name) => {
    const headings = readFileSync(`docs/api/${name}`, 'utf8').matchAll(/^#+ (.*)$/gm);
    const page = name.replace(/\.md$/, '');
    const anchors = [...headings].map(([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    );
    return [page, ...anchors.map((anchor) => `${page}#${anchor}`)];
  }),
);

/** Additions of this service, described in docs/service.md. */
const ELSEWHERE = new Set<string>(['getHealth', 'getMediaFile', 'getRequestError']);

describe('the pages of docs/api', () => {
  it('show every endpoint of the contract', () => {
    const ids = DEFINITIONS.map(({ id }) => id).filter((id) => !ELSEWHERE.has(id));
    expect(ids.filter((id) => !shown.has(id))).toEqual([]);
  });

  it('show every schema of the contract', () => {
    expect(Object.keys(namedSchemas()).filter((name) => !shown.has(name))).toEqual([]);
  });

  it('have the section of every endpoint and of every row', () => {
    const all = [...DEFINITIONS, ...BEHAVIOURS, ...testedElsewhere, ...pending];
    const cited = new Set(all.map(({ section }) => section));
    cited.delete('ours');
    expect([...cited].filter((section) => !sections.has(section))).toEqual([]);
  });
});
