import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { hostFolder } from '../harness/engine-hosts.ts';
import { parseJsonDocument } from '../harness/json-lines.ts';
import { runFoley } from '../harness/run-foley.ts';
import { createSandbox } from '../harness/sandbox.ts';
import {
  KEPT,
  ALONE,
  speak,
  speech,
  untilHosted,
  sandboxWithHost,
  watchThreads,
} from '../binary/support/resident-host.ts';

describe.skipIf(process.platform === 'win32')('the built-in voice', () => {
  test('speaks and encodes the second command in the host, with the same bytes', async () => {
    const sandbox = await sandboxWithHost();
    const { compiled, env, started } = await watchThreads(sandbox);
    const run = async (own: Readonly<Record<string, string>>): Promise<Buffer> => {
      const args = ['Hello from foley.', '-o', 'short.mp3'];
      expect(await speak(sandbox, { ...own, ...env }, args)).toMatchObject({ code: 0, stderr: '' });
      return readFile(path.join(sandbox.out, 'short.mp3'));
    };
    const shared = await run(KEPT);
    expect([await started(), await compiled()]).toEqual(['', 0]);
    const own = await run(ALONE);
    expect(await started()).toBe('hibari\n');
    expect(await compiled()).toBeGreaterThan(0);
    expect(shared.equals(own)).toBe(true);
  });

  test('speaks in the command when the host hangs, and foley engine stop ends the host', async () => {
    const sandbox = await sandboxWithHost();
    process.kill(await untilHosted(sandbox), 'SIGSTOP');
    const { env, started } = await watchThreads(sandbox);
    await speech(sandbox, { ...KEPT, ...env });
    expect(await started()).toContain('hibari\n');
    const stopped = await runFoley(['engine', 'stop', 'hibari'], { sandbox });
    expect(stopped).toMatchObject({ code: 0, stderr: 'stopped hibari\n' });
    const again = await runFoley(['engine', 'stop', '--json'], { sandbox });
    expect(parseJsonDocument(again.stdout)).toEqual({ stopped: [] });
  });

  test('is named by foley doctor while it stays ready', async () => {
    const sandbox = await sandboxWithHost();
    const { stdout } = await runFoley(['doctor', '--local', '--json'], { sandbox });
    expect(stdout.toString()).toContain('1 process stays ready between commands: hibari');
  });

  test('stays ready neither with 0 nor in CI', async () => {
    const sandbox = await createSandbox();
    await speech(sandbox, ALONE);
    await speech(sandbox, { FOLEY_KEEP_ALIVE: '', CI: 'true' });
    await expect(readdir(hostFolder(sandbox))).rejects.toThrow('ENOENT');
  });

  test.runIf(process.platform === 'linux')('gets no API key', async () => {
    const sandbox = await sandboxWithHost({ ...KEPT, SECRET_TOKEN: 'hidden' });
    const environment = await readFile(`/proc/${await untilHosted(sandbox)}/environ`, 'utf8');
    expect(environment).toContain('PATH=');
    expect(environment).not.toMatch(/SECRET_TOKEN|FOLEY_/);
  });
});
