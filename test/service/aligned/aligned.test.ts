import { describe, expect, it } from 'vitest';
import { MODELS } from '../../../src/service/voices/model-catalogue.ts';
import { EngineRegistry, EngineError } from '../../../src/service/engine/speech-engine.ts';
import type { ServiceDeps } from '../../../src/service/service-context.ts';
import { jsonPost, testService, voiceId } from '../support/test-service.ts';
import { parseEvents, readEvents } from '../../harness/read-events.ts';
import { abortable } from '../../../src/system/concurrency.ts';
import type {
  EngineRequest,
  SpeechChunk,
  SpeechEngine,
} from '../../../src/service/engine/speech-engine.ts';

const PATH = '/api/open/v3/speech/tts/aligned';
const BODY = {
  text: 'One two. Three.',
  voiceId: voiceId('Clara'),
  modelId: 'vendor-s21pro',
  format: 'wav',
};
const HELLO = [
  { start: 0, end: 3, startMs: 10, endMs: 50 },
  { start: 4, end: 7, startMs: 50, endMs: 90 },
];
const THREE = [{ start: 9, end: 14, startMs: 110, endMs: 180 }];
const SCRIPT: readonly Step[] = [
  { ms: 100, span: { start: 0, end: 9 } },
  { ms: 0, words: HELLO },
  { ms: 100, span: { start: 9, end: 15 } },
  { ms: 0, words: THREE },
];
const FULL = { credits: 1_000_000, quota: 1_000_000 };

async function createFixture(
  script: readonly Step[] = SCRIPT,
  overrides: Partial<ServiceDeps> = {},
) {
  const engine = scriptedEngine(script);
  const service = await testService({ engines: new EngineRegistry([engine]), ...overrides });
  const align = (body: object = {}, headers: Record<string, string> = {}): Promise<Response> =>
    service.call(PATH, jsonPost({ ...BODY, ...body }, headers));
  return { ...service, engine, align };
}

/** A promise and what resolves it. */
function gate(): { readonly until: Promise<void>; readonly open: () => void } {
  const opened = new AbortController();
  const until = new Promise<void>((resolve) => {
    opened.signal.addEventListener('abort', () => resolve());
  });
  return { until, open: () => opened.abort() };
}

