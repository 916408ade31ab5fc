// `npm run soak`: the tests in their full sizes, such as a body of a gigabyte, and then `npm test` under
// every supported Node. What follows `--` goes to vitest, and is all that is run: `npm run soak -- memory`.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { runUnderNodeVersions } from './node-versions.mjs';
import { isSetUp, root } from './set-up.mjs';

if (isSetUp()) {
  const vitest = path.join(root, 'node_modules/.bin/vitest');
  const wanted = process.argv.slice(2);
  const { status } = spawnSync(vitest, ['run', ...wanted], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, FOLEY_TEST_SIZE: 'full' },
  });
  const failedVersions = wanted.length === 0 ? runUnderNodeVersions([], true) : [];
  process.exitCode = failedVersions.length > 0 ? 1 : (status ?? 1);
}
