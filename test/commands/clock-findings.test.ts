import { expect, test } from 'vitest';
import { clockFindings } from '../../commands/doctor/service-checks.ts';

const NOON = Date.UTC(2026, 0, 2, 12);
const DATE = new Date(NOON).toUTCString();
const HOST = 'api.example.com';

test.each([
  [0, 'ok', 'agree'],
  [59_000, 'ok', 'agree'],
  [-59_000, 'ok', 'agree'],
  [120_000, 'warning', '2 min ahead of that of api.example.com'],
  [-180_000, 'warning', '3 min behind that of api.example.com'],
  [3_600_000, 'problem', '60 min ahead of that of api.example.com'],
])('a clock that differs by %d ms', (distance, state, text) => {
  expect(clockFindings(DATE, NOON + distance, HOST)).toEqual([
    expect.objectContaining({ state, text: expect.stringContaining(text) }),
  ]);
});

test.each([undefined, '', 'yesterday'])('a Date header of %j gives no finding', (date) => {
  expect(clockFindings(date, NOON, HOST)).toEqual([]);
});