describe('an aligned stream', () => {
  it('has an estimate, the audio, and the exact times of each chunk, and says that it is complete', async () => {
    const { align, engine, balance } = await createFixture();
    const response = await align({}, { 'X-Request-Id': 'trace-1' });
    expect(response.status).toBe(200);
    expect(response.headers.get('Content-Type')).toBe('text/event-stream; charset=utf-8');
    expect(response.headers.get('X-OpenAPI-Credits-Used')).toBe('15');
    const { names, events, words, last } = await readEvents(response);
    const snapshot = 'alignment_snapshot';
    const chunk = [snapshot, 'audio', snapshot];
    // The last audio is the end of the speech, which the limiter of peaks holds back.
    expect(names).toEqual([...chunk, ...chunk, 'audio', 'completed']);
    expect(events.flatMap(({ data }) => data['chunkSeq'] ?? [])).toEqual([0, 0, 1, 1]);
    expect(words).toEqual([
      { text: 'One', startMs: 10, endMs: 50 },
      { text: 'two', startMs: 50, endMs: 90 },
      { text: 'Three', startMs: 110, endMs: 180 },
    ]);
    expect(last?.data).toEqual({
      requestId: 'trace-1',
      generationId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      alignmentStatus: 'complete',
      quotaRemaining: 999_985,
      creditsUsed: 15,
    });
    expect(engine.requests).toMatchObject([{ isTimed: true }]);
    expect(await balance()).toEqual({ credits: 999_985, quota: 999_985 });
  });

  it('has the audio of the synchronous answer, byte for byte', async () => {
    const { align, speak } = await createFixture();
    for (const format of ['mp3', 'wav', 'ogg']) {
      const { audio } = await readEvents(await align({ format }));
      const whole = await (await speak({ ...BODY, format })).arrayBuffer();
      expect(Buffer.from(audio).equals(Buffer.from(whole))).toBe(true);
    }
  });

  it('counts the silence that decoders of mp3 put before the sound', async () => {
    const { align } = await createFixture();
    const { words } = await readEvents(await align({ format: 'mp3' }));
    expect(words[0]).toEqual({ text: 'One', startMs: 56, endMs: 96 });
  });

  it('is written as server-sent events, a line of JSON each', async () => {
    const { align } = await createFixture();
    const text = await (await align()).text();
    const blocks = text.split('\n\n');
    expect(blocks.pop()).toBe('');
    for (const block of blocks) expect(block).toMatch(/^event: [a-z_]+\ndata: \{.*\}$/);
  });

  it('replaces a snapshot when the engine reports more words of its chunk', async () => {
    const [one, two] = HELLO;
    const { align } = await createFixture([
      { ms: 50, words: one === undefined ? [] : [one] },
      { ms: 50, words: two === undefined ? [] : [two] },
      { ms: 100, words: THREE },
    ]);
    const { events, words, last } = await readEvents(await align());
    const told = events.flatMap(({ data }) => (Array.isArray(data['words']) ? [data] : []));
    expect(told.map(({ chunkSeq, words: list }) => [chunkSeq, Object(list).length])).toEqual([
      [0, 1],
      [0, 2],
      [1, 1],
    ]);
    expect(words.map(({ text }) => text)).toEqual(['One', 'two', 'Three']);
    expect(last?.data['alignmentStatus']).toBe('complete');
  });

  it('invalidates chunks without reported words, and is partial then', async () => {
    const { align } = await createFixture(SCRIPT.filter((_, index) => index !== 1));
    const { names, events, words, last } = await readEvents(await align());
    const invalidated = names.indexOf('alignment_invalidated');
    expect(events[invalidated]?.data).toEqual({ chunkSeq: 0 });
    expect(words.map(({ text }) => text)).toEqual(['Three']);
    expect(last).toMatchObject({ name: 'completed', data: { alignmentStatus: 'partial' } });
  });

  it('invalidates every chunk if the engine reports no words, without any estimate', async () => {
    const { align } = await createFixture([{ ms: 200 }]);
    const { names, events } = await readEvents(await align());
    const invalidated = 'alignment_invalidated';
    expect(names).toEqual(['audio', 'audio', invalidated, invalidated, 'completed']);
    expect(events.slice(2, 4).map(({ data }) => data['chunkSeq'])).toEqual([0, 1]);
  });
});

describe('the pace of an aligned stream', () => {
  it('sends the first audio before the second chunk is spoken', async () => {
    const { until, open } = gate();
    const { align } = await createFixture([...SCRIPT.slice(0, 2), { until }, ...SCRIPT.slice(2)]);
    const response = await align();
    const reader = response.body?.getReader();
    const names: string[] = [];
    while (names.at(-1) !== 'audio') {
      const { value } = (await reader?.read()) ?? {};
      names.push(...parseEvents(Buffer.from(value ?? []).toString()).names);
    }
    expect(names).toEqual(['alignment_snapshot', 'audio']);
    open();
    for (let end = false; !end;) end = (await reader?.read())?.done ?? true;
  });

  it('sends word times that came while the client did not read, without waiting for more audio', async () => {
    const [words, rest] = [gate(), gate()];
    const [first = 'break', hello = 'break'] = SCRIPT;
    const { align, engine } = await createFixture([
      first,
      hello,
      { until: words.until },
      { ms: 0, words: THREE },
      { until: rest.until },
      { ms: 100, span: { start: 9, end: 15 } },
    ]);
    const reader = (await align()).body?.getReader();
    const read = async () => {
      const { value } = (await reader?.read()) ?? {};
      return parseEvents(Buffer.from(value ?? []).toString()).events[0];
    };
    const names = [await read(), await read(), await read()].map((event) => event?.name);
    expect(names).toEqual(['alignment_snapshot', 'audio', 'alignment_snapshot']);
    words.open();
    await expect.poll(() => engine.stepsMade()).toBe(5);
    const late = new Promise((resolve) => setTimeout(resolve, 2_000, 'late'));
    expect(await Promise.race([read(), late])).toMatchObject({
      name: 'alignment_snapshot',
      data: { words: [{ text: 'Three' }] },
    });
    rest.open();
    for (let end = false; !end;) end = (await reader?.read())?.done ?? true;
  });

  it('produces nothing before it is read', async () => {
    const long = Array.from({ length: 50 }, (): Step => ({ ms: 200, words: [] }));
    const { align, engine } = await createFixture(long);
    const response = await align();
    expect(engine.stepsMade()).toBe(1);
    await response.arrayBuffer();
    expect(engine.stepsMade()).toBe(50);
  });

  it('beats while the engine lets wait for itself', async () => {
    const { until, open } = gate();
    const { align, clock, engine } = await createFixture([...SCRIPT, { until }, { ms: 100 }]);
    const response = await align();
    const reading = readEvents(response);
    await expect.poll(() => engine.stepsMade()).toBe(5);
    for (let beat = 0; beat < 3; beat += 1) {
      await expect.poll(() => clock.running()).toContain(10_000);
      clock.advance(10_000);
    }
    await expect.poll(() => clock.running()).toContain(10_000);
    open();
    const { names } = await reading;
    expect(names.filter((name) => name === 'heartbeat')).toHaveLength(3);
    expect(names.at(-1)).toBe('completed');
  });
});

