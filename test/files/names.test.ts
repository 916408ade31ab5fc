import { mkdir, realpath, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { systemFiles } from '../../src/system/file-system.ts';
import {
  automaticName,
  containedPath,
  downloadName,
  isWindowsNullDevice,
  numbered,
  safeName,
  segmentName,
  windowsNameProblem,
} from '../../src/durable/names.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { failureOf } from './file-simulation.ts';

describe('automatic names', () => {
  it.each([
    ['Hello, world!', 'mp3', 'hello-world.mp3'],
    ['日本語', 'wav', 'speech.wav'],
    ['con', 'mp3', 'con-file.mp3'],
    ['Console', 'mp3', 'console.mp3'],
  ])('of %j as %s', (text, extension, name) => {
    expect(automaticName(text, extension)).toBe(name);
  });

  it.each([
    ['hello.mp3', 1, 'hello.mp3'],
    ['hello.mp3', 2, 'hello-2.mp3'],
    ['out/a.b.mp3', 10, 'out/a.b-10.mp3'],
    ['out.d/hello', 3, 'out.d/hello-3'],
  ])('%s, the %d.', (file, number, name) => {
    expect(numbered(file, number)).toBe(name);
  });
});

describe('names made of what a service says', () => {
  it.each([
    ['0b7e6f3a-51a4-4f0e-9a43-7a5a0f7a1f11', '0b7e6f3a-51a4-4f0e-9a43-7a5a0f7a1f11'],
    ['job_42.final', 'job_42.final'],
  ])('keep a plain id as it is: %s', (id, name) => {
    expect(safeName(id)).toBe(name);
  });

  it.each([
    ['../../x', /^x-[0-9a-f]{8}$/],
    ['/etc/passwd', /^etc-passwd-[0-9a-f]{8}$/],
    ['..\\x', /^x-[0-9a-f]{8}$/],
    ['CON', /^CON-file-[0-9a-f]{8}$/],
    ['aux.mp3', /^aux-file\.mp3-[0-9a-f]{8}$/],
    ['-rf', /^rf-[0-9a-f]{8}$/],
    ['.bashrc', /^bashrc-[0-9a-f]{8}$/],
    ['a\0b', /^a-b-[0-9a-f]{8}$/],
    ['end. ', /^end-[0-9a-f]{8}$/],
    ['x'.repeat(300), /^x{91}-[0-9a-f]{8}$/],
    ['', /^[0-9a-f]{8}$/],
    ['..', /^[0-9a-f]{8}$/],
  ])('make %j harmless', (id, name) => {
    expect(safeName(id)).toMatch(name);
  });

  it('are always one harmless part of a path, and differ where the ids do', () => {
    const hostile = fc.array(
      fc.oneof(
        fc.string({ unit: 'binary', maxLength: 4 }),
        fc.constantFrom('..', '/', '\\', 'nul', '.', '-', ' '),
      ),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(hostile, hostile, (first, second) => {
        const [one, two] = [first.join(''), second.join('')];
        const name = safeName(one);
        expect(name).toMatch(/^[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,99})$/);
        expect(name).not.toMatch(/\.\.|[.-]$|^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i);
        if (one !== two) expect(safeName(two)).not.toBe(name);
      }),
      { numRuns: 500 },
    );
  });

  it('have their extension, and segments their number', () => {
    expect(downloadName('job1', 'mp3')).toBe('job1.mp3');
    expect(downloadName('job1', '../sh')).toMatch(/^job1\.sh-[0-9a-f]{8}$/);
    expect(segmentName('job1', 3, 'wav')).toBe('job1-3.wav');
  });
});

describe('names that a list gives stay inside of the output folder', () => {
  it.each(['a.mp3', 'part/a.mp3', 'not/there/yet.mp3', 'real/a.mp3', 'inside/a.mp3', '...', '-rf'])(
    '%s does',
    async (name) => {
      const { out } = await createSandbox();
      await mkdir(path.join(out, 'real'));
      await symlink('real', path.join(out, 'inside'));
      expect(await containedPath(out, name, systemFiles)).toBe(path.join(out, name));
    },
  );

  it.each([
    '../a.mp3',
    'x/../../a.mp3',
    '/etc/passwd',
    'a//b',
    './a.mp3',
    '',
    'folder/',
    '..\\a.mp3',
    'C:a.mp3',
    'a\0b',
    'outside/a.mp3',
    'outside/not/there/a.mp3',
    'escape.mp3',
    'dangling.mp3',
  ])('%j does not', async (name) => {
    const { out, home } = await createSandbox();
    await writeFile(path.join(home, 'secret'), 'x');
    await symlink(home, path.join(out, 'outside'));
    await symlink(path.join(home, 'secret'), path.join(out, 'escape.mp3'));
    await symlink(path.join(home, 'nothing'), path.join(out, 'dangling.mp3'));
    expect(await failureOf(containedPath(out, name, systemFiles))).toMatchObject({ exitCode: 2 });
  });

  it('cannot be below a file', async () => {
    const { out } = await createSandbox();
    await writeFile(path.join(out, 'file'), 'x');
    expect(await failureOf(containedPath(out, 'file/a.mp3', systemFiles))).toMatchObject({
      exitCode: 30,
      message: expect.stringContaining('file is a file, not a folder'),
    });
  });

  it('may be checked before the folder is made, and where it is a link itself', async () => {
    const { out } = await createSandbox();
    const folder = path.join(out, 'later');
    expect(await containedPath(folder, 'a/b.mp3', systemFiles)).toBe(path.join(folder, 'a/b.mp3'));
    await mkdir(path.join(out, 'real'));
    await symlink('real', folder);
    expect(await containedPath(folder, 'a.mp3', systemFiles)).toBe(path.join(folder, 'a.mp3'));
    expect(await realpath(folder)).toBe(path.join(out, 'real'));
  });
});

describe('on Windows, a path', () => {
  it.each([
    'C:\\Users\\Ada\\hello.wav',
    'C:/Users/Ada/hello.wav',
    'd:hello.wav',
    '\\\\server\\share\\hello.wav',
    '\\\\?\\C:\\a\\b.wav',
    '..\\out\\hello.wav',
    'console.wav',
    'com10.wav',
  ])('may be %s', (file) => {
    expect(windowsNameProblem(file)).toBeUndefined();
    expect(isWindowsNullDevice(file)).toBe(false);
  });

  it.each([
    ['con.wav', 'contains the device name con.wav'],
    ['out\\COM1', 'contains the device name COM1'],
    ['lpt9.tar.gz', 'contains the device name lpt9.tar.gz'],
    ['aux ', 'contains the device name aux '],
    ['C:\\a\\nul.mp3', 'contains the device name nul.mp3'],
    ['12:30.wav', 'contains a ":"'],
    ['C:\\out\\a.wav:hidden', 'contains a ":"'],
    ['what?.wav', 'contains a "?"'],
    ['out.\\a.wav', 'has a part that ends with a dot or a space'],
    ['a.wav ', 'has a part that ends with a dot or a space'],
  ])('cannot be %j: it %s', (file, problem) => {
    expect(windowsNameProblem(file)).toBe(problem);
  });

  it.each(['NUL', 'nul', 'nul:', '\\\\.\\NUL'])('%s discards the output', (file) => {
    expect(isWindowsNullDevice(file)).toBe(true);
  });
});
