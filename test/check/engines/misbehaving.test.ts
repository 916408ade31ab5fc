import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { EngineError } from '../../../src/service/engine/speech-engine.ts';
import {
  MISBEHAVING,
  misbehaving,
  speak,
  underTest,
  untilRunning,
  wholeSpeech,
} from '../../service/engine/process/engine-under-test.ts';

const GREETING_MS = 60_000;
const SILENCE_MS = 60_000;
const CANCEL_MS = 2_000;
const ENDING_MS = 2_000;

describe('an engine process that breaks the protocol', () => {
  it.each([
    ['says hello twice', 'while it spoke: it sent a second hello message'],
    [
      'speaks version 3',
      'before it said hello: it speaks version 3 of the engine protocol; this foley speaks the versions 1 and 2',
    ],
    ['has a bad voice', 'its hello message is invalid: /voices/0/id must match pattern'],
    [
      'has too many voices',
      'its hello message is invalid: /voices must not have more than 1000 items',
    ],
    [
      'writes a log',
      String.raw`it wrote "Loading model\u0007..." to stdout, which is for messages only: write logs to stderr`,
    ],
    ['sends an array', 'it sent a message of the type undefined'],
    ['invents a type', 'it sent a message of the type "video"; allowed types: hello, audio'],
    ['mixes up ids', 'it sent audio for request 2 during request 1'],
    ['announces a terabyte', 'its audio message is invalid: /bytes must be <= 1048576'],
    ['announces half a sample', 'its audio message is invalid: /bytes must be multiple of 2'],
    ['sends an endless line', 'it sent a line of more than 1048576 bytes'],
    ['speaks for ever', 'it sent more than 66 s of speech for 12 characters'],
    ['sends words backwards', 'it sent a word from 0 to 2 after one that ends at 5'],
    [
      'sends words that are not there',
      'it sent a word from 0 to 9000 after one that ends at 0, in a text of 12 characters',
    ],
    ['sends words after the end', 'it sent a word that ends at 60000 ms in a speech of 100 ms'],
    ['sends times backwards', 'it sent a word from 20 to 10 ms'],
  ])('%s: fails the request, saying why, and is killed', async (behaviour, why) => {
    const { engine, children } = misbehaving(behaviour);

    await expect(wholeSpeech(engine)).rejects.toMatchObject({
      name: 'EngineError',
      reason: 'failed',
      message: expect.stringMatching(/^The engine tested broke the protocol /),
    });
    await expect(wholeSpeech(engine)).rejects.toThrow(why);

    expect(children).toHaveLength(2);
    expect(await children[0]?.ended).toEqual({ hasRun: true, how: 'was ended by SIGKILL' });
  });

  it('ends in the middle of a chunk: reports its exit code and its stderr', async () => {
    const { engine } = misbehaving('dies in the middle');

    const failure = await wholeSpeech(engine).catch((error: unknown) => error);

    expect(failure).toBeInstanceOf(EngineError);
    expect(failure).toMatchObject({
      reason: 'failed',
      message:
        'The engine tested ended with exit code 3 while it spoke; it wrote to stderr: out of memory.',
    });
  });

  it('closes its stdout and stays: is ended', async () => {
    const { engine, clock } = misbehaving('closes stdout');
    const speech = wholeSpeech(engine);
    speech.catch(() => undefined);
    await untilRunning(clock, ENDING_MS);

    clock.advance(ENDING_MS);

    await expect(speech).rejects.toThrow('was ended by SIGKILL while it spoke');
  });

  it('ends and leaves a child with its stdout: reports its exit code after two seconds', async () => {
    const file = path.join(await mkdtemp(path.join(tmpdir(), 'foley-child-')), 'pid');
    onTestFinished(() => rm(path.dirname(file), { recursive: true }));
    const { engine, clock } = underTest([MISBEHAVING, 'leaves a child with its stdout', file]);
    await engine.warmUp();
    const child = Number(await readFile(file, 'utf8'));
    onTestFinished(() => void process.kill(child, 'SIGKILL'));
    const speech = wholeSpeech(engine, { text: 'It fails.' });
    speech.catch(() => undefined);
    await untilRunning(clock, ENDING_MS);

    clock.advance(ENDING_MS);

    await expect(speech).rejects.toThrow('ended with exit code 3 while it spoke');
  });

  it('never says hello: is given up after a minute', async () => {
    const { engine, clock, children } = misbehaving('never says hello');
    const speech = wholeSpeech(engine);
    speech.catch(() => undefined);
    await untilRunning(clock, GREETING_MS);

    clock.advance(GREETING_MS - 1);
    expect(clock.running()).toContain(GREETING_MS);
    clock.advance(1);

    await expect(speech).rejects.toThrow('was silent for 60 s before it said hello');
    expect(await children[0]?.ended).toMatchObject({ how: 'was ended by SIGKILL' });
  });

  it('falls silent: is given up after a minute', async () => {
    const { engine, clock, children } = misbehaving('is silent and stays');
    await engine.warmUp();
    const speech = wholeSpeech(engine);
    speech.catch(() => undefined);
    await untilRunning(clock, SILENCE_MS);

    clock.advance(SILENCE_MS);

    await expect(speech).rejects.toThrow('was silent for 60 s while it spoke');
    expect(await children[0]?.ended).toMatchObject({ how: 'was ended by SIGKILL' });
  });

  it('is not silent when the consumer stops reading', async () => {
    const { engine, clock } = misbehaving('good');
    const speech = speak(engine);
    await speech.next();

    clock.advance(10 * SILENCE_MS);

    expect(await speech.next()).toMatchObject({ done: true });
  });

  it('continues after a cancel: is killed after two seconds', async () => {
    const { engine, clock, children } = misbehaving('ignores cancel');
    const listener = new AbortController();
    const speech = speak(engine, { text: 'x'.repeat(1000) }, listener.signal);
    await speech.next();

    listener.abort(new Error('enough'));
    await expect(speech.next()).rejects.toThrow('enough');
    await untilRunning(clock, CANCEL_MS);
    clock.advance(CANCEL_MS);

    expect(await children[0]?.ended).toMatchObject({ how: 'was ended by SIGKILL' });
  });

  it('cannot load: its reason is reported, safe to print', async () => {
    const { engine } = misbehaving('cannot load');
    await expect(wholeSpeech(engine)).rejects.toThrow(
      String.raw`The engine tested says: the model \x1b[2J is missing`,
    );
  });

  it('has another sample rate than when it was added: says to add it again', async () => {
    const { engine } = misbehaving('has another rate');
    await expect(wholeSpeech(engine)).rejects.toThrow('Add it again');
  });

  it('is followed by a fresh process', async () => {
    const { engine, children } = misbehaving('dies after each');
    await wholeSpeech(engine);
    await children[0]?.ended;
    expect(await wholeSpeech(engine)).toMatchObject({ sampleRate: 16_000 });
    expect(children).toHaveLength(2);
  });
});

