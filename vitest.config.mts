import { availableParallelism } from 'node:os';
import path from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';

/** Folders whose tests are a project of their own, and therefore a gate. */
const OWN_PROJECTS = ['test/binary/**', 'test/contract/**', 'test/validators/**'];

export default defineConfig({
  resolve: {
    alias: [
      { find: /^fast-check$/, replacement: path.resolve('test/harness/seeded-fast-check.ts') },
    ],
  },
  test: {
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // A poll ends when what it waits for is there, however busy the machine is.
    expect: { poll: { timeout: 20_000 } },
    // The tests wait for processes, sockets and disks as much as they compute.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    globalSetup: ['test/harness/skip-summary.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...OWN_PROJECTS],
        },
      },
      { extends: true, test: { name: 'binary', include: ['test/binary/**/*.test.ts'] } },
      { extends: true, test: { name: 'conformance', include: ['test/contract/**/*.test.ts'] } },
      {
        extends: true,
        test: {
          name: 'validators',
          include: ['test/validators/*.test.ts'],
          globalSetup: ['scripts/install-validators.mjs'],
        },
      },
    ],
  },
});