describe('the money of an aligned stream', () => {
  const KEY = { 'Idempotency-Key': 'key-1' };

  it('is given back when the engine breaks after the first audio, and an error ends it', async () => {
    const { align, balance, events } = await createFixture([...SCRIPT.slice(0, 2), 'break']);
    const response = await align({}, { ...KEY, 'X-Request-Id': 'trace-2' });
    expect(response.status).toBe(200);
    const stream = await readEvents(response);
    expect(stream.names).not.toContain('completed');
    expect(stream.last).toEqual({
      name: 'error',
      data: {
        requestId: 'trace-2',
        code: 'ERR_GENERATION_FAILED',
        message: expect.stringContaining('The engine broke'),
      },
    });
    expect(JSON.stringify(stream.events)).not.toContain('secret');
    expect(await balance()).toEqual(FULL);
    expect(events).toContainEqual(expect.objectContaining({ type: 'failure' }));
    expect(await (await align({}, KEY)).json()).toMatchObject({
      code: 'ERR_REQUEST_PREVIOUSLY_REFUNDED',
    });
  });

  it('is given back when it breaks before that, and the answer is JSON', async () => {
    const { align, balance } = await createFixture(['break']);
    const response = await align();
    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({ code: 'ERR_GENERATION_FAILED' });
    expect(await balance()).toEqual(FULL);
  });

  it('stays when the client goes after the first byte, and the engine stops', async () => {
    const { until } = gate();
    const { align, balance, engine } = await createFixture([...SCRIPT.slice(0, 2), { until }]);
    const response = await align({}, KEY);
    await response.body?.cancel();
    await expect.poll(engine.speaking).toBe(0);
    expect(await balance()).toEqual({ credits: 999_985, quota: 999_985 });
    expect(await (await align({}, KEY)).json()).toMatchObject({
      code: 'ERR_REQUEST_ALREADY_COMPLETED',
    });
  });

  it('is charged once a key, and a key of the synchronous endpoint is another request', async () => {
    const { align, speak } = await createFixture();
    const response = await align({}, KEY);
    expect(await (await align({}, KEY)).json()).toMatchObject({
      code: 'ERR_REQUEST_IN_PROGRESS',
    });
    await response.arrayBuffer();
    expect(await (await align({}, KEY)).json()).toMatchObject({
      code: 'ERR_REQUEST_ALREADY_COMPLETED',
    });
    expect(await (await speak(BODY, KEY)).json()).toMatchObject({
      code: 'ERR_REQUEST_ID_CONFLICT',
    });
  });

  it('is refunded when the service closes before the end, with an error for the reader', async () => {
    const { until } = gate();
    const { align, service, clock, store } = await createFixture([...SCRIPT, { until }]);
    const response = await align();
    const reading = readEvents(response);
    const closed = service.close();
    clock.advance(600_000);
    await closed;
    expect((await reading).last).toMatchObject({
      name: 'error',
      data: { code: 'ERR_SERVICE_UNAVAILABLE' },
    });
    const states = store.read((db) => db.all('SELECT state FROM reservation'));
    expect(states).toMatchObject([{ state: 'refunded' }]);
  });

  it('needs enough of it', async () => {
    const { align, balance } = await createFixture(SCRIPT, {
      allowance: { credits: 4, quota: 100 },
    });
    const response = await align();
    expect(response.status).toBe(402);
    expect(await balance()).toEqual({ credits: 4, quota: 100 });
  });
});

