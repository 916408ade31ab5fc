import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { OUTCOMES, PURCHASE_STATES } from '../../src/paid/purchase.ts';

const STATES_OF_A_REQUEST = ['in_progress', 'completed', 'refunded'];

it.each([...PURCHASE_STATES, ...Object.keys(OUTCOMES), ...STATES_OF_A_REQUEST])(
  'docs/billing.md says what becomes of `%s`',
  async (state) => {
    const page = await readFile(new URL('../../docs/billing.md', import.meta.url), 'utf8');
    expect(page).toMatch(new RegExp(String.raw`^- \`${state}\``, 'm'));
  },
);
