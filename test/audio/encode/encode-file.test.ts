import { expect, test } from 'vitest';
import { encodeFile } from '../../../src/audio/encode/encode-file.ts';
import { Pipe } from '../../../src/audio/encode/pipe.ts';

const RATE = 24_000;

test.each(['flac', 'm4a', 'opus', 'ogg', 'mp3', 'wav'] as const)(
  '%s fails with the error of its output',
  async (format) => {
    const output = {
      bytes: 0,
      write: () => Promise.reject(new Error('the disk is full')),
      overwrite: () => Promise.resolve(),
    };
    const sound = new Pipe<Float32Array, number>((samples) =>
      encodeFile(format, samples, { output, sampleRate: RATE }),
    );
    const speak = async (): Promise<void> => {
      for (let second = 0; second < 60; second += 1) await sound.write(new Float32Array(RATE));
      await sound.end();
    };
    await expect(speak()).rejects.toThrow('the disk is full');
  },
);
