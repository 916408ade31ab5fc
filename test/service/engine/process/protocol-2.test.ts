import { describe, expect, it } from 'vitest';
import { EngineProcess } from '../../../../src/service/engine/process/engine-process.ts';
import { inspectEngine } from '../../../../src/engines/inspect-engine.ts';
import type { EngineVoiceRecord } from '../../../../src/contract/engine.ts';
import type { EngineRequest, SpeechEngine } from '../../../../src/service/engine/speech-engine.ts';
import { manualClock } from '../../../api/manual-clock.ts';
import {
  recordingLauncher,
  registrationOf,
  second,
  SECOND,
  speak,
  untilRunning,
  VOICE,
  wholeSpeech,
} from './engine-under-test.ts';

const SILENCE_MS = 60_000;
const LOADING_MS = 600_000;
const STALL_MS = 10_000;

/** The `speak` message that the engine got. */
async function received(
  engine: SpeechEngine,
  request: Partial<EngineRequest>,
): Promise<Record<string, unknown>> {
  const error = await wholeSpeech(engine, request).catch((reason: unknown) => reason);
  const { message } = error instanceof Error ? error : new Error('no error');
  return JSON.parse(message.replace('The engine tested says: ', ''));
}

function process(behaviour: string, fields: object = {}) {
  const clock = manualClock();
  const { launch, children } = recordingLauncher();
  const loading: unknown[] = [];
  const command = registrationOf([SECOND, JSON.stringify(fields), behaviour]);
  const onLoading = (message: unknown): number => loading.push(message);
  const engine = new EngineProcess(command, { launch, clock, onLoading });
  engine.keepAlive(true);
  return { engine, clock, children, loading };
}

const word = (start: number, end: number) => ({ start, end, phonemes: 'təmˈɑːtoʊ' });

describe('words with given phonemes', () => {
  it('are ranges of the text as the engine gets it', async () => {
    const { engine } = second({}, 'reports requests');
    const text = 'A 🍅 of 5 kg: tomatoes.';
    expect(await received(engine, { text, pronounced: [word(2, 3), word(13, 21)] })).toMatchObject({
      text: 'A 🍅 of five kilograms: tomatoes.',
      pronunciations: [word(2, 3), word(23, 31)],
    });
    const unit = { text: 'A 5 kg tomato.', pronounced: [word(4, 6)] };
    expect(await received(engine, unit)).toMatchObject({
      text: 'A five kg tomato.',
      pronunciations: [word(7, 9)],
    });
  });

  it('are sent only if there are any', async () => {
    const { engine } = second({}, 'reports requests');
    expect(await received(engine, { pronounced: [] })).not.toHaveProperty('pronunciations');
  });

  it('are announced by the voice', async () => {
    const voices = [{ ...VOICE, phonemes: 'tə' }];
    const { engine } = process('speaks in turns', { voices });
    expect((await engine.ready).voices).toMatchObject([{ phonemes: 'tə' }]);
    expect(second({ voices }).engine.voices).toMatchObject([{ phonemes: 'tə' }]);
    expect(second({}).engine.voices[0]).not.toHaveProperty('phonemes');
  });
});

