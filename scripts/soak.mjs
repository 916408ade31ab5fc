// `npm run soak`: the tests in their full sizes, such as a body of a gigabyte.
// What follows `--` goes to vitest: `npm run soak -- memory`.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { isSetUp, root } from './set-up.mjs';

if (isSetUp()) {
  const vitest = path.join(root, 'node_modules/.bin/vitest');
  const args = ['run', ...process.argv.slice(2)];
  const { status } = spawnSync(vitest, args, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, FOLEY_TEST_SIZE: 'full' },
  });
  process.exitCode = status ?? 1;
}
