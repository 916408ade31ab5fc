import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ServiceAddress } from '../../src/api/request.ts';
import type { AudioResponse } from '../../src/api/resources/speech.ts';
import type { FileSystem } from '../../src/system/file-system.ts';
import { systemFiles } from '../../src/system/file-system.ts';
import { deliver } from '../../src/paid/deliver.ts';
import type { BoughtSpeech } from '../../src/paid/reuse/reuse-store.ts';
import { ReuseStore } from '../../src/paid/reuse/reuse-store.ts';
import { testSystem, namesIn } from '../files/file-simulation.ts';
import { forEachEffect } from '../harness/failing-files.ts';
import { createSandbox } from '../harness/sandbox.ts';

const CHUNKS = [30, 70, 100_000, 2].map((size, index) => Buffer.alloc(size, 97 + index));
const WHOLE = Buffer.concat(CHUNKS);
const ADDRESS: ServiceAddress = {
  kind: 'hosted',
  baseUrl: new URL('https://api.example.com'),
  realtimeUrl: new URL('wss://api.example.com'),
  apiKey: 'a-key',
};
const SPEECH: BoughtSpeech = { surface: 'v3', order: { text: 'Hello.', voiceId: 'v' } };

/** A response that writes over the chunks that it gets back. */
function response(more: Partial<AudioResponse> = {}): AudioResponse {
  return {
    body: {
      async *[Symbol.asyncIterator]() {
        for (const chunk of CHUNKS) yield Buffer.from(chunk);
      },
    },
    contentType: 'audio/pcm',
    contentLength: undefined,
    pcm: { sampleRate: 24_000, channels: 1, bitDepth: 16 },
    framing: 'chunked',
    requestId: 'req_1',
    creditsUsed: 12,
    quotaRemaining: 3,
    ignoredParameters: ['pitch'],
    unspoken: [{ start: 1, end: 3 }],
    discard: () => undefined,
    reuse: (chunk) => void chunk.fill(0),
    ...more,
  };
}

async function simulation() {
  const { state } = await createSandbox();
  const folder = path.join(state, 'foley', 'reuse');
  const warnings: string[] = [];
  const open = (
    more: { files?: FileSystem; address?: ServiceAddress; maxBytes?: number } = {},
  ): ReuseStore =>
    new ReuseStore({
      system: testSystem({ files: more.files ?? systemFiles }),
      folder,
      maxBytes: 10_000_000,
      address: ADDRESS,
      warn: (sentence) => warnings.push(sentence),
      ...more,
    });
  return { folder, open, warnings };
}

/** Delivers a response and stores a copy; returns the delivered bytes. */
async function buy(
  store: ReuseStore,
  speech = SPEECH,
  answer: AudioResponse = response(),
): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  const sink = {
    async write(chunk: Uint8Array, onWritten?: () => void) {
      chunks.push(Buffer.from(chunk));
      onWritten?.();
    },
  };
  await deliver(answer, 'pcm', sink, undefined, store.copyOf(speech, answer));
  return Buffer.concat(chunks);
}

/** Reads found audio, and returns whether it is the bought audio; undefined if none was found. */
async function isWhole(audio: AudioResponse | undefined): Promise<boolean | undefined> {
  if (audio === undefined) return undefined;
  const chunks: Uint8Array[] = [];
  for await (const chunk of audio.body) chunks.push(chunk);
  return Buffer.concat(chunks).equals(WHOLE);
}

function embeddedAt(port: number): ServiceAddress {
  const baseUrl = new URL(`http://127.0.0.1:${port}`);
  return { ...ADDRESS, kind: 'embedded', baseUrl, apiKey: `key-${port}` };
}

function saying(text: string): BoughtSpeech {
  return { ...SPEECH, order: { ...SPEECH.order, text } };
}

