import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { ENDPOINTS } from '../../src/contract/generated/endpoints.ts';
import { SERVICE_ERRORS } from '../../src/contract/service-errors.ts';
import { MODELS } from '../../src/service/voices/model-catalogue.ts';

const DOCS = new URL('../../docs/', import.meta.url);

const page = readFile(new URL('service.md', DOCS), 'utf8');

describe('docs/service.md', () => {
  it('has the true row of every model', async () => {
    const rows = MODELS.map(
      ({ id, maxTextLength, outputFormats, creditsPerCharacter }) =>
        `| ${id} | up to ${maxTextLength} characters | ${outputFormats.join(', ')} | ${creditsPerCharacter} ${creditsPerCharacter === 1 ? 'credit' : 'credits'} per character |`,
    );
    const shown = (await page)
      .split('\n')
      .filter((line) => /^\| (vendor|alt[A-F])\S* \|/.test(line));
    expect(shown).toEqual(rows);
  });

  it('names, with the pages of docs/api, every endpoint', async () => {
    const names = (await readdir(new URL('api/', DOCS))).map((name) => `api/${name}`);
    const pages = await Promise.all(
      names.map(async (name) => readFile(new URL(name, DOCS), 'utf8')),
    );
    const text = [await page, ...pages].join('\n');
    for (const { path } of ENDPOINTS) expect(text).toContain(path);
  });
});

describe('docs/api/errors.md', () => {
  it('names every code with its status', async () => {
    const errors = await readFile(new URL('api/errors.md', DOCS), 'utf8');
    const rows = Object.entries(SERVICE_ERRORS).map(
      ([code, status]) => `| ${status} | \`${code}\` |`,
    );
    const shown = errors.split('\n').filter((line) => /^\| \d{3} \| `ERR_\w+` \|$/.test(line));
    expect(shown).toEqual(rows);
  });
});
