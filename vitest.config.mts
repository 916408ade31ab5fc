import { availableParallelism } from 'node:os';
import path from 'node:path';
import { configDefaults, defineConfig } from 'vitest/config';
import { LongestFirst } from './scripts/longest-first.mjs';
import { temporaryFiles } from './scripts/memory-folder.mjs';

/** Folders whose tests are a project of their own, and therefore a gate. */
const OWN_PROJECTS = [
  'test/check/**',
  'test/contract/**',
  'test/engines/{kokoro,piper}/**',
  'test/validators/**',
];

/** Tests of commands that talk to a service. The project `sparse` repeats them with one that answers little. */
const TALK_TO_A_SERVICE = [
  'test/binary/{batch,jobs,media-client,voices}/*.test.ts',
  'test/binary/{api,captions,recover,request-headers,suggestions,target,tts-json}.test.ts',
  'test/binary/{api-terminal,voices,warnings}.test.ts',
  'test/check/{api-body,auth,controls,interrupt,lists,models,output-place,output-refused}.test.ts',
  'test/check/{output-replace,pipes,profile,recover-old-journals,recover-speech}.test.ts',
  'test/check/voice-choice.test.ts',
  'test/check/batch/{batch,captions,checks,failures,pauses}.test.ts',
  'test/check/faults/{aligned,statuses}.test.ts',
  'test/check/jobs/{named-at-creation,outcomes,results,via}.test.ts',
  'test/check/long-text/parts.test.ts',
  'test/check/media-client/{faults,files,flags,interrupted,named-at-creation,quotes}.test.ts',
  'test/check/surfaces/{cache,repetition,voices,wire}.test.ts',
  'test/check/voices/{create-answers,delete,design-faults}.test.ts',
];

/** Compares processor times, which other tests at the same time would disturb. */
const RATIOS_OF_TIMES = 'test/check/linear-time.test.ts';

/** Sweeps that take too long for every run of `npm run check`. */
const LONG = [
  // Measure what voices say, mostly by Whisper, and where words are.
  'test/check/{align-accuracy,align-music,align-words,aligned-accuracy,engine-level}.test.ts',
  'test/check/{natural-voices,python-tools,voice-networks,word-errors}.test.ts',
  'test/check/engines/piper.test.ts',
  'test/check/natural-voices/word-times.test.ts',
  'test/check/phonemes/*.test.ts',
  'test/check/voices/{pitch-meter,varied-voices}.test.ts',
  // Install packages, and compile clients in five languages.
  'test/check/{container,installing}.test.ts',
  'test/check/engines/{fastkokoro,install-espeak-ng}.test.ts',
  'test/check/generated-clients/*.test.ts',
  'test/check/natural-voices/add.test.ts',
  // Run each command of the documentation.
  'test/check/{readme,recipes}.test.ts',
  // Speaks books of which one is four times as long.
  'test/check/read-along/memory.test.ts',
  // Let each file operation fail in turn.
  'test/check/batch/effects.test.ts',
  'test/check/engines/store-models.test.ts',
];

const SECOND_OPINIONS = 'test/check/second-opinions.ts';

// Test files share worker processes: a fresh process for each file would take minutes. The soak isolates them.
const isolate = process.env['FOLEY_TEST_SIZE'] === 'full';
// The soak and the sweeps use the disk.
const env = isolate ? {} : temporaryFiles();

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
    expect: { poll: { timeout: 60_000 } },
    // Half of the files wait for a process, a socket or a disk while the others compute.
    maxWorkers: availableParallelism() * 2,
    sequence: { sequencer: LongestFirst },
    globalSetup: ['test/harness/skip-summary.ts'],
    // Programs that tests start without the harness leave no engine running.
    env: { FOLEY_KEEP_ALIVE: '0' },
    projects: [
      {
        extends: true,
        test: {
          name: 'tests',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...OWN_PROJECTS],
          isolate,
          env,
        },
      },
      {
        extends: true,
        test: {
          name: 'check',
          isolate,
          globalSetup: [SECOND_OPINIONS],
          include: ['test/check/**/*.test.ts'],
          exclude: [...configDefaults.exclude, RATIOS_OF_TIMES, ...LONG],
        },
      },
      {
        extends: true,
        test: { name: 'long', isolate, globalSetup: [SECOND_OPINIONS], include: LONG },
      },
      {
        extends: true,
        test: {
          name: 'linear',
          include: [RATIOS_OF_TIMES],
          // Collecting garbage takes more than twice the time where twice the text no longer fits the young generation.
          execArgv: [
            '--expose-gc',
            '--single-threaded-gc',
            '--min-semi-space-size=512',
            '--max-semi-space-size=512',
          ],
        },
      },
      {
        extends: true,
        test: {
          name: 'sparse',
          isolate,
          include: TALK_TO_A_SERVICE,
          env: { FOLEY_TEST_SERVICE: 'sparse' },
          setupFiles: ['test/sparse-service/only-full.ts'],
        },
      },
      {
        extends: true,
        test: { name: 'conformance', env, include: ['test/contract/**/*.test.ts'] },
      },
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
