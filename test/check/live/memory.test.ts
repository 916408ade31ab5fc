import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { inShell } from '../../harness/in-shell.ts';
import { createSandbox } from '../../harness/sandbox.ts';

const IS_FULL = process.env['FOLEY_TEST_SIZE'] === 'full';
const BYTES = IS_FULL ? 500_000_000 : 120_000_000;
const FRAME_BYTES = 16_384;
/** The limit of the small size allows for machines with larger processes. */
const MOST_MEMORY_BYTES = IS_FULL ? 150_000_000 : 200_000_000;

/** Records the largest resident size of foley, in kilobytes. */
const NOTE_PEAK = `process.on('exit', () => {
  if (process.argv.includes('live'))
    require('node:fs').writeFileSync('peak.txt', String(process.resourceUsage().maxRSS));
});`;

/** Reads a pipe slowly, like a player, and prints the number of bytes. */
const READ_SLOWLY = `let size = 0;
process.stdin.on('data', (chunk) => {
  size += chunk.length;
  process.stdin.pause();
  setTimeout(() => process.stdin.resume(), 1);
});
process.stdin.on('end', () => console.log(size));`;

async function startSender(): Promise<string> {
  const server = fork(new URL('../../../bench/live-server.mjs', import.meta.url));
  onTestFinished(() => server.disconnect());
  const [{ port }] = (await once(server, 'message')) as [{ port: number }];
  return `http://127.0.0.1:${port}/${BYTES}/${FRAME_BYTES}`;
}

test(`${BYTES / 1e6} MB for a slow reader take no more than ${MOST_MEMORY_BYTES / 1e6} MB of memory`, async () => {
  const sandbox = await createSandbox();
  const hook = path.join(sandbox.out, 'peak.cjs');
  await writeFile(hook, NOTE_PEAK);
  await writeFile(path.join(sandbox.out, 'reader.cjs'), READ_SLOWLY);
  const flags = '-v v -m m --mode reliable --format pcm';
  const { code, stderr, stdout } = await inShell(
    `NODE_OPTIONS='--require "${hook}"' foley live Hello. ${flags} | '${process.execPath}' reader.cjs`,
    {
      sandbox,
      env: { FOLEY_BASE_URL: await startSender(), FOLEY_API_KEY: 'a-key' },
      timeoutMs: 600_000,
    },
  );
  expect([code, stderr]).toEqual([0, expect.anything()]);
  expect(Number(stdout.toString())).toBeGreaterThanOrEqual(BYTES);
  const peak = Number(await readFile(path.join(sandbox.out, 'peak.txt'), 'utf8')) * 1024;
  expect(peak).toBeLessThan(MOST_MEMORY_BYTES);
}, 600_000);
