import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { FOLEY, requireBuild } from '../harness/run-foley.ts';

export interface StartedService {
  readonly baseUrl: string;
  readonly key: string;
  readonly otherKey: string;
  stop(): Promise<void>;
}

/** Starts the built `foley serve` on a free port, with two accounts and data of its own. */
export async function startService(flags: readonly string[]): Promise<StartedService> {
  requireBuild();
  const folder = await mkdtemp(path.join(tmpdir(), 'foley-conformance-'));
  const keys = ['conformance-first', 'conformance-second'];
  const keysFile = path.join(folder, 'keys');
  await writeFile(keysFile, keys.map((key) => `${key} account-of-${key}\n`).join(''));
  const args = ['serve', '--json', '--port', '0', '--accept-keys-file', keysFile];
  const child = spawn(
    process.execPath,
    [FOLEY, ...args, '--data-dir', path.join(folder, 'data'), ...flags],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'] ?? '', HOME: folder },
    },
  );
  const [key = '', otherKey = ''] = keys;
  return {
    baseUrl: await addressOf(child),
    key,
    otherKey,
    async stop() {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** What it says when it is ready; what it said on stderr when it never is. */
async function addressOf(child: ChildProcess): Promise<string> {
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new TypeError('no pipes');
  let complaint = '';
  stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint += text;
  });
  for await (const line of createInterface(stdout)) {
    return String(Object(JSON.parse(line)).baseUrl);
  }
  throw new Error(`foley serve did not start: ${complaint}`);
}
