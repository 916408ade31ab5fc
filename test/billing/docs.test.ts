import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { OPEN_STATES, SETTLED_STATES } from '../../src/paid/intents.ts';

const STATES_OF_A_REQUEST = ['in_progress', 'completed', 'refunded'];

it.each([...OPEN_STATES, ...SETTLED_STATES, ...STATES_OF_A_REQUEST])(
  'docs/billing.md says what becomes of `%s`',
  async (state) => {
    const page = await readFile(new URL('../../docs/billing.md', import.meta.url), 'utf8');
    expect(page).toMatch(new RegExp(String.raw`^- \`${state}\``, 'm'));
  },
);
