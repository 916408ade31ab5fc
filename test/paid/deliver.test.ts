import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { AudioResponse } from '../../src/api/resources/speech.ts';
import type { FileSystem } from '../../src/system/file-system.ts';
import { openOutput } from '../../src/durable/publish.ts';
import type { Spool, SpoolAbout } from '../../src/durable/spool.ts';
import { createSpool } from '../../src/durable/spool.ts';
import {
  deliver,
  FallbackSink,
  recoverableFile,
  recoverableStream,
} from '../../src/paid/deliver.ts';
import { mp3Of } from '../audio/samples.ts';
import { testSystem } from '../files/file-simulation.ts';
import { forEachEffect } from '../harness/failing-files.ts';
import { createSandbox } from '../harness/sandbox.ts';

const ABOUT: SpoolAbout = {
  what: 'speech',
  extension: 'pcm',
  output: 'hello.pcm',
  requestId: 'req_1',
  creditsUsed: 12,
  operation: null,
  problem: null,
};
/** The first chunk is too short to recognize the format. */
const CHUNK_SIZES = [30, 70, 400, 2, 1_000, 8];
const WHOLE = Buffer.concat(CHUNK_SIZES.map(chunkOf));

function chunkOf(size: number, index: number): Buffer {
  return Buffer.alloc(size, String.fromCodePoint(97 + index));
}

async function* body(): AsyncGenerator<Uint8Array> {
  for (const chunk of CHUNK_SIZES.map(chunkOf)) {
    yield chunk;
    await nextTurn();
  }
}

const RESPONSE = {
  contentLength: undefined,
  pcm: undefined,
  framing: 'chunked',
  requestId: 'req_1',
  creditsUsed: 12,
  quotaRemaining: undefined,
  ignoredParameters: [],
  discard: () => undefined,
} as const;

/** An answer that writes over what it is given back, as it may. */
function forgetfulAnswer(): { readonly answer: AudioResponse; readonly givenBack: () => number } {
  let givenBack = 0;
  const answer: AudioResponse = {
    ...RESPONSE,
    body: { [Symbol.asyncIterator]: body },
    contentType: 'audio/pcm',
    reuse(chunk) {
      givenBack += chunk.length;
      chunk.fill(0x5a);
    },
  };
  return { answer, givenBack: () => givenBack };
}

async function simulation(files?: FileSystem) {
  const { out, state } = await createSandbox();
  const deps = testSystem(files === undefined ? {} : { files });
  const folder = path.join(state, 'foley', 'spool');
  const spool = createSpool(testSystem(), folder);
  return { deps, folder, spool, file: path.join(out, 'hello.pcm') };
}

describe('audio whose memory is used again', () => {
  test('is given back as it is written, and comes whole into the file', async () => {
    const { deps, file } = await simulation();
    const { answer, givenBack } = forgetfulAnswer();
    const output = await openOutput(deps, { path: file });
    await deliver(answer, 'pcm', rescuing(recoverableFile(output)), undefined);
    await output.publish();
    expect(WHOLE.equals(await readFile(file))).toBe(true);
    expect(givenBack()).toBe(WHOLE.length);
  });

  test('is whole in the spool when the disk is full', async () => {
    const asked = new Set<string>();
    const effects = await forEachEffect({
      fault: { kind: 'full' },
      prepare: () => simulation(),
      async scenario({ file, spool }, files) {
        const output = await openOutput(testSystem({ files }), { path: file });
        asked.add(file);
        const { answer } = forgetfulAnswer();
        const sink = rescuing(recoverableFile(output), spool);
        await deliver(answer, 'pcm', sink, undefined);
        if (sink.failure === undefined) await output.publish().catch((error) => sink.refuse(error));
        if (sink.failure === undefined) return;
        await sink.save({ complete: true, problem: 'no room' });
        throw sink.failure;
      },
      async check({ file, spool }) {
        if (!asked.has(file)) return;
        const [kept] = await spool.list();
        // A file that has its name has all of it, even if its folder could not be brought to the disk.
        expect(WHOLE.equals(await readFile(kept?.path ?? file))).toBe(true);
      },
    });
    expect(effects).toContain('write');
  });

  test('leaves no file of the spool open when the spool fails too', async () => {
    await forEachEffect({
      fault: { kind: 'full' },
      prepare: () => simulation(),
      async scenario({ folder }, files) {
        const spool = createSpool(testSystem({ files }), folder);
        const sink = rescuing(
          recoverableStream(async () => undefined, 10_000_000),
          spool,
        );
        // Larger than the buffer of the file, so that a write reports the fault of an earlier one.
        for (let turn = 0; turn < 3; turn += 1) await sink.write(Buffer.alloc(1 << 21));
        await sink.save({ complete: true, problem: 'no reader' });
      },
      async check(_simulation, { at, struck, open }) {
        expect(open, `${struck} ${at}`).toEqual([]);
      },
    });
  });

  test('is not given back by a stream that remembers what went into it', async () => {
    const { spool } = await simulation();
    const { answer, givenBack } = forgetfulAnswer();
    const sink = rescuing(
      recoverableStream(async () => undefined, 10_000),
      spool,
    );
    await deliver(answer, 'pcm', sink, undefined);
    expect(givenBack()).toBe(0);
    const kept = await sink.save({ complete: true, problem: 'no reader' });
    expect(WHOLE.equals(await readFile(kept?.path ?? ''))).toBe(true);
  });
});

describe('endless mp3 audio without --max-bytes', () => {
  test.each([
    ['a short text', 'Hello', 256 * 1024 * 1024],
    // 2,500 seconds at 12 characters a second, 16,000 bytes for each, and 1,024 bytes.
    ['a long text', 'a'.repeat(30_000), 8 * (2_500 * 16_000 + 1_024)],
  ])('of %s stops at the default limit', async (_name, text, limit) => {
    const chunk = await mp3Of(60);
    const written = await endlessAudio(chunk, text, `the audio is longer than ${limit} bytes`);
    expect(written).toBeGreaterThan(limit);
    expect(written).toBeLessThanOrEqual(limit + chunk.length);
  });
});

/** Delivers `chunk` again and again until `deliver` throws a Failure with `problem`. Returns the written bytes. */
async function endlessAudio(chunk: Uint8Array, text: string, problem: string): Promise<number> {
  let written = 0;
  const destination = {
    async write({ length }: Uint8Array) {
      written += length;
    },
  };
  const answer: AudioResponse = {
    ...RESPONSE,
    contentType: 'audio/mpeg',
    body: {
      async *[Symbol.asyncIterator]() {
        for (;;) yield chunk;
      },
    },
  };
  await expect(deliver(answer, 'mp3', destination, text)).rejects.toMatchObject({
    message: expect.stringContaining(problem),
    code: 'bad_answer',
    exit: 'badAnswer',
  });
  return written;
}

function rescuing(sink: ConstructorParameters<typeof FallbackSink>[0], spool?: Spool) {
  return new FallbackSink(
    sink,
    async () => {
      if (spool === undefined) throw new Error('there was nothing to keep');
      return spool;
    },
    () => ABOUT,
  );
}

async function nextTurn(): Promise<void> {
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
}
