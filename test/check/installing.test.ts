import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectSoundIn } from '../binary/support/sound.ts';
import { errorLine } from '../harness/error-line.ts';
import { requireBuild } from '../harness/run-foley.ts';
import type { RunResult } from '../harness/run-options.ts';
import { runProgram } from '../harness/run-program.ts';
import type { Sandbox } from '../harness/sandbox.ts';
import { createSandbox } from '../harness/sandbox.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const MANAGERS = fileURLToPath(new URL('../package-managers/', import.meta.url));
const TARBALL = './foley-0.1.0.tgz';
const MINUTE = 60_000;
const PLUG_AND_PLAY = 'nodeLinker: pnp\n';

let packed = '';
let registry = '';

beforeAll(async () => {
  requireBuild();
  await execa('npm', ['ci', '--ignore-scripts', '--prefer-offline'], { cwd: MANAGERS });
  registry = (await execa('npm', ['config', 'get', 'registry'])).stdout;
  packed = await mkdtemp(path.join(tmpdir(), 'foley-packed-'));
  await execa('npm', ['pack', '--ignore-scripts', '--pack-destination', packed], { cwd: ROOT });
}, 5 * MINUTE);

afterAll(async () => rm(packed, { recursive: true, force: true }));

/** Creates an empty project that has the tarball. */
async function project(
  sandbox: Sandbox,
  files: Readonly<Record<string, string>> = {},
): Promise<void> {
  await copyFile(path.join(packed, path.basename(TARBALL)), path.join(sandbox.out, TARBALL));
  const all = { 'package.json': '{"name":"project","private":true}', ...files };
  for (const [name, text] of Object.entries(all))
    await writeFile(path.join(sandbox.out, name), text);
}

/** Runs a package manager in the project, with empty caches and the registry of npm's settings. */
async function install(sandbox: Sandbox, file: string, ...args: readonly string[]): Promise<void> {
  const settings = path.join(homedir(), '.npmrc');
  if (existsSync(settings)) await copyFile(settings, path.join(sandbox.home, '.npmrc'));
  const env = {
    HOME: sandbox.home,
    XDG_CACHE_HOME: sandbox.cache,
    CI: undefined,
    npm_config_registry: registry,
    YARN_NPM_REGISTRY_SERVER: registry,
    YARN_ENABLE_TELEMETRY: '0',
  };
  const { all, exitCode } = await execa(file, args, {
    cwd: sandbox.out,
    env,
    all: true,
    reject: false,
    timeout: 5 * MINUTE,
  });
  expect(exitCode, all).toBe(0);
}

const installWithNode = (
  sandbox: Sandbox,
  file: string,
  ...args: readonly string[]
): Promise<void> =>
  install(sandbox, process.execPath, path.join(MANAGERS, 'node_modules', file), ...args);

async function installWithBun(sandbox: Sandbox): Promise<void> {
  // The program, which a script of the package `bun` would copy.
  const scope = path.join(MANAGERS, 'node_modules/@oven');
  const [name = ''] = await readdir(scope);
  await install(sandbox, path.join(scope, name, 'bin/bun'), 'add', TARBALL);
}

function foley(sandbox: Sandbox, ...args: readonly string[]): Promise<RunResult> {
  return runProgram(path.join(sandbox.out, 'node_modules/.bin/foley'), args, { sandbox });
}

async function expectSpeechAndPicture(sandbox: Sandbox): Promise<void> {
  const speech = await foley(sandbox, 'tts', 'Hello', '--local', '-o', 'hello.mp3');
  expect(speech.code, speech.stderr).toBe(0);
  await expectSoundIn(sandbox, 'hello.mp3');
  const order = ['image', 'create', 'cat', '-m', 'vendor-image-1-flash', '--local'];
  const picture = await foley(sandbox, ...order, '-o', 'cat.png');
  expect(picture.code, picture.stderr).toBe(0);
}

