// How long a person waits before anything happens, against an empty Node.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { compare } from './measure.mjs';

const FOLEY = fileURLToPath(new URL('../bin/foley.cjs', import.meta.url));

export const title = 'start-up, × node -e 0';
// A cold start of the built-in voice takes about 16.5. It may take 1.6 times as long as with the voice before it, which also
// took about 16.5; the limit is lower, to notice a slower start.
const LIMITS = { '--version': 1.15, '--help': 1.5, 'tts, cold, one sentence, mp3': 20 };
// `foley mcp` starts, answers one request, and stops at the end of stdin.
const MCP = 'mcp, × --version with its SDK loaded';
const MCP_LIMIT = 1.5;
const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1.0.0' },
  },
};
const SDK = ['server', 'server/stdio'].flatMap((entry) => [
  '--import',
  import.meta.resolve(`@modelcontextprotocol/${entry}`),
]);

export function measure(foley = FOLEY) {
  const scratch = mkdtempSync(path.join(tmpdir(), 'foley-bench-'));
  let run = 0;
  /** A home of its own for each run, so that every one is the first. */
  const firstRun = (args) => {
    run += 1;
    const home = path.join(scratch, String(run));
    const env = {
      HOME: home,
      XDG_CONFIG_HOME: path.join(home, 'config'),
      XDG_STATE_HOME: path.join(home, 'state'),
      XDG_CACHE_HOME: path.join(home, 'cache'),
    };
    return { file: process.execPath, args: [foley, ...args], env };
  };
  try {
    const variants = [
      { name: 'node -e 0', command: () => ({ file: process.execPath, args: ['-e', '0'] }) },
      { name: '--version', command: () => firstRun(['--version']) },
      { name: '--help', command: () => firstRun(['--help']) },
      {
        name: 'tts, cold, one sentence, mp3',
        command: () =>
          firstRun(['tts', 'Hello from foley', '-o', path.join(scratch, `${run}.mp3`)]),
      },
    ];
    const withSdk = firstRun(['--version']);
    const servers = [
      {
        name: '--version with the SDK of mcp',
        command: () => ({ ...withSdk, args: [...SDK, ...withSdk.args] }),
      },
      {
        name: MCP,
        command: () => ({
          ...firstRun(['mcp', '--local', '--dir', scratch]),
          input: `${JSON.stringify(INITIALIZE)}\n`,
        }),
      },
    ];
    return [
      ...compare(variants, { rounds: 40 }).map((row) => ({ ...row, limit: LIMITS[row.name] })),
      ...compare(servers, { rounds: 20 }).map((row) =>
        row.name === MCP ? { ...row, limit: MCP_LIMIT } : row,
      ),
    ];
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