describe('the greeting of version 2', () => {
  it('is offered in a greeting that an engine of version 1 understands', async () => {
    const { engine } = second({}, 'reports the greeting');
    expect(await received(engine, {})).toEqual({ type: 'hello', protocol: 1, maxProtocol: 2 });
  });

  it('has defaults for everything that an engine does not declare', async () => {
    const { engine } = process('speaks in turns');
    expect(await engine.ready).toEqual({
      version: '1',
      license: 'MIT',
      protocol: 2,
      models: [{ id: 'local-tested' }],
      maxConcurrent: 1,
      voices: [{ ...VOICE, name: 'v', pitch: false, words: false, controls: [] }],
    });
  });

  it('declares controls of the engine, which the list of a voice replaces', async () => {
    const voices: EngineVoiceRecord[] = [
      VOICE,
      { ...VOICE, id: 'w', controls: ['pitch', 'pitch'], languages: ['en', 'de'] },
      { ...VOICE, id: 'x', controls: [] },
    ];
    const models = [{ id: 'local-big', name: 'Big' }, { id: 'local-small' }];
    const fields = { voices, models, controls: ['speed', 'emotion'], cloning: true };
    const { engine } = process('speaks in turns', { ...fields, maxConcurrent: 4, unknown: [1] });
    expect(await engine.ready).toMatchObject({
      models,
      cloning: true,
      maxConcurrent: 4,
      voices: [
        { controls: ['speed', 'emotion'], pitch: false },
        { controls: ['pitch'], pitch: true, languages: ['en', 'de'] },
        { controls: [], pitch: false },
      ],
    });
  });

  it.each([
    ['a control that does not exist', { controls: ['loudness'] }, '/controls/0 must be equal'],
    ['a model id without the prefix', { models: [{ id: 'kokoro' }] }, '/models/0/id must match'],
    ['more requests than allowed', { maxConcurrent: 17 }, '/maxConcurrent must be <= 16'],
  ])('is refused for %s', async (_, fields, why) => {
    const { engine } = process('speaks in turns', fields);
    await expect(engine.ready).rejects.toThrow(`its hello message is invalid: ${why}`);
  });

  it.each([
    ['/voices/0/language', { language: 'en_US' }, 'is "en_US": write en-US'],
    ['/voices/0/language', { language: 'de_DE.UTF-8' }, 'is "de_DE.UTF-8": write de-DE'],
    ['/voices/0/language', { language: 'English' }, 'is "English": write a code such as en-US'],
    ['/voices/0/languages/1', { languages: ['en', 'pt_BR'] }, 'is "pt_BR": write pt-BR'],
  ])('with an invalid %s %j says what to write', async (field, change, why) => {
    const { engine } = process('speaks in turns', { voices: [{ ...VOICE, ...change }] });
    await expect(engine.ready).rejects.toThrow(`its hello message is invalid: ${field} ${why}`);
  });

  it('does not apply to an engine of version 1 that has fields of the same names', async () => {
    const voice = { ...VOICE, controls: 'all' };
    const fields = { protocol: 1, voices: [voice], models: 3, maxConcurrent: 'many' };
    const { engine } = process('speaks in turns', fields);
    const { voices, ...description } = await engine.ready;
    expect(description).toEqual({ version: '1', license: 'MIT' });
    expect(voices).toEqual([{ ...VOICE, name: 'v', pitch: false, words: false }]);
  });

  it('may follow messages about loading, which are reported', async () => {
    const { engine, loading } = process('loads');
    await engine.ready;
    const message = 'loading the model';
    expect(loading).toEqual([
      { type: 'loading', progress: 0.25, message },
      { type: 'loading', progress: 0.5, message },
      { type: 'loading', progress: 1, message },
      { type: 'loading' },
    ]);
  });

  it('may take ten minutes while the engine reports that it is loading', async () => {
    const { engine, clock, loading } = process('loads for ever');
    for (let ms = 0; ms < LOADING_MS; ms += SILENCE_MS / 2) {
      const { length } = loading;
      while (loading.length === length) await new Promise((resolve) => setImmediate(resolve));
      await untilRunning(clock, SILENCE_MS);
      clock.advance(SILENCE_MS / 2);
    }
    await expect(engine.ready).rejects.toThrow('took more than 600 s to load before it said hello');
  });

  it('fails an engine that is silent for a minute while it loads', async () => {
    const { engine, clock, loading } = process('loads once');
    while (loading.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await untilRunning(clock, SILENCE_MS);
    clock.advance(SILENCE_MS);
    await expect(engine.ready).rejects.toThrow('was silent for 60 s before it said hello');
  });

  it('is not followed by messages about loading', async () => {
    const { engine } = second({}, 'loads again');
    await expect(wholeSpeech(engine)).rejects.toThrow('it sent loading after hello');
  });
});

describe('a request of version 2', () => {
  it('has the default model and no controls', async () => {
    const { engine } = second({}, 'reports requests');
    expect(await received(engine, { speed: 2, pitch: 3 })).toEqual({
      type: 'speak',
      id: 1,
      text: 'Hello there.',
      voice: 'v',
      model: 'local-tested',
      controls: {},
      words: false,
    });
  });

  it('has the declared controls that differ from their defaults', async () => {
    const voice: EngineVoiceRecord = {
      ...VOICE,
      controls: ['speed', 'pitch', 'volume', 'emotion', 'stability'],
    };
    const { engine } = second({ voices: [voice] }, 'reports requests');
    const controls = { volume: 0, emotion: 'happy', stability: 1, similarity: 0.5 };
    const request = { speed: 1.2, pitch: 0, controls, isTimed: true, model: 'local-other' };
    expect(await received(engine, request)).toMatchObject({
      model: 'local-other',
      controls: { speed: 1.2, emotion: 'happy', stability: 1 },
      words: true,
    });
  });

  it('goes only to an engine that spoke version 2 when it was added', async () => {
    const { engine } = second({}, 'speaks in turns', { added: { protocol: 3 } });
    await expect(wholeSpeech(engine)).rejects.toThrow(
      'changed since it was added: it speaks another version of the protocol. Add it again.',
    );
  });

  it('fails with the words of the engine and what it wrote to stderr for this request', async () => {
    const { engine, children } = second({}, 'fails the first');
    await expect(wholeSpeech(engine)).rejects.toMatchObject({
      message: 'The engine tested says: no sound; it wrote to stderr: line 1 | NaN in the output',
    });
    expect((await wholeSpeech(engine)).samples).toHaveLength(1600);
    expect(children).toHaveLength(1);
  });
});

describe('the failure of an engine', () => {
  it('has the first part of a long error message', async () => {
    const { engine } = second({}, 'explains at length');
    await expect(wholeSpeech(engine)).rejects.toMatchObject({
      message: expect.stringMatching(/^The engine tested says: out of memory: x{900,990}…$/),
    });
  });

  it('names the allowed values of a field that has another', async () => {
    const { engine } = process('speaks in turns', { controls: ['telepathy'] });
    await expect(engine.ready).rejects.toThrow(
      /controls\/0 must be equal to one of the allowed values: language, speed, pitch,/,
    );
  });

  it('says that foley stopped it', async () => {
    const { engine } = process('answers only the second');
    await engine.ready;
    const spoken = engine.speak({ text: 'x', voice: 'v', speed: 1, pitch: 0 }, 16_000);
    const failure = spoken.chunks.next().catch(String);
    await engine.end();
    expect(await failure).toContain('The engine tested was stopped while it spoke.');
  });

  it('names models with the same id when the engine is added', async () => {
    const models = [{ id: 'local-x' }, { id: 'local-x' }];
    const { launch } = recordingLauncher();
    const command = registrationOf([SECOND, JSON.stringify({ models })]);
    await expect(inspectEngine(command, { launch })).rejects.toThrow(
      'The engine tested has two models with the id local-x.',
    );
  });
});

describe('an engine that accepts several requests at once', () => {
  const several = { maxConcurrent: 3 };

  it('speaks them at once in one process, and each gets its own audio', async () => {
    const { engine, children } = second(several, 'speaks in turns', { processes: 2 });
    const lengths = [30, 3, 20, 10];
    const spoken = await Promise.all(
      lengths.map((words) => wholeSpeech(engine, { text: 'a '.repeat(words).trim() })),
    );
    expect(spoken.map(({ samples }) => samples.length / 1600)).toEqual(lengths);
    for (const { samples } of spoken) expect(new Set(samples).size).toBe(1);
    expect(children.length).toBeLessThanOrEqual(2);
  });

  it('gets no more requests than it accepts', async () => {
    const { engine, children } = second({ maxConcurrent: 2 });
    const speeches = [1, 2, 3].map(() => speak(engine, { text: 'a '.repeat(400) }));
    await Promise.all([speeches[0]?.next(), speeches[1]?.next()]);
    let isThirdSpeaking = false;
    const third = speeches[2]?.next().then(() => (isThirdSpeaking = true));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(isThirdSpeaking).toBe(false);
    await speeches[0]?.return?.();
    await third;
    await Promise.all(speeches.map(async (speech) => speech.return?.()));
    expect(children).toHaveLength(1);
  });

  it('continues with the others when one is cancelled', async () => {
    const { engine, children } = second(several);
    const cancelled = speak(engine, { text: 'a '.repeat(4_000) });
    await cancelled.next();
    const other = wholeSpeech(engine, { text: 'a a a a a a a a a a' });
    await cancelled.return?.();
    expect((await other).samples).toHaveLength(16_000);
    expect(children).toHaveLength(1);
  });

  it('is not held up by a request whose audio is not read', async () => {
    const { engine } = second(several, 'floods the first');
    const slow = speak(engine, { text: 'a'.repeat(100_000) });
    await slow.next();
    for (const _ of [1, 2, 3]) {
      expect((await wholeSpeech(engine)).samples).toHaveLength(1600);
    }
    expect((await slow.next()).value?.samples).toHaveLength(160_000);
    await slow.return?.();
  });

  it('fails such a request when too much of its audio waits', async () => {
    const { engine, clock, children } = second(several, 'floods the first');
    const slow = speak(engine, { text: 'a'.repeat(100_000) });
    await slow.next();
    const other = wholeSpeech(engine, { text: 'after the first' });
    await untilRunning(clock, STALL_MS);
    clock.advance(STALL_MS);
    expect((await other).samples).toHaveLength(1600);
    await expect(slow.next()).rejects.toThrow(
      'its audio was not read for 10 s while other requests waited',
    );
    expect((await wholeSpeech(engine)).samples).toHaveLength(1600);
    expect(children).toHaveLength(1);
  });

  it('fails all of them when it is silent about one', async () => {
    const { engine, clock, children } = second(several, 'answers only the second');
    const first = wholeSpeech(engine);
    first.catch(() => undefined);
    expect((await wholeSpeech(engine)).samples).toHaveLength(1600);
    await untilRunning(clock, SILENCE_MS);
    clock.advance(SILENCE_MS);
    await expect(first).rejects.toThrow('was silent for 60 s while it spoke');
    expect(await children[0]?.ended).toMatchObject({ how: 'was ended by SIGKILL' });
  });

  it('must be added again when it accepts fewer', async () => {
    const fields = { maxConcurrent: 2 };
    const { engine } = second({}, 'speaks in turns', {});
    expect((await wholeSpeech(engine)).samples).toHaveLength(3200);
    const { engine: changed } = second({}, 'speaks in turns', { added: fields });
    await expect(wholeSpeech(changed)).rejects.toThrow('it accepts fewer requests at once. Add it');
  });
});

describe('an engine that clones voices', () => {
  it('gets the path and the words of the reference audio, and names the voice', async () => {
    const { engine } = process('clones', { cloning: true });
    await engine.ready;
    const audio = '/tmp/reference.wav';
    expect(await engine.clone({ audio, text: 'Hello.' }).voice).toBe(`of ${audio}: Hello.`);
    await expect(engine.clone({ audio, text: '' }).voice).rejects.toThrow(
      'The engine tested says: the words are required',
    );
    await engine.end();
  });
});

const limited = () => second({ maxTextLength: 60 }, 'speaks at once');

describe('an engine that declares its longest text', () => {
  const SENTENCES = [
    'This is the first sentence of a text. ',
    'X cannot be spoken by any voice here. ',
    '“Is this the third one, at last?” he asked.\n\n',
    'It is over, and nothing is left to say.',
  ];

  it('gets longer texts in pieces, as one speech with pauses', async () => {
    const { engine } = limited();
    const { samples, words } = await wholeSpeech(engine, { text: SENTENCES.join('') });
    const starts = SENTENCES.map((_, at) => Array.from(SENTENCES.slice(0, at).join('')).length);
    expect(words.map(({ start, startMs, endMs }) => [start, startMs, endMs])).toEqual([
      [starts[0], 100, 1_000],
      [starts[2], 1_400, 2_300],
      [starts[3], 3_000, 3_900],
    ]);
    expect(samples).toHaveLength(16 * (3_000 + 300 + 600));
    const sent = await received(engine, { text: 'Report.' });
    expect(sent).toEqual([
      ...SENTENCES.map((text) => (text.endsWith('\n\n') ? text : text.trim())),
      'Report.',
    ]);
  });

  it('gets a text that fits unchanged', async () => {
    const { engine } = limited();
    const text = ' It fits. So it does. ';
    const { words } = await wholeSpeech(engine, { text });
    expect(words).toEqual([{ start: 0, end: text.length - 1, startMs: 100, endMs: 1_000 }]);
  });

  it('cannot speak a text of which it can speak no piece', async () => {
    const { engine } = limited();
    const text = 'X cannot be spoken by any voice here. '.repeat(3);
    await expect(wholeSpeech(engine, { text })).rejects.toMatchObject({ reason: 'unspeakable' });
  });

  it('may not declare a shorter one than a sentence', async () => {
    const { engine } = process('speaks in turns', { maxTextLength: 49 });
    await expect(engine.ready).rejects.toThrow('/maxTextLength must be >= 50');
  });

  it('is named when an engine without it is silent for a long text', async () => {
    const { engine, clock } = second({}, 'answers only the second');
    await engine.warmUp();
    const speech = wholeSpeech(engine, { text: 'Too long. '.repeat(150) });
    speech.catch(() => undefined);
    await untilRunning(clock, SILENCE_MS);
    clock.advance(SILENCE_MS);
    await expect(speech).rejects.toThrow(
      /silent for 60 s while it spoke 1500 characters.*maxTextLength/,
    );
  });
});
