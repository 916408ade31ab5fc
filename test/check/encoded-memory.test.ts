import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { encodeFile } from '../../src/audio/encode/encode-file.ts';
import { FILE_FORMATS } from '../../src/contract/values.ts';

const RATE = 16_000;
const SECONDS = 3_600;
/** An object for each packet of AAC would take five times as much. */
const MOST_BYTES = 2_000_000;

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

function heapBytes(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

test.each(FILE_FORMATS)(
  'an hour of %s does not stay in memory',
  { timeout: 300_000 },
  async (format) => {
    let [before, after] = [0, 0];
    async function* sound(): AsyncGenerator<Float32Array> {
      for (let second = 0; second <= SECONDS; second += 1) {
        yield new Float32Array(RATE);
        if (second === 300) before = heapBytes();
      }
      after = heapBytes();
    }
    const output = {
      bytes: 0,
      write: async ({ length }: Uint8Array) => void (output.bytes += length),
      overwrite: () => Promise.resolve(),
    };
    await encodeFile(format, sound(), { output, sampleRate: RATE });
    expect(before).toBeGreaterThan(0);
    expect(after - before).toBeLessThan(MOST_BYTES);
  },
);