describe('the store of bought audio', () => {
  test('returns the bytes and the metadata of an equal request', async () => {
    const { open } = await simulation();
    await buy(open());
    const found = await open().find({
      surface: 'v3',
      // The order of the fields does not matter.
      order: { voiceId: 'v', text: 'Hello.' },
    });
    expect(found).toMatchObject({
      creditsUsed: 0,
      reused: { creditsSaved: 12 },
      requestId: 'req_1',
      pcm: { sampleRate: 24_000 },
      ignoredParameters: ['pitch'],
      unspoken: [{ start: 1, end: 3 }],
    });
    expect(await isWhole(found)).toBe(true);
  });

  test.each([
    ['text', { ...SPEECH, order: { ...SPEECH.order, text: 'Hello' } }, ADDRESS],
    ['voice', { ...SPEECH, order: { ...SPEECH.order, voiceId: 'w' } }, ADDRESS],
    ['model', { ...SPEECH, order: { ...SPEECH.order, modelId: 'm' } }, ADDRESS],
    ['speed', { ...SPEECH, order: { ...SPEECH.order, speed: 1.1 } }, ADDRESS],
    ['API version', { ...SPEECH, surface: 'v1' }, ADDRESS],
    ['account', SPEECH, { ...ADDRESS, apiKey: 'another-key' }],
    ['service', SPEECH, { ...ADDRESS, baseUrl: new URL('https://api.example.org') }],
    ['path of the service', SPEECH, { ...ADDRESS, baseUrl: new URL('https://api.example.com/b') }],
    ['word times', { ...SPEECH, needsWords: true }, ADDRESS],
  ] as const)('does not return audio for another %s', async (_, speech, address) => {
    const { open } = await simulation();
    await buy(open());
    expect(await open({ address }).find(speech)).toBeUndefined();
    expect(await isWhole(await open().find(SPEECH))).toBe(true);
  });

  test('tells models apart that a header names', async () => {
    const { open } = await simulation();
    const speech = { surface: 'compat-tts', order: { ...SPEECH.order, modelId: 'm' } } as const;
    await buy(open(), speech);
    const other = { ...speech, order: { ...speech.order, modelId: 'n' } };
    expect(await open().has(other)).toBe(false);
    expect(await open().has(speech)).toBe(true);
  });

  test('uses the audio of the embedded service whatever its port and key are', async () => {
    const { open } = await simulation();
    await buy(open({ address: embeddedAt(1) }));
    expect(await open({ address: embeddedAt(2) }).has(SPEECH)).toBe(true);
    expect(await open().has(SPEECH)).toBe(false);
  });

  test('returns word times', async () => {
    const { open } = await simulation();
    const words = [{ text: 'Hello.', startMs: 0, endMs: 500 }];
    const outcome = { words, isComplete: true, generationId: undefined };
    await buy(open(), SPEECH, response({ outcome }));
    const found = await open().find({ ...SPEECH, needsWords: true });
    expect(found?.outcome).toMatchObject({ words, isComplete: true });
    found?.discard();
  });

  test.each([{ kind: 'error', code: 'EIO' }, { kind: 'full' }, { kind: 'kill' }] as const)(
    'delivers all audio and trusts no unfinished copy, whichever file operation fails: %o',
    async (fault) => {
      const delivered: boolean[] = [];
      const stored: boolean[] = [];
      const effects = await forEachEffect({
        fault,
        prepare: simulation,
        async scenario({ open }, files) {
          delivered.push((await buy(open({ files }))).equals(WHOLE));
        },
        async check({ folder, open, warnings }, { open: leftOpen, struck }) {
          expect(leftOpen).toEqual([]);
          const found = await isWhole(await open().find(SPEECH));
          stored.push(found !== undefined);
          if (found === undefined) {
            const names = await namesIn(folder).catch((): string[] => []);
            expect(names.filter((name) => !name.startsWith('.foley-'))).toEqual([]);
          } else expect(found).toBe(true);
          if (struck === undefined) expect(warnings).toEqual([]);
          // Bought again, it is stored.
          await buy(open());
          expect(await isWhole(await open().find(SPEECH))).toBe(true);
        },
      });
      expect(effects).toContain('rename');
      expect(delivered).not.toContain(false);
      expect(new Set(stored)).toEqual(new Set([true, false]));
    },
  );

  test.each([{ kind: 'error', code: 'EIO' }, { kind: 'kill' }] as const)(
    'never returns wrong audio, whichever file operation of a reader fails: %o',
    async (fault) => {
      const read: unknown[] = [];
      await forEachEffect({
        fault,
        async prepare() {
          const scene = await simulation();
          await buy(scene.open());
          return scene;
        },
        async scenario({ open }, files) {
          // Reading the body may fail, as with any response.
          read.push(await isWhole(await open({ files }).find(SPEECH)));
        },
        async check({ open }, { open: leftOpen }) {
          expect(leftOpen).toEqual([]);
          expect(await isWhole(await open().find(SPEECH))).not.toBe(false);
        },
      });
      expect(new Set(read)).toEqual(new Set([true, undefined]));
    },
  );

  test('has at most the maximum size, also while many commands store audio', async () => {
    const { folder, open } = await simulation();
    const maxBytes = WHOLE.length * 10;
    const stores = Array.from({ length: 4 }, () => open({ maxBytes }));
    for (let turn = 0; turn < 8; turn += 1) {
      await Promise.all(stores.map((store, at) => buy(store, saying(`${turn} ${at}`))));
    }
    const names = await namesIn(folder);
    expect(names.length).toBeGreaterThan(4);
    expect(names.length).toBeLessThan(10);
    expect(await open().has(saying('7 3'))).toBe(true);
    expect(await open().has(saying('0 0'))).toBe(false);
  });
});
