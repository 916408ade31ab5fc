import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { installPackages } from '../../src/engines/install.ts';
import { requirePosix } from '../harness/posix.ts';

const never = new AbortController().signal;

/** A folder with a program called npm, which does what `script` says. */
async function withNpm(script: string) {
  requirePosix('programs that begin with #!');
  const folder = await mkdtemp(path.join(tmpdir(), 'foley npm '));
  onTestFinished(() => rm(folder, { recursive: true }));
  const npm = path.join(folder, 'npm');
  await writeFile(npm, `#!${process.execPath}\n${script}`);
  await chmod(npm, 0o755);
  return { folder, env: { PATH: folder, HOME: folder } };
}

const WRITE_DOWN = `
  const { writeFileSync } = require('node:fs');
  const { argv, env } = process;
  writeFileSync('called.json', JSON.stringify({ argv: argv.slice(2), env: Object.keys(env) }));`;

it('runs npm in the folder, without install scripts', async () => {
  const { folder, env } = await withNpm(WRITE_DOWN);
  const more = { ...env, npm_config_registry: 'x', FOLEY_API_KEY: 'sk-1', foley_x: 'y' };

  await installPackages(folder, 'include', { env: more, signal: never });

  const called: { argv: string[]; env: string[] } = JSON.parse(
    await readFile(path.join(folder, 'called.json'), 'utf8'),
  );
  expect(called.argv).toEqual(expect.arrayContaining(['ci', '--ignore-scripts']));
  expect(called.env).toContain('npm_config_registry');
  expect(called.env.join(' ')).not.toMatch(/foley_|FOLEY_/);
});

it.each(['include', 'omit'] as const)(
  'runs npm with the flag to %s optional packages',
  async (optional) => {
    const { folder, env } = await withNpm(WRITE_DOWN);
    await installPackages(folder, optional, { env, signal: never });
    const called: { argv: string[] } = JSON.parse(
      await readFile(path.join(folder, 'called.json'), 'utf8'),
    );
    expect(called.argv).toContain(`--${optional}=optional`);
  },
);

it('reports the output of npm when it fails', async () => {
  const { folder, env } = await withNpm(
    `console.error('npm error code ENOTFOUND\\u001b[0m'); process.exitCode = 7;`,
  );
  await expect(installPackages(folder, 'include', { env, signal: never })).rejects.toMatchObject({
    exitCode: 2,
    message: 'npm failed to install the engine (exit code 7)',
    hint: String.raw`Output of npm: npm error code ENOTFOUND\x1b[0m`,
  });
});

it('reports a missing npm', async () => {
  const { folder } = await withNpm('');
  const env = { PATH: path.join(folder, 'nowhere') };
  await expect(installPackages(folder, 'include', { env, signal: never })).rejects.toMatchObject({
    exitCode: 2,
    message: 'cannot run npm, which installs engines',
  });
});

it('stops npm when the command is stopped', async () => {
  const { folder, env } = await withNpm('setInterval(() => undefined, 1000);');
  const reason = new Error('Ctrl-C');
  const stop = new AbortController();
  const installing = installPackages(folder, 'include', { env, signal: stop.signal });
  stop.abort(reason);
  await expect(installing).rejects.toBe(reason);
});
