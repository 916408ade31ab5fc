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

export const title = `a book of ${SENTENCES} sentences on four servers of a second a sentence, × a bare client`;
const LIMITS = { 'foley tts -f': 1.15 };

export async function measure(foley = FOLEY) {
  const scratch = mkdtempSync(path.join(tmpdir(), 'foley-bench-'));
  const servers = spawn(process.execPath, [file('speech-servers.mjs'), `${SECONDS}`]);
  try {
    const urls = [];
    for await (const line of createInterface({ input: servers.stdout })) {
      if (urls.push(line) === 4) break;
    }
    const env = {
      HOME: scratch,
      XDG_CONFIG_HOME: path.join(scratch, 'config'),
      XDG_STATE_HOME: path.join(scratch, 'state'),
      XDG_CACHE_HOME: path.join(scratch, 'cache'),
      XDG_RUNTIME_DIR: path.join(scratch, 'runtime'),
    };
    const book = path.join(scratch, 'book.txt');
    const sentences = Array.from(
      { length: SENTENCES },
      () => 'The ship went on through the long night.',
    );
    writeFileSync(book, sentences.join(' '));
    const add = ['engine', 'add', 'farm', ...urls.flatMap((url) => ['--url', url])];
    const { status, stderr } = spawnSync(process.execPath, [foley, ...add], {
      env: { ...process.env, ...env },
    });
    if (status !== 0) throw new Error(stderr.toString());
    const out = path.join(scratch, 'book.mp3');
    const variants = [
      {
        name: 'bare client',
        command: () => ({
          file: process.execPath,
          args: [file('raw-speakers.mjs'), `${SENTENCES}`, ...urls],
        }),
      },
      {
        name: 'foley tts -f',
        command: () => ({
          file: process.execPath,
          args: [foley, 'tts', '-f', book, '-v', 'tone', '--local', '-o', out, '-q'],
          env,
        }),
      },
    ];
    return compare(variants, { rounds: 1 }).map((row) => ({ ...row, limit: LIMITS[row.name] }));
  } finally {
    const ended = once(servers, 'exit');
    servers.kill();
    await ended;
    rmSync(scratch, { recursive: true, force: true });
  }
}
