import { describe, expect, test } from 'vitest';
import { MODELS } from '../fault-server/healthy-service.ts';
import { refused, spokenText } from './support/spoken-text.ts';

describe('text may look like something else', () => {
  test.each(['@home', '@/etc/passwd', 'http://example.com/a b', 'https://example.com', '%s $HOME'])(
    '%s is text',
    async (text) => {
      expect(await spokenText([text])).toBe(text);
    },
  );

  test.each(['-42', '-3.5', '- and then it rained', '--help me', '-o my dear', '-1 degree'])(
    '%s is text, though it begins with a dash',
    async (text) => {
      expect(await spokenText([text])).toBe(text);
    },
  );

  test('everything after -- is text', async () => {
    expect(await spokenText(['--', '-o', '--json', '--', 'x'])).toBe('-o --json -- x');
  });

  test.each(['-hello', '--hello', '-é'])(
    '%s is neither a flag nor text, and the error says how it would be',
    async (word) => {
      const { stderr } = await refused([word]);
      expect(stderr).toMatch(/goes after `--`/);
    },
  );
});

describe('10,000 characters are the most that one request takes', () => {
  test('characters are code points, not bytes or UTF-16 units', async () => {
    const text = '👋'.repeat(10_000);
    const args = ['-f', '-', '-m', MODELS[0].id, '--via', 'sync'];
    expect(await spokenText(args, { input: text })).toBe(text);
  });

  test('one more is refused with both numbers, when it may not be cut', async () => {
    const args = ['-f', '-', '--split', 'never'];
    const { stderr } = await refused(args, { input: 'x'.repeat(10_001) });
    expect(stderr).toMatch(/10001 characters.*10000/);
  });
});
