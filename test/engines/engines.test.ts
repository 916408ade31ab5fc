import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { addEngine, removeEngine } from '../../src/engines/engines.ts';
import { loadEngineRegistrations, registrationsFile } from '../../src/engines/registrations.ts';
import type { EnginesFolder } from './engines-folder.ts';
import { commandOf, DESCRIPTION, enginesFolder } from './engines-folder.ts';

const listed = (deps: EnginesFolder) =>
  loadEngineRegistrations(deps.system.files, registrationsFile(deps.enginesFolder));

/** A hand-written list. */
async function withList(content: unknown): Promise<EnginesFolder> {
  const deps = await enginesFolder();
  await mkdir(deps.enginesFolder, { recursive: true });
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  await writeFile(registrationsFile(deps.enginesFolder), text);
  return deps;
}

describe('adding an engine', () => {
  it('stores its command and its description', async () => {
    const deps = await enginesFolder();
    expect(await listed(deps)).toEqual([]);

    const added = await addEngine(commandOf('piper'), deps);

    expect(added).toEqual({ ...commandOf('piper'), ...DESCRIPTION });
    expect(deps.inspected).toEqual([commandOf('piper')]);
    expect(await listed(deps)).toEqual([added]);
    const { mode } = await stat(registrationsFile(deps.enginesFolder));
    expect(mode & 0o777).toBe(0o600);
    expect((await stat(deps.enginesFolder)).mode & 0o777).toBe(0o700);
  });

  it('replaces the one of the same name, and no other', async () => {
    const deps = await enginesFolder();
    await addEngine(commandOf('first'), deps);
    await addEngine(commandOf('second'), deps);
    await addEngine({ ...commandOf('first'), args: ['new.py'] }, deps);
    expect((await listed(deps)).map(({ name, args }) => [name, args[0]])).toEqual([
      ['second', 'engine.py'],
      ['first', 'new.py'],
    ]);
  });

  it('keeps the engines of all commands that run at once, and waits for another process', async () => {
    const deps = await enginesFolder();
    await addEngine(commandOf('old'), deps);
    const waited: (number | undefined)[] = [];
    const others = { ...deps, onWait: (pid: number | undefined) => void waited.push(pid) };
    await Promise.all([
      addEngine(commandOf('first'), deps),
      addEngine(commandOf('second'), others),
      removeEngine('old', others),
    ]);
    const names = (await listed(deps)).map(({ name }) => name);
    expect(names.toSorted()).toEqual(['first', 'second']);
    expect(waited).toContain(process.pid);
    expect(await readdir(deps.enginesFolder)).toEqual(['engines.json']);
  });

  it('reports why an engine does not work, and adds nothing', async () => {
    const deps = await enginesFolder({
      isSound: false,
      fault: 'The engine piper ended with exit code 1 before it said hello.',
      detail: 'it wrote to stderr: No module named piper',
    });
    await expect(addEngine(commandOf('piper'), deps)).rejects.toMatchObject({
      code: 'config',
      exitCode: 2,
      message: 'The engine piper ended with exit code 1 before it said hello',
      hint: 'Details: it wrote to stderr: No module named piper',
    });
    expect(await listed(deps)).toEqual([]);
  });

  it.each(['', 'Piper', '../x', 'a b', '-x', '.hidden', 'x'.repeat(33)])(
    'refuses the name "%s" before anything is started',
    async (name) => {
      const deps = await enginesFolder();
      await expect(addEngine(commandOf(name), deps)).rejects.toMatchObject({ code: 'usage' });
      expect(deps.inspected).toEqual([]);
    },
  );

  it('reports a folder that cannot be created', async () => {
    const deps = await enginesFolder();
    await writeFile(path.join(deps.enginesFolder, '../..', 'state'), 'a file');
    await expect(addEngine(commandOf('piper'), deps)).rejects.toMatchObject({
      exitCode: 32,
    });
  });
});

describe('the list of engines', () => {
  const good = { ...commandOf('piper'), ...DESCRIPTION };

  it.each([
    ['no JSON', '{"version":1,', /engines\.json is not valid JSON, at line 1/],
    ['another document', { engines: 'none' }, /is not a valid list of engines/],
    ['a name that leads elsewhere', list({ ...good, name: '../x' }), /\/engines\/0\/name/],
    ['a voice without a language', list({ ...good, voices: [{ id: 'a' }] }), /\/voices\/0/],
    ['no arguments', list({ ...good, args: undefined }), /\/engines\/0/],
    ['a rate that no sound has', list(withRate(good, 1)), /sampleRate/],
    ['two of one name', list(good, good), /two engines named piper/],
  ])('is refused with %s', async (_, content, why) => {
    const deps = await withList(content);
    await expect(listed(deps)).rejects.toMatchObject({ code: 'config', exitCode: 2 });
    await expect(listed(deps)).rejects.toThrow(why);
    await expect(addEngine(commandOf('other'), deps)).rejects.toThrow(why);
  });

  it('of a newer foley is left unchanged', async () => {
    const deps = await withList({ version: 2, engines: {} });
    await expect(listed(deps)).rejects.toMatchObject({ code: 'state', exitCode: 32 });
  });
});

describe('removing an engine', () => {
  it('removes it from the list, and deletes its installation', async () => {
    const deps = await enginesFolder();
    const installed = path.join(deps.enginesFolder, 'espeak-ng.0123456789abcdef');
    await mkdir(path.join(installed, 'node_modules'), { recursive: true });
    await mkdir(path.join(deps.enginesFolder, 'espeak-ng.mine'));
    await addEngine({ ...commandOf('espeak-ng'), cwd: installed }, deps);
    await addEngine(commandOf('mine'), deps);

    const { engine, deleted } = await removeEngine('espeak-ng', deps);

    expect(engine.name).toBe('espeak-ng');
    expect(deleted).toEqual([installed]);
    expect((await listed(deps)).map(({ name }) => name)).toEqual(['mine']);
    expect((await readdir(deps.enginesFolder)).sort()).toEqual(['engines.json', 'espeak-ng.mine']);
  });

  it('suggests the nearest name', async () => {
    const deps = await enginesFolder();
    await expect(removeEngine('piper', deps)).rejects.toMatchObject({
      hint: 'No engines are added.',
    });
    await addEngine(commandOf('piper'), deps);
    await expect(removeEngine('pipe', deps)).rejects.toMatchObject({
      code: 'usage',
      message: 'no such engine: pipe',
      hint: 'Did you mean piper?',
    });
  });
});

function list(...engines: readonly unknown[]): unknown {
  return { version: 1, engines };
}

function withRate(engine: object, sampleRate: number): unknown {
  return { ...engine, voices: [{ ...DESCRIPTION.voices[0], sampleRate }] };
}
