import { expect, it } from 'vitest';
import { systemFiles } from '../../src/system/file-system.ts';
import { Failure } from '../../src/errors/failure.ts';
import type { SpokenPart } from '../../src/paid/parts/speak-parts.ts';
import { speakParts } from '../../src/paid/parts/speak-parts.ts';
import { WholeAudio } from '../../src/paid/parts/whole-audio.ts';
import { newClient } from '../api/new-client.ts';

const RATE = 8_000;
const WORD = { text: 'Hello', startMs: 0, endMs: 0 };

/** A part of one sample, which is spoken when `spoken` resolves. */
function partOf(sample: number, spoken: Promise<boolean>): SpokenPart {
  return {
    order: { text: 'Hello.', voiceId: 'v' },
    speak: () => spoken,
    leaveOut: () => Promise.resolve(),
    async join(whole) {
      await whole.write(Buffer.from(Int16Array.of(sample).buffer));
      await whole.endPart();
    },
    words: () => Promise.resolve({ isComplete: true, words: [WORD] }),
  };
}

function failureOf(billed: 'no' | 'unknown'): Failure {
  return new Failure('a failure of the test', { code: billed, exit: 'service', billed });
}

async function speakAll(parts: readonly SpokenPart[], silences: readonly number[] = []) {
  const written: Uint8Array[] = [];
  const whole = new WholeAudio({
    files: systemFiles,
    output: undefined,
    format: 'pcm',
    stream: { write: async (chunk) => void written.push(Uint8Array.from(chunk)) },
    sampleRate: () => RATE,
  });
  const joined: (readonly [number, boolean])[] = [];
  const options = {
    client: newClient('http://127.0.0.1:1').client,
    concurrency: parts.length,
    ahead: Infinity,
    silences,
    onJoined: async (index: number, hasAudio: boolean) => void joined.push([index, hasAudio]),
    inPart: (failure: Failure, index: number) =>
      new Failure(`part ${index}`, { code: failure.code, exit: 'service', billed: failure.billed }),
  };
  const { speech } = await speakParts(parts, whole, options);
  const bytes = Buffer.concat(written);
  const samples = [...new Int16Array(Uint8Array.from(bytes).buffer)];
  return { joined, samples, speech };
}

it('joins parts in their order, whichever is spoken first, with silences between them', async () => {
  const second = Promise.resolve(true);
  const first = second.then(async () => true);
  const { joined, samples, speech } = await speakAll([partOf(1, first), partOf(2, second)], [0, 1]);
  expect(samples).toEqual([1, ...Array.from({ length: RATE / 1_000 }, () => 0), 2]);
  expect(joined).toEqual([
    [0, true],
    [1, true],
  ]);
  expect(speech.words).toHaveLength(2);
});

it('joins the other parts if one was left out, and says that words have no times', async () => {
  const parts = [partOf(1, Promise.resolve(false)), partOf(2, Promise.resolve(true))];
  const { joined, samples, speech } = await speakAll(parts);
  expect(samples).toEqual([2]);
  expect(joined).toEqual([
    [0, false],
    [1, true],
  ]);
  expect(speech.isComplete).toBe(false);
});

it('reports the part that may be billed, though one that is not billed failed first', async () => {
  const parts = [
    partOf(1, Promise.reject(failureOf('no'))),
    partOf(2, Promise.reject(failureOf('unknown'))),
  ];
  await expect(speakAll(parts)).rejects.toMatchObject({ message: 'part 1', billed: 'unknown' });
});
