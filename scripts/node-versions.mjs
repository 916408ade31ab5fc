// Runs tests of the built command under the newest Node 20, 22 and 24, whose programs are npm packages:
// `node scripts/node-versions.mjs 22 test/binary/pipes` runs those under one. The last part of `npm run check` and of `npm run soak`.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { isSetUp, root, setUpPackages } from './set-up.mjs';

const folder = path.join(root, 'test/node-versions');

/** What a version of Node can break: loading, streams, sockets, signals, workers, the database, terminals. */
const TELLING = [
  'test/check/aligned.test.ts',
  'test/binary/api-terminal.test.ts',
  'test/binary/batch/batch.test.ts',
  'test/check/batch/terminal.test.ts',
  'test/binary/code-cache.test.ts',
  'test/binary/completion.test.ts',
  'test/binary/interrupt.test.ts',
  'test/binary/jobs',
  'test/binary/live',
  'test/check/output-formats.test.ts',
  'test/binary/pipes.test.ts',
  'test/binary/serve-life.test.ts',
  'test/binary/serve-realtime.test.ts',
  'test/binary/serve.test.ts',
  'test/check/captions/tts-captions.test.ts',
  'test/binary/voices/create.test.ts',
  'test/binary/warnings.test.ts',
  'test/check/engine.test.ts',
  'test/check/jobs/embedded.test.ts',
  'test/check/lip-sync/dubbing.test.ts',
  'test/check/live/embedded.test.ts',
  'test/check/live/faults.test.ts',
  'test/check/pictures/images.test.ts',
  'test/check/voices/embedded.test.ts',
];

/** The versions whose tests failed, and those that cannot be installed on this machine. */
export function runUnderNodeVersions(wanted = [], files = TELLING) {
  setUpPackages(folder);
  const { optionalDependencies } = JSON.parse(
    readFileSync(path.join(folder, 'package.json'), 'utf8'),
  );
  const names = Object.keys(optionalDependencies).map((name) => name.replace('node-', ''));
  return names
    .filter((name) => wanted.length === 0 || wanted.includes(name))
    .filter((name) => !passesUnder(name, files));
}

function passesUnder(name, files) {
  const node = path.join(folder, `node_modules/node-${name}/bin/node`);
  if (!existsSync(node)) {
    console.log(`\n── Node ${name}: its package has no program for this machine; not run`);
    return true;
  }
  const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout?.trim();
  console.log(`\n── Node ${version}`);
  const vitest = path.join(root, 'node_modules/.bin/vitest');
  // Nobody is timed here, and three times the small size is enough.
  const env = { ...process.env, FOLEY_TEST_NODE: node, FOLEY_TEST_SIZE: 'small' };
  const run = ['run', '--project', 'binary', '--project', 'check', ...files];
  const { status } = spawnSync(vitest, run, { cwd: root, stdio: 'inherit', env });
  console.log(`── Node ${version}: ${status === 0 ? 'passed' : 'FAILED'}`);
  return status === 0;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href && isSetUp()) {
  const words = process.argv.slice(2);
  const versions = words.filter((word) => /^\d+$/.test(word));
  const files = words.filter((word) => !/^\d+$/.test(word));
  const failed = runUnderNodeVersions(versions, files.length === 0 ? TELLING : files);
  process.exitCode = failed.length === 0 ? 0 : 1;
}
