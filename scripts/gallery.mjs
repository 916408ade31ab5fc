// `node scripts/gallery.mjs`: runs foley in a terminal of a fixed size (tmux) and makes docs/gallery/ of what it
// shows. Nothing in a picture is drawn by hand. `node scripts/gallery.mjs batch` makes one of them anew.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { root, setUp } from './set-up.mjs';
import { terminalPicture } from './terminal-picture.mjs';

const LONGEST_WAIT_MS = 120_000;
const CHAPTERS = 6;
const SENTENCES = 40;

/** What is typed; `until` is what the screen shows when its picture is taken, else the end of the last line. */
const PICTURES = [
  { name: 'first-run', title: 'foley alone says what to type next', lines: ['foley'] },
  { name: 'doctor', title: 'foley doctor checks everything', lines: ['foley doctor'] },
  {
    name: 'speak',
    title: 'Speaking into a file, with a picture of the sound',
    lines: [
      'foley tts "The rain in Spain." -o rain.ogg --local --waveform',
      'foley inspect rain.ogg',
    ],
  },
  {
    name: 'mistakes',
    title: 'Errors that say what was probably meant',
    lines: [
      'foley tst Hello',
      'foley tts Hello --sped 2',
      'foley tts Hello --local --voice-name Clra -o hello.mp3',
      'foley tts Hello -o hello.mp4',
    ],
  },
  {
    name: 'voices',
    title: 'The table of voices, fitted to the width',
    columns: 100,
    lines: ['foley voices list --local'],
  },
  {
    name: 'batch',
    title: 'A batch under way',
    lines: ['foley batch chapters --local --output-dir book -j 2 --format wav'],
    until: new RegExp(`[2-${CHAPTERS - 1}]/${CHAPTERS} `),
  },
  {
    name: 'batch-done',
    title: 'The same batch, stopped and run again',
    lines: ['foley batch chapters --local --output-dir book -j 2 --format wav'],
  },
];

setUp();
const folder = path.join(tmpdir(), 'foley-gallery');
// Its name is seen in the pictures, so that it is always the same one.
mkdirSync(folder);
try {
  prepare();
  const wanted = process.argv.slice(2);
  for (const picture of PICTURES) {
    if (wanted.length === 0 || wanted.includes(picture.name)) make(picture);
  }
} finally {
  spawnSync('tmux', ['-L', 'foley-gallery', 'kill-server']);
  rmSync(folder, { recursive: true, force: true });
}

function prepare() {
  mkdirSync(path.join(folder, 'chapters'));
  for (let chapter = 1; chapter <= CHAPTERS; chapter += 1) {
    const text = `This is a sentence of chapter ${chapter}, and not the last. `.repeat(SENTENCES);
    writeFileSync(path.join(folder, 'chapters', `${chapter}.txt`), text);
  }
  const foley = `#!/bin/sh\nexec '${process.execPath}' '${path.join(root, 'bin/foley.cjs')}' "$@"\n`;
  writeFileSync(path.join(folder, 'foley'), foley);
  chmodSync(path.join(folder, 'foley'), 0o755);
}

function make({ columns = 80, lines, name, title, until }) {
  writeFileSync(path.join(folder, 'typed.sh'), script(lines));
  const size = ['-x', String(columns), '-y', '40'];
  const env = {
    FOLEY_KEEP_ALIVE: '0',
    HOME: folder,
    PATH: `${folder}:${process.env.PATH}`,
    LANG: 'C.UTF-8',
    TZ: 'UTC',
  };
  tmux(['-f', '/dev/null', 'new-session', '-d', ...size, 'sh typed.sh'], env);
  const screen = until === undefined ? atTheEnd() : whenShown(until);
  if (until !== undefined) {
    // The next picture may use the same output folder, so wait until the command has ended.
    tmux(['send-keys', 'C-c']);
    tmux(['wait-for', 'over']);
  }
  tmux(['kill-server'], env);
  writeFileSync(
    path.join(root, 'docs/gallery', `${name}.svg`),
    terminalPicture(screen, { columns, title }),
  );
  console.log(`docs/gallery/${name}.svg: ${title}`);
}

/** Shows each line as it is typed, runs it, and stays until the picture is taken. */
function script(lines) {
  const typed = lines.map((line) => `printf '$ %s\\n' ${quoted(line)}\n${line}\n`);
  // With a trap, the shell itself survives Ctrl-C.
  return `trap : INT\n${typed.join('')}tmux wait-for -S over\nread -r _\n`;
}

function atTheEnd() {
  tmux(['wait-for', 'over']);
  return captured();
}

function whenShown(pattern) {
  const started = Date.now();
  for (;;) {
    const screen = captured();
    if (pattern.test(screen)) return screen;
    if (Date.now() - started > LONGEST_WAIT_MS)
      throw new Error(`${pattern} is not shown:\n${screen}`);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
  }
}

function captured() {
  return tmux(['capture-pane', '-p', '-e']);
}

function tmux(args, env = process.env) {
  const run = { cwd: folder, env, encoding: 'utf8', timeout: LONGEST_WAIT_MS };
  const { error, status, stderr, stdout } = spawnSync(
    'tmux',
    ['-L', 'foley-gallery', ...args],
    run,
  );
  if (status !== 0) throw new Error(`tmux ${args[0]}: ${error?.message ?? stderr}`);
  return stdout;
}

function quoted(text) {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
