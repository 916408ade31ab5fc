import { cp, mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { system } from '../../../src/system/system.ts';
import type { Liveness } from '../../../src/system/processes.ts';
import { systemProcesses } from '../../../src/system/processes.ts';
import { configFailure } from '../../../src/errors/failure.ts';
import { engineInspector } from '../../../src/engines/inspector.ts';
import type { InstallDeps } from '../../../src/engines/install.ts';
import { ADAPTERS_FOLDER, installEspeakNg } from '../../../src/engines/install.ts';
import { loadEngineRegistrations, registrationsFile } from '../../../src/engines/registrations.ts';
import { forEachEffect } from '../../harness/failing-files.ts';
import { enginesFolder } from '../../engines/engines-folder.ts';

const dead = (): Liveness => 'dead';

const MODULES = fileURLToPath(new URL('../../../node_modules/', import.meta.url));

/** What npm would install, from this repository's own development dependency. */
async function installFromHere(folder: string): Promise<void> {
  const scope = path.join(folder, 'node_modules', '@echogarden');
  await mkdir(scope, { recursive: true });
  const name = 'espeak-ng-emscripten';
  await symlink(path.join(MODULES, '@echogarden', name), path.join(scope, name));
}

async function simulation(changes: Partial<InstallDeps> = {}): Promise<InstallDeps> {
  const deps = await enginesFolder();
  return { ...deps, adapterFolder: ADAPTERS_FOLDER, installPackages: installFromHere, ...changes };
}

const listed = ({ enginesFolder: folder, system: { files } }: InstallDeps) =>
  loadEngineRegistrations(files, registrationsFile(folder));

const installedIn = async ({ enginesFolder: folder }: InstallDeps) =>
  (await readdir(folder)).filter((name) => name.startsWith('espeak-ng.'));

async function lockedIn(folder: string): Promise<unknown> {
  const { packages } = JSON.parse(await readFile(path.join(folder, 'package-lock.json'), 'utf8'));
  const { version, integrity } = packages['node_modules/@echogarden/espeak-ng-emscripten'];
  return { version, integrity };
}

describe('installing espeak-ng', () => {
  it('makes an engine that speaks, in a folder of its own', async () => {
    const { env } = process;
    const signal = new AbortController().signal;
    const deps = await simulation({
      inspect: engineInspector({ env, system, signal }),
    });

    const engine = await installEspeakNg(deps);

    expect(engine).toMatchObject({
      name: 'espeak-ng',
      license: 'GPL-3.0-or-later',
      command: 'node',
    });
    expect(engine.voices.length).toBeGreaterThan(40);
    expect(await listed(deps)).toEqual([engine]);
    expect(await readdir(engine.cwd)).toEqual(
      expect.arrayContaining(['espeak-ng', 'node_modules', 'package-lock.json', 'parts']),
    );
  });

  it('replaces the one that was there, when the new one works', async () => {
    const deps = await simulation();
    const first = await installEspeakNg(deps);
    const second = await installEspeakNg(deps);
    expect(second.cwd).not.toBe(first.cwd);
    expect(await listed(deps)).toEqual([second]);
    expect(await installedIn(deps)).toEqual([path.basename(second.cwd)]);
  });

  it('leaves one installation when two commands install it at once', async () => {
    const deps = await simulation();
    const engines = await Promise.all([installEspeakNg(deps), installEspeakNg(deps)]);
    const [left] = await listed(deps);
    expect(engines).toContainEqual(left);
    expect(await installedIn(deps)).toEqual([path.basename(left?.cwd ?? '')]);
  });

  it('keeps the one that was there when npm fails', async () => {
    const deps = await simulation();
    const first = await installEspeakNg(deps);
    const failure = configFailure('npm failed to install the engine (exit code 1)');
    const installPackages = async () => {
      throw failure;
    };
    await expect(installEspeakNg({ ...deps, installPackages })).rejects.toBe(failure);
    expect(await listed(deps)).toEqual([first]);
    expect(await installedIn(deps)).toEqual([path.basename(first.cwd)]);
  });

  it('leaves nothing behind when the engine does not speak', async () => {
    const deps = await simulation({
      inspect: async () => ({ isSound: false, fault: 'It is mute.', detail: undefined }),
    });
    await expect(installEspeakNg(deps)).rejects.toThrow('It is mute');
    expect(await listed(deps)).toEqual([]);
    expect(await installedIn(deps)).toEqual([]);
  });

  it.each([{ kind: 'kill' }, { kind: 'full' }, { kind: 'error', code: 'EACCES' }] as const)(
    'never lists an engine that is not there, wherever it is stopped: $kind',
    async (fault) => {
      const effects = await forEachEffect({
        fault,
        async prepare() {
          const deps = await simulation({ installPackages: async () => undefined });
          await installEspeakNg(deps);
          return deps;
        },
        async scenario(deps, files) {
          await installEspeakNg({ ...deps, system: { ...deps.system, files } });
        },
        async check(deps) {
          const engines = await listed(deps);
          expect(engines).toHaveLength(1);
          for (const { cwd } of engines) {
            expect(await readdir(path.join(cwd, 'espeak-ng'))).toContain('engine.mjs');
          }
          // The next command is another process, which finds that the first one has ended.
          const { self } = systemProcesses();
          const processes = { self: { ...self, pid: self.pid + 1 }, liveness: dead };
          await installEspeakNg({ ...deps, system: { ...deps.system, processes } });
          expect(await installedIn(deps)).toHaveLength(1);
        },
      });
      expect(effects).toEqual(expect.arrayContaining(['mkdir', 'create', 'rename', 'rm']));
    },
  );

  it('locks the very package that the tests speak with', async () => {
    const deps = await simulation();
    const { cwd } = await installEspeakNg(deps);
    const { packages } = JSON.parse(await readFile(path.join(cwd, 'package-lock.json'), 'utf8'));
    expect(Object.keys(packages)).toEqual(['', 'node_modules/@echogarden/espeak-ng-emscripten']);
    expect(await lockedIn(cwd)).toEqual(await lockedIn(path.dirname(MODULES)));
  });

  it('copies no package with the adapter', async () => {
    const deps = await simulation({ installPackages: async () => undefined });
    const withModules = path.join(deps.enginesFolder, '..', 'adapter');
    for (const name of ['espeak-ng', 'parts']) {
      const filter = (file: string): boolean => !file.includes(`engines/${name}/node_modules`);
      await cp(path.join(ADAPTERS_FOLDER, name), path.join(withModules, name), {
        recursive: true,
        filter,
      });
      await mkdir(path.join(withModules, name, 'node_modules'));
    }
    const { cwd } = await installEspeakNg({ ...deps, adapterFolder: withModules });
    const copied = await readdir(cwd, { recursive: true });
    expect(copied.filter((name) => name.includes('node_modules'))).toEqual([]);
  });
});
