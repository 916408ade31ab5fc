// How well foley keeps four servers busy: a book against a client that only sends its sentences to them.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { compare } from './measure.mjs';

const FOLEY = fileURLToPath(new URL('../bin/foley.cjs', import.meta.url));
const file = (name) => fileURLToPath(new URL(name, import.meta.url));

const SENTENCES = Number(process.env.FOLEY_BENCH_SENTENCES ?? 200);
const SECONDS = 1;

const ONE_DIES = 'foley tts -f, one dead in the second half';

export const title = `a book of ${SENTENCES} sentences on four servers of a second a sentence, × a bare client`;
// Three servers need 4/3 of the time of four for the second half.
const LIMITS = { 'foley tts -f': 1.15, [ONE_DIES]: (1.15 * 7) / 6 };

export async function measure(foley = FOLEY) {
  const scratch = mkdtempSync(path.join(tmpdir(), 'foley-bench-'));
  const book = path.join(scratch, 'book.txt');
  const sentences = Array.from(
    { length: SENTENCES },
    () => 'The ship went on through the long night.',
  );
  writeFileSync(book, sentences.join(' '));
  const farms = [];
  const startFarm = async (...args) => {
    const servers = spawn(process.execPath, [file('speech-servers.mjs'), `${SECONDS}`, ...args]);
    farms.push(servers);
    const urls = [];
    for await (const line of createInterface({ input: servers.stdout })) {
      if (urls.push(line) === 4) return urls;
    }
    throw new Error('the servers did not start');
  };
  const bookOn = (name, urls) => {
    const home = path.join(scratch, name);
    const env = {
      HOME: home,
      XDG_CONFIG_HOME: path.join(home, 'config'),
      XDG_STATE_HOME: path.join(home, 'state'),
      XDG_CACHE_HOME: path.join(home, 'cache'),
      XDG_RUNTIME_DIR: path.join(home, 'runtime'),
    };
    const add = ['engine', 'add', 'farm', ...urls.flatMap((url) => ['--url', url])];
    const { status, stderr } = spawnSync(process.execPath, [foley, ...add], {
      env: { ...process.env, ...env },
    });
    if (status !== 0) throw new Error(stderr.toString());
    const args = [foley, 'tts', '-f', book, '-v', 'tone', '--local', '-q'];
    const out = path.join(home, 'book.mp3');
    return {
      name,
      command: () => ({ file: process.execPath, args: [...args, '-o', out], env }),
    };
  };
  try {
    const urls = await startFarm();
    const bare = [file('raw-speakers.mjs'), `${SENTENCES}`, ...urls];
    const variants = [
      { name: 'bare client', command: () => ({ file: process.execPath, args: bare }) },
      bookOn('foley tts -f', urls),
      bookOn(ONE_DIES, await startFarm(`${SENTENCES}`)),
    ];
    return compare(variants, { rounds: 1 }).map((row) => ({ ...row, limit: LIMITS[row.name] }));
  } finally {
    const ended = farms.map((servers) => once(servers, 'exit'));
    for (const servers of farms) servers.kill();
    await Promise.all(ended);
    rmSync(scratch, { recursive: true, force: true });
  }
}