describe('what an aligned stream refuses', () => {
  const able = MODELS.filter(({ alignedStreaming }) => alignedStreaming).map(({ id }) => id);

  it('a model without it, naming those of the voice that have it', async () => {
    const { align, balance } = await createFixture();
    const response = await align({ modelId: 'vendor-s1' });
    expect(response.status).toBe(400);
    const body: unknown = await response.json();
    expect(body).toMatchObject({
      code: 'ERR_INVALID_REQUEST',
      details: { errors: [{ field: 'modelId' }] },
    });
    const { message } = Object(body);
    const named = able.filter((id) => id.startsWith('vendor-'));
    for (const id of named) expect(message).toContain(id);
    expect(message).not.toContain('altA');
    expect(await balance()).toEqual(FULL);
  });

  it('a text that cannot be spoken, which was no request then', async () => {
    const { align, balance } = await createFixture(['nothing to say']);
    const response = await align();
    expect(response.status).toBe(400);
    expect(await balance()).toEqual(FULL);
  });

  it.each([
    [{ text: '' }, 400],
    [{ speed: 3 }, 400],
    [{ unknown: 1 }, 400],
    [{ voiceId: 'nobody' }, 404],
    [{ format: 'pcm' }, 400],
  ])('%j with %i', async (body, status) => {
    const { align } = await createFixture();
    const response = await align(body);
    expect(response.status).toBe(status);
    expect(response.headers.get('Content-Type')).toContain('application/json');
  });
});

/** What a scripted engine does next: says something, waits for something, or breaks. */
type Step =
  | (Pick<SpeechChunk, 'words' | 'span'> & { readonly ms: number })
  | { readonly until: Promise<void> }
  | 'break'
  | 'nothing to say';

interface ScriptedEngine extends SpeechEngine {
  readonly requests: readonly EngineRequest[];
  /** How many steps were begun. */
  readonly stepsMade: () => number;
  /** How many texts are being spoken. */
  readonly speaking: () => number;
}

const SAMPLE_RATE = 16_000;

/** An engine that speaks every text as the script says, a tone for so many milliseconds each. */
function scriptedEngine(script: readonly Step[]): ScriptedEngine {
  const requests: EngineRequest[] = [];
  let made = 0;
  let speaking = 0;
  async function* synthesize(request: EngineRequest, signal: AbortSignal) {
    requests.push(request);
    speaking += 1;
    try {
      for (const step of script) {
        signal.throwIfAborted();
        made += 1;
        if (step === 'break')
          throw new EngineError('failed', 'The engine broke.', 'The secret inside of it.');
        if (step === 'nothing to say') throw new EngineError('unspeakable', 'No word in it.');
        if ('until' in step) await abortable(step.until, signal);
        else yield chunkOf(step);
      }
    } finally {
      speaking -= 1;
    }
  }
  return {
    name: 'hibari',
    voices: [{ id: 'clara', language: 'en-US', sampleRate: SAMPLE_RATE, pitch: true, words: true }],
    requests,
    stepsMade: () => made,
    speaking: () => speaking,
    async warmUp() {},
    synthesize,
    async close() {},
  };
}

function chunkOf({ ms, ...told }: Extract<Step, { ms: number }>): SpeechChunk {
  const samples = Float32Array.from(
    { length: (ms * SAMPLE_RATE) / 1000 },
    (_, at) => 0.1 * Math.sin(at / 10),
  );
  return { samples, sampleRate: SAMPLE_RATE, ...told };
}
