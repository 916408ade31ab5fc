// Packs the package as it would be published, installs the tarball without scripts in an empty folder, and speaks with it.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { install, LARGEST_INSTALLATION, MOST_PACKAGES, pack } from './installation.mjs';
import { root, setUp } from './set-up.mjs';

const LARGEST_TARBALL_KB = 16_500;

setUp();
const folder = mkdtempSync(path.join(tmpdir(), 'foley-packed-'));
try {
  const { filename, size, files } = pack(root, '--pack-destination', folder);
  check(size < LARGEST_TARBALL_KB * 1024, `the tarball has ${Math.round(size / 1024)} kB`);
  const names = files.map((file) => file.path);
  check(names.includes('dist/hibari-worker.cjs'), 'the speech worker is in the tarball');
  check(names.includes('dist/english-reader.cjs'), 'the reader of Kokoro is in the tarball');
  check(names.includes('dist/hibari-voice.cjs'), 'the speaker of added voices is in the tarball');
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
  check(
    ['client', 'service'].every((name) => names.includes(`dist/library/${name}.d.cts`)),
    'the types of the library are in the tarball',
  );
  check(!names.some((name) => name.includes('node_modules')), 'espeak-ng itself is not');
  const { bin, packages, bytes } = install(path.join(folder, filename), folder);
  check(packages <= MOST_PACKAGES, `npm installs ${packages} packages`);
  check(bytes <= LARGEST_INSTALLATION, `they have ${(bytes / 1e6).toFixed(1)} MB`);
  // Windows cannot start the script in node_modules/.bin without a shell.
  const program = path.join(folder, 'node_modules/foley/bin/foley.cjs');
  speak(process.platform === 'win32' ? [process.execPath, program] : [bin]);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function speak([file, ...words]) {
  const home = { HOME: folder, USERPROFILE: folder, APPDATA: folder, LOCALAPPDATA: folder };
  const env = { PATH: process.env.PATH, FOLEY_KEEP_ALIVE: '0', ...home };
  const output = path.join(folder, 'hello.mp3');
  const args = ['tts', 'Hello from a tarball', '-o', output];
  const { status, stderr } = spawnSync(file, [...words, ...args], { env, encoding: 'utf8' });
  check(status === 0, `foley tts ended with ${status}: ${stderr}`);
  check(existsSync(output), 'hello.mp3 is there');
  const [first, second] = readFileSync(output);
  check(first === 0xff && (second & 0xe0) === 0xe0, 'hello.mp3 begins with an mp3 frame');
}

function check(condition, message) {
  if (!condition) throw new Error(`packed tarball: not so: ${message}`);
  process.stdout.write(`packed tarball: ${message.split('\n')[0]}\n`);
}
