// The order of the tests for vitest: the longest files of each project start first, so that at its end no
// processor waits for another. The rest has vitest's own order, except for files that count the steps of regular
// expressions: they are last.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { BaseSequencer } from 'vitest/node';

/** What takes longest, in that order; `npm test` says how long each took. */
const LONGEST = [
  'test/check/engines/espeak-ng.test.ts',
  'test/check/billing/effects.test.ts',
  'test/check/billing/billing.property.test.ts',
  'test/binary/voices.test.ts',
  'test/service/engine/process/protocol-2.test.ts',
  'test/binary/jobs/terminal.test.ts',
  'test/engines/hibari/install.test.ts',
  'test/binary/captions.test.ts',
  'test/library/client.test.ts',
  'test/audio/join/join.test.ts',
  'test/service/engine/hibari/engine.test.ts',
  'test/binary/config.test.ts',
  'test/binary/api-terminal.test.ts',
  'test/engines/conformance.test.ts',
  'test/binary/serve.test.ts',
  'test/binary/media-client/terminal.test.ts',
  'test/binary/reuse.test.ts',
  'test/binary/read-along.test.ts',
  'test/service/engine/word-times.test.ts',
  'test/service/processes.test.ts',
  'test/check/clusters/ray-and-dask.test.ts',
  'test/check/clusters/slurm.test.ts',
  'test/check/clusters/nextflow.test.ts',
  'test/check/engines/install-espeak-ng.test.ts',
  'test/check/installing.test.ts',
  'test/check/aligned-accuracy.test.ts',
  'test/check/recordings.test.ts',
  'test/check/batch/effects.test.ts',
  'test/check/kill/jobs.test.ts',
  'test/check/readme.test.ts',
  'test/check/lip-sync/lip-sync.test.ts',
  'test/check/read-along/books.test.ts',
  'test/check/read-along/browser.test.ts',
  'test/check/surfaces/same-sound.test.ts',
  'test/check/surfaces/embedded.test.ts',
  'test/check/long-text/book.test.ts',
  'test/check/batch/failures.test.ts',
  'test/check/batch/stopping.test.ts',
  'test/check/faults/statuses.test.ts',
  'test/check/spoken-words.test.ts',
  'test/binary/batch/batch.test.ts',
  'test/check/jobs/embedded.test.ts',
  'test/check/kill/service.test.ts',
  'test/check/voices/embedded.test.ts',
  'test/binary/completion.test.ts',
  'test/check/media-client/embedded.test.ts',
  'test/check/output-formats.test.ts',
];

export class LongestFirst extends BaseSequencer {
  /** Throws when a file of the list is gone. */
  async sort(files) {
    const { root } = this.ctx.config;
    const longest = LONGEST.map((name) => path.join(root, name));
    const gone = longest.find((file) => !existsSync(file));
    if (gone !== undefined)
      throw new Error(`There is no ${gone}: scripts/longest-first.mjs names it`);
    // On Windows, vitest separates folders with slashes.
    const rank = ({ moduleId }) => {
      const at = longest.indexOf(path.resolve(moduleId));
      return at === -1 ? longest.length : at;
    };
    const sorted = await super.sort(files);
    return sorted.toSorted(
      (a, b) =>
        a.project.name.localeCompare(b.project.name) ||
        Number(countsSteps(a)) - Number(countsSteps(b)) ||
        rank(a) - rank(b),
    );
  }
}

// Once `RegExp.prototype.exec` was replaced, V8 runs every regular expression of the process up to eight times slower.
const countsSteps = ({ moduleId }) => readFileSync(moduleId, 'utf8').includes('/count-steps.ts');
