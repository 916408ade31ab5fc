import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, stat } from 'node:fs/promises';
import { Socket } from 'node:net';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { EngineVoiceRecord } from '../../../../src/contract/engine.ts';
import { SOON } from '../../../binary/support/fixture.ts';
import { createSandbox } from '../../../harness/sandbox.ts';
import {
  misbehaving,
  MORSE,
  MORSE_VOICE,
  speak,
  underTest,
  untilRunning,
  wholeSpeech,
} from './engine-under-test.ts';
import type { WordMark } from '../../../../src/service/engine/speech-engine.ts';
import type { UnderTestOptions } from './engine-under-test.ts';

const IDLE_MS = 300_000;
const ENDING_MS = 2_000;

function morse(options: UnderTestOptions = {}) {
  return underTest([MORSE], { voice: MORSE_VOICE, ...options });
}

describe('the example engine', () => {
  it('says a text, and when each word of it', async () => {
    const { engine } = morse();

    const { samples, sampleRate, words } = await wholeSpeech(engine, { text: '— SOS 🎉 e!' });

    expect(sampleRate).toBe(8_000);
    expect(words).toEqual([
      { start: 2, end: 5, startMs: 0, endMs: 1620 },
      { start: 8, end: 9, startMs: 2040, endMs: 2100 },
    ]);
    expect(samples).toHaveLength((8_000 * (34 + 8) * 60) / 1000);
    expect(loudest(samples)).toBeCloseTo(9_000 / 32_768, 2);
  });

  it('follows speed and pitch', async () => {
    const { engine } = morse();
    const [normal, fast, high] = [
      await wholeSpeech(engine, { text: 'e' }),
      await wholeSpeech(engine, { text: 'e', speed: 2 }),
      await wholeSpeech(engine, { text: 'e', pitch: 12 }),
    ];
    expect(fast.samples).toHaveLength(normal.samples.length / 2);
    expect(crossings(high.samples)).toBeGreaterThanOrEqual(2 * crossings(normal.samples) - 2);
    expect(high.samples).toHaveLength(normal.samples.length);
  });

  it('cannot say a text without letters', async () => {
    const { engine } = morse();
    await expect(wholeSpeech(engine, { text: '…' })).rejects.toMatchObject({
      reason: 'unspeakable',
    });
    expect((await wholeSpeech(engine, { text: 'e' })).samples).not.toHaveLength(0);
  });

  it('takes text with half a character in it', async () => {
    const { engine } = morse();
    const { words } = await wholeSpeech(engine, { text: '\ud800 e \udc00' });
    expect(words).toMatchObject([{ start: 2, end: 3 }]);
  });

  it('keeps to what a long text asks for', async () => {
    const { engine } = morse();
    const { words } = await wholeSpeech(engine, { text: '0'.repeat(200), speed: 0.5 });
    expect(words.at(-1)?.end).toBe(200);
  });

  it('stops when it is told to, even if it never waits for its output', async () => {
    const file = path.join((await createSandbox()).out, 'speech');
    const output = await open(file, 'w');
    onTestFinished(() => output.close());
    const child = spawn(process.execPath, [MORSE], { stdio: ['pipe', output.fd, 'inherit'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    const text = 'cq '.repeat(5_000);
    const whole = 5_000 * 34 * 480 * 2;
    child.stdin?.write(`${JSON.stringify({ type: 'speak', id: 1, text, speed: 1, pitch: 0 })}\n`);
    await vi.waitFor(async () => expect((await stat(file)).size).toBeGreaterThan(0), SOON);

    child.stdin?.end('{"type":"cancel","id":1}\n');

    await once(child, 'close');
    expect((await stat(file)).size).toBeLessThan(whole / 2);
  });
});

describe('a process engine', () => {
  it('starts its process for the first request, and keeps it', async () => {
    const { engine, children } = morse();
    const { textNormalization: _own, ...voice } = MORSE_VOICE;
    expect(engine.voices).toEqual([{ ...voice, name: 'key', reads: false }]);
    expect(children).toHaveLength(0);
    await wholeSpeech(engine, { text: 'e' });
    await wholeSpeech(engine, { text: 'e' });
    expect(children).toHaveLength(1);
  });

  it('gets the words to speak from foley, and its word times become those of the written words', async () => {
    const { engine } = morse({ voice: { ...MORSE_VOICE, textNormalization: false } });
    const text = '😀 Dr. Smith paid $3.50 for 2 apples.';
    const saidBy = (words: readonly WordMark[]) =>
      words.map(({ start, end }) => Array.from(text).slice(start, end).join(''));
    const read = await wholeSpeech(engine, { text });
    expect(saidBy(read.words)).toEqual(['Dr', 'Smith', 'paid', '$3.50', 'for', '2', 'apples']);
    const price = read.words[3];
    expect((price?.endMs ?? 0) - (price?.startMs ?? 0)).toBeGreaterThan(5_000);
    const written = await wholeSpeech(engine, { text, textNormalization: false });
    expect(written.samples.length).toBeLessThan(read.samples.length);
    expect(engine.voices).toMatchObject([{ reads: true }]);
  });

  it('starts it before that when it is warmed up', async () => {
    const { engine, children } = morse();
    await engine.warmUp();
    await engine.warmUp();
    await wholeSpeech(engine, { text: 'e' });
    expect(children).toHaveLength(1);
  });

  it('refuses a voice that it does not have without starting anything', async () => {
    const { engine, children } = morse();
    await expect(wholeSpeech(engine, { voice: 'drum' })).rejects.toThrow('has no voice drum');
    expect(children).toHaveLength(0);
  });

  it('leaves audio that is not read in the engine', async () => {
    const { engine, children } = misbehaving('speaks for ever');
    const speech = speak(engine, { text: 'x'.repeat(100_000) });
    expect((await speech.next()).value?.samples).toHaveLength(1600);

    await wholeSpeech(morse().engine, { text: 'e' });

    const stdout = children[0]?.stdout;
    expect(stdout).toBeInstanceOf(Socket);
    expect(stdout instanceof Socket && stdout.bytesRead).toBeLessThan(512 * 1024);
    await speech.return?.();
  });

  it('stops at once when it is aborted, and uses the process again', async () => {
    const { engine, children } = morse();
    const listener = new AbortController();
    const speech = speak(engine, { text: 'cq '.repeat(5_000) }, listener.signal);
    await speech.next();

    const reason = new Error('gone');
    listener.abort(reason);

    await expect(speech.next()).rejects.toBe(reason);
    await wholeSpeech(engine, { text: 'e' });
    expect(children).toHaveLength(1);
  });

  it('stops while it waits for the next chunk', async () => {
    const { engine, clock } = misbehaving('is silent');
    await engine.warmUp();
    const listener = new AbortController();
    const next = speak(engine, {}, listener.signal).next();
    await untilRunning(clock, 60_000);

    listener.abort(new Error('gone'));

    await expect(next).rejects.toThrow('gone');
  });

  it('does nothing for a signal that is aborted already', async () => {
    const { engine, children } = morse();
    await expect(speak(engine, {}, AbortSignal.abort(new Error('gone'))).next()).rejects.toThrow(
      'gone',
    );
    expect(children).toHaveLength(0);
  });

  it('stops when the listener leaves the loop', async () => {
    const { engine, children } = morse();
    const request = { text: 'cq '.repeat(5_000), voice: 'key', speed: 1, pitch: 0 };
    for await (const { samples } of engine.synthesize(request, new AbortController().signal)) {
      expect(samples).not.toHaveLength(0);
      break;
    }
    await wholeSpeech(engine, { text: 'e' });
    expect(children).toHaveLength(1);
  });

  it('speaks one request a process, and as many at a time as it may have processes', async () => {
    const { engine, children } = morse({ processes: 2 });
    const speeches = [1, 2, 3].map(() => speak(engine, { text: 'cq '.repeat(5_000) }));
    await Promise.all(speeches.slice(0, 2).map((speech) => speech.next()));

    const third = speeches[2]?.next();
    expect(children).toHaveLength(2);
    await speeches[0]?.return?.();

    expect((await third)?.value?.samples).not.toHaveLength(0);
    expect(children).toHaveLength(2);
    for (const speech of speeches) await speech.return?.();
  });

  it('lets a request that waits for a process give up', async () => {
    const { engine } = morse();
    const first = speak(engine, { text: 'cq '.repeat(5_000) });
    await first.next();
    const listener = new AbortController();
    const second = speak(engine, {}, listener.signal).next();

    listener.abort(new Error('impatient'));

    await expect(second).rejects.toThrow('impatient');
    await first.return?.();
    expect((await wholeSpeech(engine, { text: 'e' })).samples).not.toHaveLength(0);
  });

  it('starts another process for who waits when one breaks', async () => {
    const { engine, clock, children } = misbehaving('is silent');
    const first = wholeSpeech(engine);
    first.catch(() => undefined);
    const second = wholeSpeech(engine);
    second.catch(() => undefined);
    await untilRunning(clock, 60_000);
    clock.advance(60_000);
    await expect(first).rejects.toThrow('silent');
    await children[0]?.ended;
    await untilRunning(clock, 60_000);
    clock.advance(60_000);
    await expect(second).rejects.toThrow('silent');
    expect(children).toHaveLength(2);
  });

  it('ends a process that has been idle for five minutes', async () => {
    const { engine, clock, children } = morse();
    await wholeSpeech(engine, { text: 'e' });
    await untilRunning(clock, IDLE_MS);

    clock.advance(IDLE_MS);

    await children[0]?.ended;
    await wholeSpeech(engine, { text: 'e' });
    expect(children).toHaveLength(2);
  });

  it('fails what is being spoken and what waits when it is closed', async () => {
    const { engine, children } = morse();
    const speaking = speak(engine, { text: 'cq '.repeat(5_000) });
    await speaking.next();
    const waiting = speak(engine).next();
    waiting.catch(() => undefined);

    await engine.close();

    await expect(drained(speaking)).rejects.toMatchObject({ reason: 'failed' });
    await expect(waiting).rejects.toThrow('closed');
    await expect(wholeSpeech(engine)).rejects.toThrow('closed');
    await engine.warmUp();
    expect(children).toHaveLength(1);
  });

  it('kills a process that does not end by itself when it is closed', async () => {
    const { engine, clock, children } = misbehaving('is silent and stays');
    await engine.warmUp();

    const closing = engine.close();
    await untilRunning(clock, ENDING_MS);
    clock.advance(ENDING_MS);

    await closing;
    expect(await children[0]?.ended).toMatchObject({ how: 'was ended by SIGKILL' });
  });
});

async function drained(speech: AsyncIterator<unknown>): Promise<void> {
  while ((await speech.next()).done !== true);
}

function loudest(samples: Float32Array): number {
  return samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
}

function crossings(samples: Float32Array): number {
  return samples.filter((sample, at) => sample > 0 && (samples[at - 1] ?? 0) <= 0).length;
}

const unspoken = (voice: Partial<EngineVoiceRecord>, textNormalization = true) =>
  underTest([], {
    voice: { ...MORSE_VOICE, textNormalization: false, ...voice },
  }).engine.unspoken?.({
    text: 'Hello 你好, 10 μm',
    voice: 'key',
    speed: 1,
    pitch: 0,
    textNormalization,
  });

describe('an engine', () => {
  it('knows what it leaves out only if the voice declares its scripts', () => {
    const asWritten = [
      { start: 6, end: 8 },
      { start: 13, end: 14 },
    ];
    expect(unspoken({})).toBeUndefined();
    expect(unspoken({ scripts: ['Latn'] })).toEqual([{ start: 6, end: 8 }]);
    expect(unspoken({ scripts: ['Latn'] }, false)).toEqual(asWritten);
    expect(unspoken({ scripts: ['Latn'], textNormalization: true })).toEqual(asWritten);
    expect(unspoken({ scripts: ['Latn', 'Hani', 'Grek'] })).toEqual([]);
  });
});
