import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../src/system/clock.ts';
import { systemFiles } from '../../src/system/file-system.ts';
import type { Store } from '../../src/service/store/open-store.ts';
import { openStore } from '../../src/service/store/open-store.ts';
import { SPEECH_PATH } from '../fault-server/healthy-service.ts';
import { errorLine } from '../harness/error-line.ts';
import { runFoley } from '../harness/run-foley.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { firstVoiceId, startServe } from '../binary/support/serve.ts';

const FLAGS = ['--data-dir', 'data'];

/** Data of a closed service with billed requests. */
async function usedData(): Promise<{ readonly sandbox: Sandbox; readonly store: Store }> {
  const sandbox = await createSandbox();
  const service = await startServe(FLAGS, { sandbox });
  const body = { text: 'Hello there.', voiceId: await firstVoiceId(service) };
  expect((await service.ask(SPEECH_PATH, { method: 'POST', body })).status).toBe(200);
  service.running.signal('SIGTERM');
  await service.running.done;
  const dataDir = path.join(sandbox.out, 'data');
  const store = await openStore({ dataDir, clock: systemClock, files: systemFiles });
  onTestFinished(() => store.close());
  return { sandbox, store };
}

async function refusal(sandbox: Sandbox) {
  const result = await runFoley(['serve', '--port', '0', '--json', ...FLAGS], { sandbox });
  expect(result.stdout).toHaveLength(0);
  return errorLine(result);
}

describe('data that cannot be used is exit 32 before it listens', () => {
  test.each([
    [
      'an entry was changed',
      "UPDATE ledger_entry SET amount = amount + 1 WHERE book = 'spent' AND unit = 'credits'",
      /transaction \d+ does not sum to zero in credits \(reserved -6, spent 7\)/,
    ],
    [
      'an entry was removed',
      "DELETE FROM ledger_entry WHERE book = 'granted' AND unit = 'quota'",
      /transaction 1 does not sum to zero in quota \(available 1000000\)/,
    ],
    [
      'a balance was changed',
      "UPDATE balance SET amount = 5 WHERE book = 'available' AND unit = 'credits'",
      /available credits of account local is 5, and the sum of its entries is 999994/,
    ],
    [
      'a reservation was opened again',
      "UPDATE reservation SET state = 'reserved'",
      /reserved credits of account local is 0, and the sum of open reservations is 6/,
    ],
  ])('a ledger in which %s, with the rows', async (_name, tampering, rows) => {
    const { sandbox, store } = await usedData();
    store.write((db) => db.script(tampering));
    expect(await refusal(sandbox)).toMatchObject({
      code: 'state',
      exitCode: 32,
      message: expect.stringMatching(rows),
      hint: expect.stringMatching(/\S/),
    });
  });

  test('a ledger whose wrong row was written long ago', async () => {
    const { sandbox, store } = await usedData();
    store.write((db) => {
      db.script("UPDATE ledger_entry SET amount = 1 WHERE transaction_id = 1 AND book = 'granted'");
      db.script(`INSERT INTO ledger_checkpoint (account_id, unit, book, amount, last_transaction_id)
        SELECT account_id, unit, book, amount, (SELECT max(id) FROM ledger_transaction) FROM balance`);
    });
    expect(await refusal(sandbox)).toMatchObject({
      exitCode: 32,
      message: expect.stringMatching(/transaction 1 does not sum to zero/),
    });
  });

  test('a database of a newer foley, which is left as it is', async () => {
    const { sandbox, store } = await usedData();
    store.write((db) => db.script('PRAGMA user_version = 99'));
    expect(await refusal(sandbox)).toMatchObject({
      exitCode: 32,
      message: expect.stringMatching(/made by a newer foley \(schema 99/),
    });
    expect(store.read((db) => db.get('PRAGMA user_version'))).toMatchObject({ user_version: 99 });
  });

  test('a database that another process keeps for itself', async () => {
    const sandbox = await createSandbox();
    await mkdir(path.join(sandbox.out, 'data'));
    const { default: Database } = await import('libsql');
    const held = new Database(path.join(sandbox.out, 'data', 'service.db'));
    onTestFinished(() => void held.close());
    held.exec('BEGIN EXCLUSIVE; CREATE TABLE other (id TEXT)');
    expect(await refusal(sandbox)).toMatchObject({
      exitCode: 32,
      message: expect.stringMatching(/is locked by another process/),
      hint: expect.stringMatching(/Wait for the other process/),
    });
  });
});
