import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { FileSystem } from '../../src/system/file-system.ts';
import { systemFiles } from '../../src/system/file-system.ts';
import { Failure } from '../../src/errors/failure.ts';
import { openOutput } from '../../src/durable/publish.ts';
import type { Existing } from '../../src/durable/output.ts';
import { isTemporaryName } from '../../src/durable/files.ts';
import type { Fault } from '../harness/failing-files.ts';
import { Killed, forEachEffect } from '../harness/failing-files.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { testSystem, namesIn, textOf } from './file-simulation.ts';

const OLD = 'the older file, which is good';
const CHUNKS = ['the new ', 'file, ', 'in some ', 'chunks'].map((text) => Buffer.from(text));
const NEW = Buffer.concat(CHUNKS).toString();

interface Case {
  readonly name: string;
  readonly existing: Existing;
  readonly old: string | undefined;
}

const CASES: readonly Case[] = [
  { name: 'a new file', existing: 'replace', old: undefined },
  { name: 'a file that replaces another', existing: 'replace', old: OLD },
  { name: 'a new file that must not replace', existing: 'refuse', old: undefined },
  { name: 'a file with a number', existing: 'number', old: OLD },
];

const FAULTS: readonly Fault[] = [
  { kind: 'full' },
  { kind: 'error', code: 'ENOSPC' },
  { kind: 'error', code: 'EIO' },
  { kind: 'error', code: 'EACCES' },
];

async function speak(file: string, existing: Existing, files: FileSystem): Promise<void> {
  const output = await openOutput(testSystem({ files }), { path: file, existing });
  try {
    for (const chunk of CHUNKS) await output.write(chunk);
    await output.publish();
  } catch (error) {
    await output.abandon();
    throw error;
  }
}

async function prepare({ old }: Case) {
  const { out } = await createSandbox();
  const file = path.join(out, 'hello.mp3');
  if (old !== undefined) await writeFile(file, old);
  return { out, file };
}

describe('whatever goes wrong at whatever moment', () => {
  describe.each(CASES)('$name', (example) => {
    it.each(FAULTS)(
      'is whole or not there, the older file is intact, and nothing else is left: $kind $code',
      async (fault) => {
        const effects = await forEachEffect({
          fault,
          prepare: () => prepare(example),
          scenario: ({ file }, files) => speak(file, example.existing, files),
          async check({ out, file }, { at, struck, error, open }) {
            expect(open, `left open at ${struck} ${at}`).toEqual([]);
            const published = example.existing === 'number' ? file.replace('.mp3', '-2.mp3') : file;
            const found = await textOf(published);
            const before = published === file ? example.old : undefined;
            expect([before, NEW], `${struck} ${at}`).toContain(found);
            if (published !== file) expect(await textOf(file)).toBe(example.old);
            const expected = new Set([file, published]);
            // Only where the removal itself fails can something be left behind.
            const debris = (await namesIn(out)).filter(
              (name) => !expected.has(path.join(out, name)),
            );
            expect(
              debris.filter(() => struck !== 'unlink'),
              `${struck} ${at}`,
            ).toEqual([]);
            expect(debris.every((name) => isTemporaryName(name))).toBe(true);
            if (struck === undefined) expect([error, found]).toEqual([undefined, NEW]);
            if (error === undefined) expect(found, `success at ${struck} ${at}`).toBe(NEW);
            else expect(error, `${struck} ${at}`).toMatchObject({ exitCode: 30 });
            if (error !== undefined) expect(error).toBeInstanceOf(Failure);
          },
        });
        expect(effects).toEqual(expect.arrayContaining(['create', 'write', 'sync', 'close']));
      },
    );

    it('is whole or not there when the process is killed', async () => {
      await forEachEffect({
        fault: { kind: 'kill' },
        prepare: () => prepare(example),
        scenario: ({ file }, files) => speak(file, example.existing, files),
        async check({ out, file }, { at, struck, error }) {
          const published = example.existing === 'number' ? file.replace('.mp3', '-2.mp3') : file;
          const before = published === file ? example.old : undefined;
          expect([before, NEW], `${struck} ${at}`).toContain(await textOf(published));
          const rest = (await namesIn(out)).filter((name) => isTemporaryName(name));
          expect(rest.length).toBeLessThanOrEqual(1);
          if (struck === undefined) expect(error).toBeUndefined();
          if (error !== undefined) {
            const cause = error instanceof Failure ? error.cause : error;
            expect(cause).toBeInstanceOf(Killed);
          }
        },
      });
    });
  });

  it('what did not get onto a full disk is handed out with what did', async () => {
    await forEachEffect({
      fault: { kind: 'full' },
      prepare: () => prepare({ name: '', existing: 'replace', old: OLD }),
      async scenario({ file }, files) {
        const output = await openOutput(testSystem({ files }), { path: file });
        let given = '';
        try {
          for (const chunk of CHUNKS) {
            given += chunk.toString();
            const own = Buffer.from(chunk);
            await output.write(own, () => own.fill(0x5a));
            await nextTurn();
          }
          await output.publish();
        } catch (error) {
          const released = await output.release();
          if (released === undefined) throw error;
          const inFile = (await textOf(released.path)) ?? '';
          expect(inFile.length).toBe(released.bytes);
          expect(inFile + Buffer.concat(released.rest).toString()).toBe(given);
          expect(given.length).toBe(output.bytes);
          throw error;
        }
      },
      async check({ file }, { error }) {
        expect([OLD, NEW]).toContain(await textOf(file));
        if (error !== undefined) expect(error).toMatchObject({ exitCode: 30 });
      },
    });
  });
});

/** Lets a write behind come to its end, or its fault, before the next chunk is given. */
async function nextTurn(): Promise<void> {
  await systemFiles.stat('.');
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
}

describe('a large file', () => {
  it.each([
    { name: 'is not published after a failed sync while it was written', code: 'EIO' },
    { name: 'is published on a system that cannot sync files', code: 'EINVAL' },
  ])('$name', async ({ code }) => {
    const { out } = await createSandbox();
    const file = path.join(out, 'hello.mp3');
    let syncs = 0;
    const files: FileSystem = {
      ...systemFiles,
      async open(...args) {
        const handle = await systemFiles.open(...args);
        const sync = handle.sync.bind(handle);
        handle.sync = async () => {
          syncs += 1;
          // As the system does, it reports the failure once.
          if (syncs === 1) throw Object.assign(new Error('sync'), { code });
          await sync();
        };
        return handle;
      },
    };
    const chunk = Buffer.alloc(1024 * 1024, 'sound');
    const output = await openOutput(testSystem({ files }), { path: file });
    for (let count = 0; count < 80; count += 1) await output.write(chunk);
    expect(syncs).toBe(1);
    const published = output.publish();
    if (code === 'EIO') await expect(published).rejects.toMatchObject({ exit: 'output' });
    else await expect(published).resolves.toMatchObject({ bytes: 80 * chunk.length });
    await output.abandon();
    expect(await namesIn(out)).toEqual(code === 'EIO' ? [] : ['hello.mp3']);
  });
});
