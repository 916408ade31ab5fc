import { open } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { expect, test, vi } from 'vitest';
import type * as aac from '../../src/audio/encode/aac.ts';
import { encodeMp4 } from '../../src/audio/encode/mp4.ts';
import { requireTool } from '../harness/require-tool.ts';
import { createSandbox } from '../harness/sandbox.ts';

const RATE = 8_000;
const HOURS = 22;
const HOUR_MS = 3_600_000;

// Encoding 22 hours takes minutes. Here, the packets of the first seconds of a silence are repeated.
vi.mock('../../src/audio/encode/aac.ts', async (original) => {
  const real = await original<typeof aac>();
  return {
    ...real,
    async *encodeAac(sound: AsyncIterable<Float32Array>, sampleRate: number) {
      const { value: chunk } = await real.encodeAac(silence(4), sampleRate).next();
      if (chunk === undefined) throw new Error('There are no packets.');
      let left = real.PACKET_SAMPLES;
      for await (const { length } of sound) {
        left += length;
        const count = Math.floor(left / real.PACKET_SAMPLES / chunk.packets.length);
        for (let each = 0; each < count; each += 1) yield chunk;
        left -= count * real.PACKET_SAMPLES * chunk.packets.length;
      }
      yield { ...chunk, packets: chunk.packets.slice(0, Math.ceil(left / real.PACKET_SAMPLES)) };
    },
  };
});

async function* silence(seconds: number): AsyncGenerator<Float32Array> {
  for (let second = 0; second < seconds; second += 1) yield new Float32Array(RATE);
}

test(
  'an audiobook of 22 hours has its duration and its last chapter',
  { timeout: 300_000 },
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
    await encodeMp4('m4b', silence(HOURS * 3_600), { output, sampleRate: RATE, marks });
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
