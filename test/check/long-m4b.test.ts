import { open } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { expect, test } from 'vitest';
import { encodeFile } from '../../src/audio/encode/encode-file.ts';
import { requireTool } from '../harness/require-tool.ts';
import { createSandbox } from '../harness/sandbox.ts';

const RATE = 8_000;
const HOURS = 22;
const HOUR_MS = 3_600_000;

async function* silence(): AsyncGenerator<Float32Array> {
  for (let second = 0; second < HOURS * 3_600; second += 1) yield new Float32Array(RATE);
}

test(
  'an audiobook of 22 hours has its duration and its last chapter',
  { timeout: 3_600_000 },
  async () => {
    const [ffmpeg, ffprobe] = [requireTool('ffmpeg'), requireTool('ffprobe')];
    const file = path.join((await createSandbox()).out, 'book.m4b');
    const handle = await open(file, 'w');
    const output = {
      bytes: 0,
      async write(data: Uint8Array) {
        await handle.write(data);
        output.bytes += data.length;
      },
      async overwrite(at: number, data: Uint8Array) {
        await handle.write(data, 0, data.length, at);
      },
    };
    const chapters = Array.from({ length: HOURS }, (_, hour) => ({
      title: `Hour ${hour}`,
      startMs: hour * HOUR_MS,
      endMs: (hour + 1) * HOUR_MS,
    }));
    const marks = { tags: { title: 'A long book' }, chapters: () => chapters };
    await encodeFile('m4b', silence(), { output, sampleRate: RATE, marks });
    await handle.close();
    const shown = ['-show_format', '-show_streams', '-show_chapters', '-of', 'json'];
    const { stdout } = await execa(ffprobe, ['-v', 'error', ...shown, file]);
    const found = Object(JSON.parse(stdout));
    expect(Number(found.format.duration)).toBeCloseTo(HOURS * 3_600, 2);
    expect(found.chapters.at(-1)).toMatchObject({
      start_time: '75600.000000',
      tags: { title: 'Hour 21' },
    });
    const near = ['-v', 'error', '-ss', '79195', '-i', file, '-f', 's16le', '-ac', '1', '-'];
    const { stdout: samples } = await execa({ encoding: 'buffer' })(ffmpeg, near);
    expect(samples.length / 2 / RATE).toBeCloseTo(5, 1);
  },
);