describe('the packed tarball speaks and draws when it was installed', () => {
  test('by pnpm', async () => {
    const sandbox = await createSandbox();
    await project(sandbox);
    await installWithNode(sandbox, 'pnpm/bin/pnpm.cjs', 'add', TARBALL);
    await expectSpeechAndPicture(sandbox);
  });

  test('by Yarn 1', async () => {
    const sandbox = await createSandbox();
    await project(sandbox);
    await installWithNode(sandbox, 'yarn/bin/yarn.js', 'add', `file:${TARBALL}`);
    await expectSpeechAndPicture(sandbox);
  });

  test('by Yarn 4 into node_modules', async () => {
    const sandbox = await createSandbox();
    await project(sandbox, { 'yarn.lock': '', '.yarnrc.yml': 'nodeLinker: node-modules\n' });
    await installWithNode(sandbox, '@yarnpkg/cli-dist/bin/yarn.js', 'add', `foley@file:${TARBALL}`);
    await expectSpeechAndPicture(sandbox);
  });

  test('by Bun', async () => {
    const sandbox = await createSandbox();
    await project(sandbox);
    await installWithBun(sandbox);
    await expectSpeechAndPicture(sandbox);
  });

  test('by npm without scripts, then again from its cache without a network', async () => {
    const sandbox = await createSandbox();
    await project(sandbox);
    const args = ['install', '--ignore-scripts', '--cache', 'npm-cache', TARBALL];
    await install(sandbox, 'npm', ...args);
    await expectSpeechAndPicture(sandbox);
    for (const name of ['node_modules', 'package-lock.json']) {
      await rm(path.join(sandbox.out, name), { recursive: true });
    }
    await project(sandbox);
    await install(sandbox, 'npm', ...args, '--offline');
    await expectSpeechAndPicture(sandbox);
  });
});

test("under Yarn Plug'n'Play, foley is exit 32 and names the setting to change", async () => {
  const sandbox = await createSandbox();
  await project(sandbox, { 'yarn.lock': '', '.yarnrc.yml': PLUG_AND_PLAY });
  const yarn = path.join(MANAGERS, 'node_modules/@yarnpkg/cli-dist/bin/yarn.js');
  await install(sandbox, process.execPath, yarn, 'add', `foley@file:${TARBALL}`);
  const run = (...args: readonly string[]) =>
    runProgram(process.execPath, [yarn, 'foley', ...args], { sandbox });
  const error = errorLine(await run('tts', 'Hello', '-o', 'hello.mp3', '--json'));
  expect(error).toMatchObject({ exitCode: 32, code: 'state', billed: 'no' });
  expect(error.hint).toMatch(/nodeLinker: node-modules/);
  expect(await run('--version')).toMatchObject({ code: 0 });
});

describe('a read-only installation of another user', () => {
  test('speaks, and keeps compiled code in the cache of the user, if it can', async () => {
    const sandbox = await createSandbox({ unprivileged: true });
    const prefix = path.join(sandbox.root, 'prefix');
    const tarball = path.join(packed, path.basename(TARBALL));
    await mkdir(prefix);
    await execa('npm', ['install', '-g', '--prefix', prefix, '--ignore-scripts', tarball]);
    await execa('chmod', ['-R', 'a+rX,a-w', prefix]);
    const before = await readdir(prefix, { recursive: true });
    const program = path.join(prefix, 'bin/foley');
    const speak = (env: Readonly<Record<string, string>>) =>
      runProgram(program, ['tts', 'Hello', '--local', '-o', 'hello.mp3'], { sandbox, env });
    for (const cache of [sandbox.cache, sandbox.cache, path.join(prefix, 'cache')]) {
      const result = await speak({ XDG_CACHE_HOME: cache });
      expect(result.code, result.stderr).toBe(0);
    }
    expect(await readdir(path.join(sandbox.cache, 'foley'))).toContain('code');
    expect(await readdir(prefix, { recursive: true })).toEqual(before);
  });
});

describe('an installation by npm without the binaries for this system', () => {
  const other = process.platform === 'darwin' ? 'linux' : 'darwin';

  test.each([
    ['because of --omit=optional', ['--omit=optional']],
    ['because it is for another system', [`--os=${other}`, '--cpu=arm64']],
  ])('%s is exit 32, with what is missing and what to type', async (_, flags) => {
    const sandbox = await createSandbox();
    await project(sandbox);
    await install(sandbox, 'npm', 'install', '--ignore-scripts', ...flags, TARBALL);
    const error = errorLine(
      await foley(sandbox, 'tts', 'Hello', '-o', 'a.mp3', '--local', '--json'),
    );
    expect(error).toMatchObject({ exitCode: 32, code: 'state', billed: 'no' });
    expect(error.message).toContain(
      `the package libsql cannot be loaded on ${process.platform} ${process.arch}: Cannot find module '@libsql/`,
    );
    expect(error.hint).toMatch(/npm has left out optional packages, or node_modules is from/);
    expect((await foley(sandbox, 'doctor')).stdout.toString()).toMatch(/problem +embedded service/);

    // What the hint says.
    await rm(path.join(sandbox.out, 'node_modules'), { recursive: true });
    await install(sandbox, 'npm', 'install', '--include=optional');
    await expectSpeechAndPicture(sandbox);
  });
});
