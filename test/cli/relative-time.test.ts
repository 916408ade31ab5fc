import { describe, expect, test } from 'vitest';
import { relativeTime } from '../../src/cli/render/style.ts';

const NOW = Date.parse('2026-05-20T12:00:00Z');

describe('a time', () => {
  test.each([
    ['2026-05-20T12:00:30Z', 'just now'],
    ['2026-05-20T11:59:00.500Z', 'just now'],
    ['2026-05-20T11:59:00Z', '1 min ago'],
    ['2026-05-20T11:00:01Z', '59 min ago'],
    ['2026-05-20T11:00:00Z', '1 h ago'],
    ['2026-05-19T12:00:01Z', '23 h ago'],
    ['2026-05-19T12:00:00Z', '1 day ago'],
    ['2026-04-20T12:00:00Z', '30 days ago'],
    ['2026-04-19T12:00:00Z', '2026-04-19'],
    ['2026-05-20T12:05:00.123Z', '2026-05-20T12:05:00Z'],
    ['soon', 'soon'],
  ])('%s is shown as %s', (iso, shown) => {
    expect(relativeTime(iso, NOW, 80)).toBe(shown);
  });

  test('is printed as ISO 8601 without a terminal', () => {
    const iso = '2026-05-20T11:59:00.123Z';
    expect(relativeTime(iso, NOW, Infinity)).toBe('2026-05-20T11:59:00Z');
  });
});
