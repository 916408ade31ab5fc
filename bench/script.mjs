// How long `foley script` takes when nothing changed, beside a command that does nearly nothing.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { compare } from './measure.mjs';

const foley = fileURLToPath(new URL('../bin/foley.cjs', import.meta.url));
const LINES = 500;
/** The others repeat these, which makes the recording faster. */
const TEXTS = 25;

export const title = `script of ${LINES} lines without a change, × foley config list`;

export function measure() {
  const scratch = mkdtempSync(path.join(tmpdir(), 'foley-bench-'));
  const [script, output] = ['talk.txt', 'talk.wav'].map((name) => path.join(scratch, name));
  const env = {
    HOME: scratch,
    FOLEY_TARGET: 'local',
    XDG_CONFIG_HOME: path.join(scratch, 'config'),
    XDG_STATE_HOME: path.join(scratch, 'state'),
    XDG_CACHE_HOME: path.join(scratch, 'cache'),
  };
  const run = (...args) => ({ file: process.execPath, args: [foley, ...args], env });
  const again = run('script', script, '-o', output, '-v', 'Martin');
  try {
    const lines = Array.from({ length: LINES }, (_, index) => `ADA: Line ${(index % TEXTS) + 1}.`);
    writeFileSync(script, lines.join('\n'));
    const { status, stderr } = spawnSync(again.file, again.args, {
      env: { ...process.env, ...env },
    });
    if (status !== 0) throw new Error(`The recording failed: ${stderr.toString()}`);
    return compare([
      { name: 'foley config list', command: () => run('config', 'list') },
      { name: 'foley script', command: () => again },
    ]).map((row) => (row.name === 'foley script' ? { ...row, limit: 2 } : row));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
