// Packs the package as it would be published, installs that without scripts in an empty folder, and
// speaks with it: what a user of the registry gets.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { root, setUp } from './set-up.mjs';

const LARGEST_TARBALL_KB = 1_500;

setUp();
const folder = mkdtempSync(path.join(tmpdir(), 'foley-packed-'));
try {
  const [{ filename, size, files }] = JSON.parse(
    npm(['pack', '--json', '--ignore-scripts', '--pack-destination', folder], root),
  );
  check(size < LARGEST_TARBALL_KB * 1024, `the tarball has ${Math.round(size / 1024)} kB`);
  const names = files.map((file) => file.path);
  check(names.includes('dist/flite-worker.cjs'), 'the speech worker is in the tarball');
  check(!names.some((name) => name.endsWith('.ts')), 'no sources are in the tarball');
  const media = ['dist/media-child.cjs', 'dist/video-worker.cjs', 'assets/fonts/foley-sans.ttf'];
  check(
    [...media, 'assets/fonts/fonts.conf', 'assets/fonts/OFL.txt'].every((name) =>
      names.includes(name),
    ),
    'what makes pictures is in the tarball, with the license of its font',
  );
  const adapter = ['engine.mjs', 'package.json', 'package-lock.json', 'README.md'];
  check(
    adapter.every((name) => names.includes(`engines/espeak-ng/${name}`)),
    'the program around espeak-ng is in the tarball',
  );
  check(!names.some((name) => name.includes('node_modules')), 'espeak-ng itself is not');
  writeFileSync(path.join(folder, 'package.json'), '{"private":true}');
  npm(
    ['install', '--ignore-scripts', '--no-audit', '--no-fund', path.join(folder, filename)],
    folder,
  );
  speak();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function speak() {
  const bin = path.join(folder, 'node_modules/.bin/foley');
  const env = { PATH: process.env.PATH, HOME: folder };
  const output = path.join(folder, 'hello.mp3');
  const args = ['tts', 'Hello from a tarball', '-o', output];
  const { status, stderr } = spawnSync(bin, args, { env, encoding: 'utf8' });
  check(status === 0, `foley tts ended with ${status}: ${stderr}`);
  check(existsSync(output), 'hello.mp3 is there');
  const [first, second] = readFileSync(output);
  check(first === 0xff && (second & 0xe0) === 0xe0, 'hello.mp3 begins with an mp3 frame');
}

function npm(args, cwd) {
  const run = process.env.npm_execpath?.endsWith('.js')
    ? [process.execPath, [process.env.npm_execpath, ...args]]
    : ['npm', args];
  const { status, stdout, stderr } = spawnSync(...run, { cwd, encoding: 'utf8' });
  check(status === 0, `npm ${args[0]}: ${stderr}`);
  return stdout;
}

function check(condition, message) {
  if (!condition) throw new Error(`packed tarball: not so: ${message}`);
  process.stdout.write(`packed tarball: ${message.split('\n')[0]}\n`);
}
