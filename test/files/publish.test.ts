import { createReadStream } from 'node:fs';
import { chmod, link, lstat, mkdir, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { devNull } from 'node:os';
import path from 'node:path';
import { text as textFrom } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { systemFiles } from '../../src/system/file-system.ts';
import type { Existing } from '../../src/durable/output.ts';
import type { OutputOptions } from '../../src/durable/publish.ts';
import { openOutput } from '../../src/durable/publish.ts';
import type { System } from '../../src/system/system.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { failureOf, testSystem, modeOf, namesIn, stillClock, textOf } from './file-simulation.ts';
import { makeFifo, requireFullDevice, requirePosix } from '../harness/posix.ts';

const open = (file: string, changes: Partial<OutputOptions & System> = {}) =>
  openOutput(testSystem(changes), { path: file, ...changes });

async function deliver(file: string, text: string, existing: Existing = 'replace') {
  const output = await open(file, { existing });
  await output.write(Buffer.from(text));
  return output.publish();
}

describe('publishing a file', () => {
  it('gives it its name only at the end, whole', async () => {
    const { out } = await createSandbox();
    const file = path.join(out, 'hello.mp3');
    const output = await open(file);
    await output.write(Buffer.from('one '));
    await output.write(Buffer.from('two'));
    expect(await textOf(file)).toBeUndefined();
    expect(await output.publish()).toEqual({ path: file, bytes: 7 });
    expect(await textOf(file)).toBe('one two');
    expect(await namesIn(out)).toEqual(['hello.mp3']);
  });

  it('makes the temporary file beside it at once, under a short name', async () => {
    const { out } = await createSandbox();
    const output = await open(path.join(out, 'hello.mp3'));
    expect(await namesIn(out)).toEqual([path.basename(output.temporary ?? '')]);
    expect(path.basename(output.temporary ?? '')).toMatch(
      /^\.foley-[0-9a-f]{8}-\d+-\d+-[0-9a-f]{24}\.part$/,
    );
    await output.abandon();
    expect(await namesIn(out)).toEqual([]);
  });

  it('replaces an older file, and keeps it when there is nothing new', async () => {
    const { out } = await createSandbox();
    const file = path.join(out, 'hello.mp3');
    await writeFile(file, 'old');
    const output = await open(file);
    await output.write(Buffer.from('new'));
    await output.abandon();
    await output.abandon();
    expect(await textOf(file)).toBe('old');
    await deliver(file, 'new');
    expect(await textOf(file)).toBe('new');
    expect(await namesIn(out)).toEqual(['hello.mp3']);
  });

  it('keeps the permissions of the file it replaces, and its owner', async () => {
    const { out } = await createSandbox();
    const file = path.join(out, 'hello.mp3');
    await writeFile(file, 'old');
    await chmod(file, 0o640);
    const before = await stat(file);
    const output = await open(file);
    expect((await modeOf(output.temporary ?? '')) & 0o137).toBe(0);
    await output.publish();
    expect(await modeOf(file)).toBe(0o640);
    expect(await stat(file)).toMatchObject({ uid: before.uid, gid: before.gid });
  });

  it('makes a new file with the permissions asked for', async () => {
    const { out } = await createSandbox();
    const output = await open(path.join(out, 'secret.json'), { mode: 0o600 });
    await output.publish();
    expect(await modeOf(path.join(out, 'secret.json'))).toBe(0o600);
  });

  it('takes many chunks at once and keeps their order', async () => {
    const { out } = await createSandbox();
    const file = path.join(out, 'long.wav');
    const output = await open(file);
    const chunks = Array.from({ length: 700 }, (_, index) => Buffer.alloc(5000, index % 251));
    await Promise.all(chunks.map((chunk) => output.write(chunk)));
    expect(await output.publish()).toEqual({ path: file, bytes: 3_500_000 });
    expect((await systemFiles.readFile(file)).equals(Buffer.concat(chunks))).toBe(true);
  });

  it('takes bytes for the place of others, however many were written since', async () => {
    const { out } = await createSandbox();
    const file = path.join(out, 'hello.wav');
    const output = await open(file);
    await output.write(Buffer.from('RIFF????'));
    await output.write(Buffer.from('samples'));
    await output.overwrite(4, Buffer.from('0015'));
    expect(await output.publish()).toEqual({ path: file, bytes: 15 });
    expect(await textOf(file)).toBe('RIFF0015samples');
  });

  it('takes a name of 255 bytes', async () => {
    const { out } = await createSandbox();
    const file = path.join(out, `${'x'.repeat(251)}.mp3`);
    await deliver(file, 'long name');
    expect(await textOf(file)).toBe('long name');
  });

  it('publishes behind a symbolic link, which stays one', async () => {
    const { out } = await createSandbox();
    await mkdir(path.join(out, 'real'));
    const real = path.join(out, 'real', 'hello.mp3');
    const name = path.join(out, 'link.mp3');
    await writeFile(real, 'old');
    await symlink(path.join('real', 'hello.mp3'), name);
    const output = await open(name);
    expect(path.dirname(output.temporary ?? '')).toBe(path.join(out, 'real'));
    await output.write(Buffer.from('new'));
    expect(await output.publish()).toEqual({ path: name, bytes: 3 });
    expect((await lstat(name)).isSymbolicLink()).toBe(true);
    expect(await textOf(real)).toBe('new');
  });
});

describe('what cannot be written is refused before anything is billed', () => {
  it.each([
    ['an empty name', () => '', 2, 'the output file has no name'],
    ['a folder', (out: string) => out, 2, 'is a folder, not a file'],
    ['a folder that is not there', (out: string) => `${out}/no/`, 2, 'is a folder, not a file'],
    ['a NUL character', (out: string) => `${out}/a\0b`, 2, 'NUL'],
    ['a missing folder', (out: string) => `${out}/no/hello.mp3`, 30, 'no does not exist'],
    [
      'a file in the place of a folder',
      (out: string) => `${out}/file/x.mp3`,
      30,
      'file is a file, not a folder',
    ],
    [
      'a name that is too long',
      (out: string) => `${out}/${'x'.repeat(256)}`,
      30,
      'longer than the file system allows',
    ],
    [
      'a link that leads nowhere',
      (out: string) => `${out}/dangling`,
      30,
      'a symbolic link to a file that does not exist',
    ],
    ['links in a circle', (out: string) => `${out}/circle`, 30, 'lead in a circle'],
  ])('%s', async (_, name, exitCode, message) => {
    const { out } = await createSandbox();
    await writeFile(path.join(out, 'file'), 'x');
    await symlink('nowhere', path.join(out, 'dangling'));
    await symlink('circle', path.join(out, 'circle'));
    const before = await namesIn(out);
    const failure = await failureOf(open(name(out)));
    expect(failure).toMatchObject({
      exitCode,
      message: expect.stringContaining(message),
      billed: 'no',
    });
    expect(await namesIn(out)).toEqual(before);
  });

  it('a missing folder comes with the line that makes it', async () => {
    const failure = await failureOf(open("no/such folder's/hello.mp3"));
    expect(failure).toMatchObject({
      message:
        "cannot write no/such folder's/hello.mp3: the folder no/such folder's does not exist",
      hint: String.raw`Make it first: mkdir -p 'no/such folder'\''s'`,
    });
  });

  it.each([
    ['EACCES', 'permission is denied in the folder'],
    ['EROFS', 'the file system is read-only'],
    ['EDQUOT', 'your disk quota is used up'],
    ['EWEIRD', 'EWEIRD'],
  ])('a folder that answers %s', async (code, message) => {
    const { out } = await createSandbox();
    const files = {
      ...systemFiles,
      open: () => Promise.reject(Object.assign(new Error('injected'), { code })),
    };
    const failure = await failureOf(open(path.join(out, 'hello.mp3'), { files }));
    expect(failure).toMatchObject({
      exitCode: 30,
      code: 'output',
      message: expect.stringContaining(message),
    });
  });

  it('a file that is write-protected', async () => {
    const { out } = await createSandbox();
    const file = path.join(out, 'hello.mp3');
    await writeFile(file, 'old');
    const files = {
      ...systemFiles,
      access: () => Promise.reject(Object.assign(new Error('injected'), { code: 'EACCES' })),
    };
    const failure = await failureOf(open(file, { files }));
    expect(failure).toMatchObject({
      exitCode: 30,
      message: `cannot write ${file}: it is write-protected`,
    });
  });
});

describe('a name that is taken', () => {
  it('is refused at once when it must stay', async () => {
    const { out } = await createSandbox();
    const file = path.join(out, 'hello.mp3');
    await writeFile(file, 'old');
    expect(await failureOf(open(file, { existing: 'refuse' }))).toMatchObject({
      exitCode: 31,
      code: 'exists',
    });
    expect(await namesIn(out)).toEqual(['hello.mp3']);
  });

  it('in the last moment wins, and what was made can still be kept', async () => {
    const { out } = await createSandbox();
    const file = path.join(out, 'hello.mp3');
    const output = await open(file, { existing: 'refuse' });
    await output.write(Buffer.from('ours'));
    await writeFile(file, 'theirs');
    expect(await failureOf(output.publish())).toMatchObject({ exitCode: 31 });
    expect(await textOf(file)).toBe('theirs');
    const released = await output.release();
    expect(released).toMatchObject({ bytes: 4, rest: [] });
    expect(await textOf(released?.path ?? '')).toBe('ours');
    await output.abandon();
    expect(await textOf(released?.path ?? '')).toBe('ours');
  });

  it('is passed by with a number, at the beginning and in the last moment', async () => {
    const { out } = await createSandbox();
    const file = path.join(out, 'hello.mp3');
    await writeFile(file, 'first');
    await mkdir(path.join(out, 'hello-2.mp3'));
    const output = await open(file, { existing: 'number' });
    expect(output.path).toBe(path.join(out, 'hello-3.mp3'));
    await output.write(Buffer.from('ours'));
    await writeFile(path.join(out, 'hello-3.mp3'), 'theirs');
    expect((await output.publish()).path).toBe(path.join(out, 'hello-4.mp3'));
    expect(await textOf(path.join(out, 'hello-3.mp3'))).toBe('theirs');
    expect(await textOf(path.join(out, 'hello-4.mp3'))).toBe('ours');
  });

  it('is given to each of many who ask for it in one moment', async () => {
    const { out } = await createSandbox();
    const file = path.join(out, 'hello.mp3');
    const outputs = await Promise.all(
      [1, 2, 3, 4].map(() =>
        open(file, { existing: 'number', ...testSystem({ random: fresh() }) }),
      ),
    );
    await Promise.all(outputs.map(async (output, index) => output.write(Buffer.from(`${index}`))));
    const published = await Promise.all(outputs.map((output) => output.publish()));
    expect(new Set(published.map((one) => one.path)).size).toBe(4);
    expect(await namesIn(out)).toEqual(['hello-2.mp3', 'hello-3.mp3', 'hello-4.mp3', 'hello.mp3']);
  });

  it('is still not replaced where the file system knows no links', async () => {
    const { out } = await createSandbox();
    const file = path.join(out, 'hello.mp3');
    const linkless = {
      ...systemFiles,
      link: () => Promise.reject(Object.assign(new Error('injected'), { code: 'EPERM' })),
    };
    const output = await open(file, { existing: 'refuse', files: linkless });
    await output.write(Buffer.from('ours'));
    expect(await output.publish()).toMatchObject({ bytes: 4 });
    const late = await open(path.join(out, 'late.mp3'), { existing: 'refuse', files: linkless });
    await writeFile(path.join(out, 'late.mp3'), 'theirs');
    expect(await failureOf(late.publish())).toMatchObject({ exitCode: 31 });
    await late.abandon();
    expect(await namesIn(out)).toEqual(['hello.mp3', 'late.mp3']);
    expect(await textOf(path.join(out, 'late.mp3'))).toBe('theirs');
  });
});

let seeds = 0;
function fresh() {
  seeds += 1;
  const seed = seeds;
  return {
    ...testSystem().random,
    bytes: (length: number) => new Uint8Array(length).fill(seed),
  };
}

describe('what is no regular file', () => {
  it('is written directly: a FIFO stays a FIFO', async () => {
    const { out } = await createSandbox();
    const fifo = path.join(out, 'pipe');
    makeFifo(fifo);
    const reading = textFrom(createReadStream(fifo));
    const output = await open(fifo, { existing: 'refuse' });
    expect(output.temporary).toBeUndefined();
    await output.write(Buffer.from('through '));
    await output.write(Buffer.from('the pipe'));
    expect(await output.publish()).toEqual({ path: fifo, bytes: 16 });
    expect(await reading).toBe('through the pipe');
    expect((await lstat(fifo)).isFIFO()).toBe(true);
    expect(await namesIn(out)).toEqual(['pipe']);
  });

  it('fails as it does: /dev/full is full', async () => {
    const output = await open(requireFullDevice());
    await output.write(Buffer.from('x')).catch(() => undefined);
    expect(await failureOf(output.publish())).toMatchObject({
      exitCode: 30,
      message: 'cannot write /dev/full: the disk is full',
    });
    await output.abandon();
  });

  it('reports that the reader of a FIFO closed it', async () => {
    const { out } = await createSandbox();
    const fifo = path.join(out, 'pipe');
    makeFifo(fifo);
    const reader = await openedReader(fifo);
    const output = await reader.writerSide;
    await reader.leave();
    await output.write(Buffer.alloc(100_000)).catch(() => undefined);
    expect(await failureOf(output.publish())).toMatchObject({ cause: { code: 'EPIPE' } });
    expect(await output.release()).toBeUndefined();
  });

  it('a stream of this process is not replaced, though it be a file', async () => {
    requirePosix('/dev/null, /dev/zero and /dev/fd');
    const { out } = await createSandbox();
    const file = path.join(out, 'redirected');
    await writeFile(file, 'before ');
    const redirected = await systemFiles.open(file, 'a');
    const output = await open(`/dev/fd/${redirected.fd}`);
    await output.write(Buffer.from('after'));
    await output.publish();
    await redirected.close();
    expect(await textOf(file)).toBe('before after');
    expect(await namesIn(out)).toEqual(['redirected']);
  });
});

async function openedReader(fifo: string) {
  const reading = systemFiles.open(fifo, 'r');
  const writerSide = open(fifo);
  const handle = await reading;
  return { writerSide, leave: () => handle.close() };
}

describe('a file that another program has open for a moment, on Windows', () => {
  it('is tried again for ten seconds', async () => {
    const { out } = await createSandbox();
    const clock = stillClock();
    let refusals = 3;
    const files = {
      ...systemFiles,
      rename: async (...names: Parameters<typeof rename>) => {
        refusals -= 1;
        if (refusals >= 0) throw Object.assign(new Error('injected'), { code: 'EBUSY' });
        return rename(...names);
      },
    };
    const options = { files, clock, platform: 'win32' } as const;
    const output = await open(path.join(out, 'hello.mp3'), options);
    await output.publish();
    expect(clock.slept).toEqual([10, 20, 40]);
    expect(await namesIn(out)).toEqual(['hello.mp3']);
  });

  it('is left for good after that, the new bytes not lost', async () => {
    const { out } = await createSandbox();
    const clock = stillClock();
    const files = {
      ...systemFiles,
      rename: () => Promise.reject(Object.assign(new Error('injected'), { code: 'EPERM' })),
    };
    const output = await open(path.join(out, 'hello.mp3'), { files, clock, platform: 'win32' });
    await output.write(Buffer.from('paid'));
    expect(await failureOf(output.publish())).toMatchObject({ exitCode: 30 });
    expect(clock.slept.reduce((sum, ms) => sum + ms, 0)).toBe(10_000);
    const released = await output.release();
    expect(await textOf(released?.path ?? '')).toBe('paid');
  });

  it('is final elsewhere', async () => {
    const { out } = await createSandbox();
    const clock = stillClock();
    const files = {
      ...systemFiles,
      rename: () => Promise.reject(Object.assign(new Error('injected'), { code: 'EPERM' })),
    };
    const output = await open(path.join(out, 'hello.mp3'), { files, clock });
    expect(await failureOf(output.publish())).toMatchObject({ exitCode: 30 });
    expect(clock.slept).toEqual([]);
    await output.abandon();
    expect(await namesIn(out)).toEqual([]);
  });
});

describe('a name that is linked twice', () => {
  it('leaves the other name with the older file', async () => {
    const { out } = await createSandbox();
    const file = path.join(out, 'hello.mp3');
    await writeFile(file, 'old');
    await link(file, path.join(out, 'other.mp3'));
    await deliver(file, 'new');
    expect(await textOf(file)).toBe('new');
    expect(await textOf(path.join(out, 'other.mp3'))).toBe('old');
  });
});

describe('on Windows', () => {
  it.each(['NUL', 'nul'])('an output to %s is discarded', async (file) => {
    const opened: string[] = [];
    const files = {
      ...systemFiles,
      open: new Proxy(systemFiles.open, {
        apply: (openFile, _, [given, flags]) => {
          opened.push(String(given));
          return openFile(devNull, flags);
        },
      }),
    };
    const output = await open(file, { platform: 'win32', files });
    await output.write(Buffer.from('sound'));
    expect(await output.publish()).toMatchObject({ bytes: 5 });
    expect(opened).toEqual(['\\\\.\\nul']);
  });

  it.each(['con.wav', 'a:b.wav', 'end.wav.'])('an output to %s is refused', async (name) => {
    const { out } = await createSandbox();
    const file = path.join(out, name);
    expect(await failureOf(open(file, { platform: 'win32' }))).toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(/which Windows does not allow$/),
    });
    await (await open(file)).abandon();
  });
});
