import { expect, test } from 'vitest';
import {
  NO_ACCOUNTS,
  readAccounts,
  selectAccount,
  toAccountsFile,
} from '../../src/config/accounts.ts';
import { memoryFiles } from './memory-files.ts';

const FILE = '/c/foley/accounts.json';
const STORED = {
  current: 'main',
  accounts: {
    main: { baseUrl: 'https://api.example', realtimeUrl: 'wss://rt.example', apiKey: 'sk-main-1' },
    test: { baseUrl: 'https://test.example', apiKey: 'sk-test-1' },
  },
};

const read = (content: unknown) =>
  readAccounts(
    memoryFiles({ [FILE]: typeof content === 'string' ? content : JSON.stringify(content) }),
    FILE,
  );

test('accounts are read, and written unchanged', async () => {
  const accounts = await read(STORED);
  expect(selectAccount(accounts)).toMatchObject({ name: 'main', apiKey: 'sk-main-1' });
  expect(selectAccount(accounts, 'test')).toEqual({
    name: 'test',
    baseUrl: 'https://test.example',
    realtimeUrl: undefined,
    apiKey: 'sk-test-1',
  });
  expect(toAccountsFile(accounts)).toEqual(STORED);
});

test('a missing file contains no accounts', async () => {
  expect(await readAccounts(memoryFiles({}), FILE)).toEqual(NO_ACCOUNTS);
  expect(selectAccount(NO_ACCOUNTS)).toBeUndefined();
});

test('a single account is selected without being current; of two, none is', async () => {
  const { test: only, main } = STORED.accounts;
  expect(selectAccount(await read({ accounts: { only } }))?.name).toBe('only');
  expect(selectAccount(await read({ accounts: { only, main } }))).toBeUndefined();
});

test('an unknown account is refused with the nearest name', async () => {
  const accounts = await read(STORED);
  expect(() => selectAccount(accounts, 'mian')).toThrow(/--account.*"mian"/);
  expect(() => selectAccount(accounts, '__proto__')).toThrow(/--account/);
});

test.each([
  ['broken', '{"accounts":{"main":{"apiKey":"sk-secret-1"'],
  ['without accounts', { current: 'main' }],
  ['with an account that is none', { accounts: { main: 'sk-secret-1' } }],
  ['without an address', { accounts: { main: { apiKey: 'sk-secret-1' } } }],
  ['without a key', { accounts: { main: { baseUrl: 'https://sk-secret-1.example' } } }],
  ['with a current account that is not there', { current: 'x', accounts: {} }],
  [
    'with a number for an address',
    { accounts: { main: { ...STORED.accounts.main, realtimeUrl: 1 } } },
  ],
])('a file %s is refused by name, and no key is shown', async (_name, content) => {
  const error: unknown = await read(content).catch((caught: unknown) => caught);
  expect(error).toMatchObject({ exit: 'usage', message: expect.stringContaining(FILE) });
  expect(JSON.stringify(error) + String(error)).not.toContain('sk-');
});
