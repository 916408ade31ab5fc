// How much faster a command is because an earlier one left the built-in voice ready.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { compare } from './measure.mjs';

const FOLEY = fileURLToPath(new URL('../bin/foley.cjs', import.meta.url));

export const title = 'second tts of one sentence, × without keep-alive';
const LIMITS = { 'with keep-alive': 0.85 };

export function measure(foley = FOLEY) {
  const scratch = mkdtempSync(path.join(tmpdir(), 'foley-bench-'));
  const folders = {
    HOME: scratch,
    XDG_CONFIG_HOME: path.join(scratch, 'config'),
    XDG_STATE_HOME: path.join(scratch, 'state'),
    XDG_CACHE_HOME: path.join(scratch, 'cache'),
    XDG_RUNTIME_DIR: path.join(scratch, 'runtime'),
  };
  const speak = (keepAlive) => ({
    file: process.execPath,
    args: [foley, 'tts', 'Hello from foley', '-o', path.join(scratch, `${keepAlive}.mp3`)],
    env: { ...folders, FOLEY_KEEP_ALIVE: keepAlive },
  });
  try {
    const variants = [
      { name: 'without keep-alive', command: () => speak('0') },
      { name: 'with keep-alive', command: () => speak('10m') },
    ];
    return compare(variants, { rounds: 20 }).map((row) => ({ ...row, limit: LIMITS[row.name] }));
  } finally {
    spawnSync(process.execPath, [foley, 'engine', 'stop'], { env: { ...process.env, ...folders } });
    rmSync(scratch, { recursive: true, force: true });
  }
}
