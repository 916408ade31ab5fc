import { expect, it } from 'vitest';
import { manualClock } from '../api/manual-clock.ts';
import { systemFiles } from '../../src/system/file-system.ts';
import { systemProcesses } from '../../src/system/processes.ts';
import { systemRandom } from '../../src/system/random.ts';
import { prepareAccounts } from '../../src/service/ledger/accounts.ts';
import { beginOperation } from '../../src/service/operations/operations.ts';
import { Creates } from '../../src/service/operations/creates.ts';
import { createOperations } from '../../src/service/operations/operations.ts';
import { openStore } from '../../src/service/store/open-store.ts';
import { temporaryFolder } from './support/test-service.ts';

const KEY = {
  accountId: 'first',
  endpoint: 'createJob',
  idempotencyKey: 'k',
  fingerprint: 'same',
} as const;
const NOTHING = { credits: 0, quota: 0 };

it('gives the result that another process stores while it is looked up', async () => {
  const clock = manualClock();
  const store = await openStore({ dataDir: await temporaryFolder(), clock, files: systemFiles });
  const deps = { store, clock, random: systemRandom, processes: systemProcesses() };
  prepareAccounts(store, ['first'], { allowance: NOTHING, openingCredits: undefined, now: 0 });
  const other = createOperations(deps);
  const running = beginOperation(other, { ...KEY, requestId: 'r', charge: NOTHING });
  let result: string | undefined;
  const operations = createOperations(deps);
  const creates = new Creates(deps, {
    ...operations,
    findBegun(key) {
      running.complete(() => (result = 'the voice'));
      return operations.findBegun(key);
    },
  });
  const create = {
    key: KEY,
    signal: new AbortController().signal,
    find: () => result,
    make: () => Promise.reject(new Error('made twice')),
  };
  expect(await creates.once(create)).toBe('the voice');
  store.close();
});