describe('an engine process that keeps the protocol', () => {
  it('may send its bytes one by one', async () => {
    const { engine } = misbehaving('trickles');
    const { samples } = await wholeSpeech(engine);
    expect(samples).toEqual(new Float32Array(200).fill(0x0202 / 32_768));
  });

  it.each([
    ['says nothing', 'The engine tested made no sound for the text.'],
    ['cannot say it', 'The engine tested says: no vowels'],
  ])('%s: the text is unspeakable, and the process is kept', async (behaviour, message) => {
    const { engine, children } = misbehaving(behaviour);
    for (const _ of [1, 2]) {
      await expect(wholeSpeech(engine)).rejects.toMatchObject({ reason: 'unspeakable', message });
    }
    expect(children).toHaveLength(1);
  });

  it('gets none of the secrets in the environment', async () => {
    const { engine } = misbehaving('sends its environment', {
      env: {
        PATH: process.env['PATH'],
        HOME: '/home/x',
        LANG: 'C',
        FOLEY_API_KEY: 'sk-1',
        FOLEY_TARGET: 'local',
        OPENAI_API_KEY: 'sk-2',
        AWS_SECRET_ACCESS_KEY: 'sk-3',
        NODE_OPTIONS: '--require=/nowhere.js',
        HTTPS_PROXY: 'http://user:password@proxy',
      },
    });
    await expect(wholeSpeech(engine)).rejects.toThrow(/ it has HOME,LANG,PATH$/);
  });
});

describe('an engine that cannot be started', () => {
  it.each([
    ['a program that does not exist', { command: 'no-such-program-anywhere' }, 'ENOENT'],
    ['a folder that does not exist', { cwd: '/no/such/folder' }, 'ENOENT'],
    ['an argument that no program can have', { args: ['a\0b'] }, 'null bytes'],
  ])('%s is told', async (_, change, why) => {
    const { recordingLauncher, registrationOf } =
      await import('../../service/engine/process/engine-under-test.ts');
    const { createProcessEngine } =
      await import('../../../src/service/engine/process/process-engine.ts');
    const registration = { ...registrationOf(['x']), ...change };
    const engine = createProcessEngine({ registration, launch: recordingLauncher().launch });
    await engine.warmUp();
    await expect(wholeSpeech(engine)).rejects.toMatchObject({ reason: 'failed' });
    await expect(wholeSpeech(engine)).rejects.toThrow(why);
    await engine.close();
  });
});
