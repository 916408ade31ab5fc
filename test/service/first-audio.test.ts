import { describe, expect, it } from 'vitest';
import { EngineRegistry } from '../../src/service/engine/speech-engine.ts';
import { testService, voiceId } from './support/test-service.ts';
import { toneEngine } from './support/tone-engine.ts';

const SENTENCE = 'The sound of this sentence is there at once. ';
const LONGEST = SENTENCE.repeat(Math.floor(10_000 / SENTENCE.length));

/** A body that is read bit by bit. */
async function read(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  bytes: number,
): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for (let length = 0; length < bytes;) {
    const { done, value } = await reader.read();
    if (done) break;
    pieces.push(value);
    length += value.byteLength;
  }
  return Buffer.concat(pieces);
}

describe.each(['mp3', 'wav', 'ogg'])('the first audio of a %s', (format) => {
  it('is the same for the longest text as for its first sentence, and comes before the second', async () => {
    const engine = toneEngine({ wordMs: 200 });
    const { speak } = await testService({ engines: new EngineRegistry([engine]) });
    const order = { voiceId: voiceId('Clara'), modelId: 'vendor-s21pro', format };
    const alone = await speak({ ...order, text: SENTENCE });
    const whole = Buffer.from(await alone.arrayBuffer());
    const made = engine.chunksMade();
    const release = engine.holdBefore(1);
    const answer = await speak({ ...order, text: LONGEST });
    const reader = answer.body?.getReader();
    if (reader === undefined) throw new Error('There is no body.');
    // What an encoder keeps back until more comes, or writes at the end, is not among it.
    const first = await read(reader, whole.length / 4);
    expect(first.equals(whole.subarray(0, first.length))).toBe(true);
    expect(engine.chunksMade() - made).toBe(1);
    release();
    await reader.cancel();
  });
});
