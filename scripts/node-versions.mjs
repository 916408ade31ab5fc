// Installs foley as the README says, and tests it, in clones of the last commit, with other versions of Node and npm, which
// are npm packages. A part of `npm run check`, which tests under the newest version only: `node
// scripts/node-versions.mjs 22` tests under another. With `--whole`, as in `npm run soak`, runs all of `npm test`, which
// takes minutes for each version.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { isSetUp, root, setUpPackages } from './set-up.mjs';

const packages = path.join(root, 'test/node-versions/node_modules');

/** npm 12 needs Node 22 or newer. */
const VERSIONS = [
  { node: '20', npm: '10' },
  { node: '22', npm: '12' },
  { node: '24', npm: '11' },
  { node: '26', npm: '12' },
];

const NEWEST = '26';

/** What a version of Node can break: loading, streams, sockets, signals, workers, the database, terminals. */
const TELLING = [
  'test/check/aligned.test.ts',
  'test/binary/api-terminal.test.ts',
  'test/binary/batch/batch.test.ts',
  'test/check/batch/terminal.test.ts',
  'test/binary/code-cache.test.ts',
  'test/binary/completion.test.ts',
  'test/check/interrupt.test.ts',
  'test/binary/jobs',
  'test/binary/live',
  'test/check/output-formats.test.ts',
  'test/check/pipes.test.ts',
  'test/check/serve-life.test.ts',
  'test/check/serve-realtime.test.ts',
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
  'test/check/same-arithmetic.test.ts',
  'test/check/voices/embedded.test.ts',
];

/** Returns the versions of Node under which a step failed. */
export function runUnderNodeVersions(wanted, isWhole) {
  setUpPackages(path.dirname(packages));
  const tests = ({ node }) => {
    // `npm test` runs under Node 20 anyway.
    if (isWhole) return node === '20' ? 'true' : 'npm test';
    return node === NEWEST || wanted.length > 0
      ? `npx vitest run --project tests --project check ${TELLING.join(' ')}`
      : 'true';
  };
  return VERSIONS.filter(({ node }) => wanted.length === 0 || wanted.includes(node))
    .filter((version) => !passesUnder(version, tests(version)))
    .map(({ node }) => node);
}

function passesUnder({ node, npm }, tests) {
  const program = path.join(packages, `node-${node}/bin/node`);
  if (!existsSync(program)) {
    console.log(`\n── Node ${node}: its package has no program for this machine; not run`);
    return true;
  }
  const folder = mkdtempSync(path.join(tmpdir(), `foley-node-${node}-`));
  try {
    const clone = path.join(folder, 'clone');
    const env = environment(program, npm, folder);
    const run = (command, cwd) => {
      console.log(`\n── Node ${node}, npm ${npm}: ${command}`);
      const { status } = spawnSync('bash', ['-ec', command], { cwd, env, stdio: 'inherit' });
      if (status !== 0) console.log(`── Node ${node}, npm ${npm}: FAILED: ${command}`);
      return status === 0;
    };
    return (
      run(`node --version; npm --version; git clone --quiet '${root}' clone`, folder) &&
      run(installation(), clone) &&
      run('installed/bin/foley tts "Hello from foley" -o hello.mp3 --local', folder) &&
      statSync(path.join(folder, 'hello.mp3')).size > 0 &&
      run(tests, clone)
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The command that README.md shows, without its explanation. */
function installation() {
  const readme = readFileSync(path.join(root, 'README.md'), 'utf8');
  return /^npm install -g "\$\(npm pack --silent\)"/m.exec(readme)[0];
}

/** The variables of a shell in which `node` and `npm` have these versions, and `npm install -g` installs into `folder`. */
function environment(program, npm, folder) {
  const bin = path.join(folder, 'bin');
  mkdirSync(bin);
  const cli = path.join(packages, `npm-${npm}/bin/npm-cli.js`);
  for (const [name, words] of [
    ['node', `'${program}'`],
    ['npm', `'${program}' '${cli}'`],
    ['npx', `'${program}' '${path.join(path.dirname(cli), 'npx-cli.js')}'`],
  ]) {
    writeFileSync(path.join(bin, name), `#!/bin/sh\nexec ${words} "$@"\n`);
    chmodSync(path.join(bin, name), 0o755);
  }
  // The variables that another npm set for its scripts would win over its settings.
  const inherited = Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name));
  return {
    ...Object.fromEntries(inherited),
    PATH: [bin, process.env.PATH].join(path.delimiter),
    npm_config_prefix: path.join(folder, 'installed'),
    npm_config_update_notifier: 'false',
    FOLEY_TEST_SIZE: 'small',
  };
}

if (import.meta.url === pathToFileURL(process.argv[1]).href && isSetUp()) {
  const words = process.argv.slice(2);
  const versions = words.filter((word) => word !== '--whole');
  const failed = runUnderNodeVersions(versions, words.includes('--whole'));
  if (failed.length > 0) console.log(`\nfailed under Node ${failed.join(', ')}`);
  process.exitCode = failed.length === 0 ? 0 : 1;
}
