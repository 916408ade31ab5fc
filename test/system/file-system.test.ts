import { existsSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { systemFiles } from '../../src/system/file-system.ts';
import { makeFifo } from '../harness/posix.ts';
import { createSandbox } from '../harness/sandbox.ts';
import { skipWithout } from '../harness/require-tool.ts';

describe('mkdir with recursive', () => {
  test('creates missing parents, and accepts an existing folder', async () => {
    const { out } = await createSandbox();
    const folder = path.join(out, 'a', 'b', 'c');
    for (const _attempt of [1, 2]) await systemFiles.mkdir(folder, { recursive: true });
    expect(statSync(folder).isDirectory()).toBe(true);
    await expect(systemFiles.mkdir(folder)).rejects.toMatchObject({ code: 'EEXIST' });
  });

  test('may create folders with the same parents at the same time', async () => {
    const { out } = await createSandbox();
    for (const round of Array.from({ length: 20 }, (_, index) => String(index))) {
      const parent = path.join(out, round, 'a', 'b');
      const folders = ['c', 'c', 'd', 'e', 'f', 'g'].map((name) => path.join(parent, name));
      await Promise.all(folders.map((folder) => systemFiles.mkdir(folder, { recursive: true })));
      expect(folders.every((folder) => existsSync(folder))).toBe(true);
    }
  });

  test('reports a file in the place of the folder or of a parent', async () => {
    const { out } = await createSandbox();
    const file = path.join(out, 'file');
    writeFileSync(file, '');
    const options = { recursive: true };
    await expect(systemFiles.mkdir(file, options)).rejects.toMatchObject({ code: 'EEXIST' });
    await expect(systemFiles.mkdir(path.join(file, 'a'), options)).rejects.toThrow(
      /ENOTDIR|ENOENT/,
    );
  });

  test('reports a folder that cannot be created below /proc', async () => {
    if (!existsSync('/proc/self')) skipWithout('/proc/PID/status');
    const made = systemFiles.mkdir('/proc/foley/cache', { recursive: true });
    await expect(made).rejects.toMatchObject({ code: 'ENOENT' });
  });
});

describe('an open file', () => {
  test('is closed when its running operations have ended', async () => {
    const { out } = await createSandbox();
    const fifo = path.join(out, 'fifo');
    makeFifo(fifo);
    const file = await systemFiles.open(fifo, 'r+');
    const order: string[] = [];
    const reading = file
      .read(Buffer.alloc(10), 0, 10)
      .then(({ bytesRead }) => order.push(`read ${bytesRead}`));
    const closing = file.close().then(() => order.push('closed'));
    expect(file.fd).toBe(-1);
    const other = await systemFiles.open(fifo, 'r+');
    await other.write(Buffer.from('hello'));
    await Promise.all([reading, closing, other.close()]);
    expect(order).toEqual(['read 5', 'closed']);
  });

  test('that is closed refuses every operation with EBADF, and may be closed again', async () => {
    const { out } = await createSandbox();
    const file = await systemFiles.open(path.join(out, 'file'), 'wx');
    await file.close();
    await expect(file.write(Buffer.from('x'))).rejects.toMatchObject({ code: 'EBADF' });
    await expect(file.stat()).rejects.toMatchObject({ code: 'EBADF' });
    await expect(buffer(file.createReadStream())).rejects.toMatchObject({ code: 'EBADF' });
    await file.close();
  });

  test('is closed by the end of its stream, unless it is to stay open', async () => {
    const { out } = await createSandbox();
    const name = path.join(out, 'file');
    const content = Buffer.from(Array.from({ length: 1_000 }, (_, index) => index));
    writeFileSync(name, content);
    const file = await systemFiles.open(name);
    for (const _time of [1, 2]) {
      const again = file.createReadStream({ autoClose: false, highWaterMark: 7, start: 0 });
      expect(await buffer(again)).toEqual(content);
    }
    await file.read(Buffer.alloc(300), 0, 300);
    expect(await buffer(file.createReadStream())).toEqual(content.subarray(300));
    expect(file.fd).toBe(-1);
  });

  test('gives small chunks of a pipe in small buffers', async () => {
    const { out } = await createSandbox();
    const fifo = path.join(out, 'fifo');
    makeFifo(fifo);
    const writer = await systemFiles.open(fifo, 'r+');
    await writer.write(Buffer.alloc(5_000));
    const stream = (await systemFiles.open(fifo)).createReadStream({ highWaterMark: 1 << 20 });
    const sizes: number[] = [];
    for await (const chunk of stream) {
      if (sizes.length === 0) await writer.close();
      sizes.push(chunk.buffer.byteLength);
    }
    expect(sizes).toEqual([5_000]);
  });

  test('is closed when its stream is left early', async () => {
    const { out } = await createSandbox();
    const name = path.join(out, 'file');
    writeFileSync(name, 'x'.repeat(1_000));
    const file = await systemFiles.open(name);
    for await (const _chunk of file.createReadStream({ highWaterMark: 10 })) break;
    await expect.poll(() => file.fd).toBe(-1);
  });
});
