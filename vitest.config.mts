import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    testTimeout: 30_000,
    hookTimeout: 60_000,
    globalSetup: ['test/harness/skip-summary.ts'],
    projects: [
      {
        extends: true,
        test: { name: 'unit', include: ['test/**/*.test.ts'], exclude: ['test/binary/**'] },
      },
      { extends: true, test: { name: 'binary', include: ['test/binary/**/*.test.ts'] } },
    ],
  },
});
