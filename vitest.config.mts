import { availableParallelism } from 'node:os';
import path from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import { LongestFirst } from './scripts/longest-first.mjs';

/** Folders whose tests are a project of their own, and therefore a gate. */
const OWN_PROJECTS = [
  'test/binary/**',
  'test/check/**',
  'test/contract/**',
  'test/engines/{kokoro,piper}/**',
  'test/validators/**',
];

// Test files share worker processes: a fresh process for each file would take minutes. The soak isolates them.
const isolate = process.env['FOLEY_TEST_SIZE'] === 'full';

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
    // Half of the files wait for a process, a socket or a disk while the others compute.
    maxWorkers: availableParallelism() * 2,
    sequence: { sequencer: LongestFirst },
    globalSetup: ['test/harness/skip-summary.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...OWN_PROJECTS],
          isolate,
        },
      },
      { extends: true, test: { name: 'binary', isolate, include: ['test/binary/**/*.test.ts'] } },
      { extends: true, test: { name: 'check', isolate, include: ['test/check/**/*.test.ts'] } },
      { extends: true, test: { name: 'conformance', include: ['test/contract/**/*.test.ts'] } },
      {
        extends: true,
        test: {
          name: 'neural',
          include: ['test/engines/{kokoro,piper}/*.test.ts'],
          globalSetup: ['scripts/install-engine-packages.mjs'],
        },
      },
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
