import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { ENDPOINTS } from '../../src/contract/generated/endpoints.ts';
import { SERVICE_ERRORS } from '../../src/contract/service-errors.ts';
import { MODELS } from '../../src/service/voices/models.ts';

/** Section 7 of it. */
const CODES_OF_THE_SPEC: ReadonlySet<string> = new Set([
  'ERR_REQUEST_ID_CONFLICT',
  'ERR_REQUEST_ALREADY_COMPLETED',
  'ERR_REQUEST_IN_PROGRESS',
  'ERR_REQUEST_PREVIOUSLY_REFUNDED',
  'ERR_INVALID_REQUEST',
  'ERR_LIP_SYNC_MEDIA_DOWNLOAD_TIMEOUT',
]);

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
    const byStatus = new Map<number, string[]>();
    for (const [code, status] of Object.entries(SERVICE_ERRORS)) {
      if (CODES_OF_THE_SPEC.has(code)) continue;
      byStatus.set(status, [...(byStatus.get(status) ?? []), `\`${code}\``]);
    }
    const rows = [...byStatus]
      .toSorted(([one], [other]) => one - other)
      .map(([status, codes]) => [String(status), codes.toSorted()]);
    const shown = (await page).split('\n').flatMap((line) => {
      const [, status, cell = ''] = /^\| (\d{3}) \| (.*) \|$/.exec(line) ?? [];
      return status === undefined ? [] : [[status, cell.match(/`ERR_\w+`/g)?.toSorted()]];
    });
    expect(shown).toEqual(rows);
  });
});
