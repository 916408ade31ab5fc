import { describe, test } from 'vitest';
import { BEHAVIOURS } from './all-behaviours.ts';
import { askRow } from './ask-row.ts';
import { openService } from './open-service.ts';

/** Another service: its address, with its key in `FOLEY_API_KEY`. */
const given = process.env['FOLEY_CONFORMANCE_URL'];
const maySpend = process.env['FOLEY_CONFORMANCE_SPEND'] === '1';

describe.skipIf(given === undefined)('the service at FOLEY_CONFORMANCE_URL', () => {
  const service = openService({
    baseUrl: given ?? '',
    key: process.env['FOLEY_API_KEY'] ?? '',
    isOurs: false,
  });
  const asked = BEHAVIOURS.filter(
    ({ serve, spends = false }) => serve === undefined && (maySpend || !spends),
  );
  test.for(asked.map((row) => [row.id, row.what, row] as const))(
    '%s: %s',
    async ([, , row], { skip }) => askRow(row, service, skip),
  );
});
