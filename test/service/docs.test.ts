import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { ENDPOINTS } from '../../src/contract/endpoints.ts';
import { SERVICE_ERRORS } from '../../src/contract/service-errors.ts';
import { MODELS } from '../../src/service/catalogue/models.ts';

const page = readFile(new URL('../../docs/service.md', import.meta.url), 'utf8');

describe('docs/service.md', () => {
  it('has the true row of every model', async () => {
    const rows = MODELS.map(
      ({ id, maxTextLength, outputFormats, creditsPerCharacter }) =>
        `| ${id} | ${maxTextLength} | ${outputFormats.join(', ')} | ${creditsPerCharacter} |`,
    );
    const shown = (await page)
      .split('\n')
      .filter((line) => /^\| (vendor|alt[A-F])\S* \|/.test(line));
    expect(shown).toEqual(rows);
  });

  it('names every endpoint', async () => {
    const text = await page;
    for (const { path } of ENDPOINTS) expect(text).toContain(path);
  });

  it('names every code that the spec does not, with its status', async () => {
    const ofTheSpec = /INVALID_REQUEST|REQUEST_ID|REQUEST_(ALREADY|IN|PREVIOUSLY)/;
    const text = (await page).replaceAll('\n', ' ');
    for (const [code, status] of Object.entries(SERVICE_ERRORS)) {
      if (ofTheSpec.test(code)) continue;
      expect(text).toMatch(new RegExp(`\`${code}\`[^,]*? (and \`ERR_\\w+\`[^,]*? )?${status}`));
    }
  });
});
