import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Clock, systemClock } from '../../../../src/system/clock.ts';
import {
  createHibariEngine,
  type HibariEngineOptions,
} from '../../../../src/service/engine/hibari/engine.ts';
import {
  EngineError,
  type EngineRequest,
  type SpeechChunk,
  type SpeechEngine,
} from '../../../../src/service/engine/speech-engine.ts';
import { HIBARI_WORKER_FILE } from '../../../../src/service/worker-file.ts';

const SCRIPTED = fileURLToPath(new URL('../../../fixtures/scripted-thread.cjs', import.meta.url));

function engineWith(options: Partial<HibariEngineOptions> = {}): SpeechEngine {
  const engine = createHibariEngine({ workerFile: HIBARI_WORKER_FILE, ...options });
  onTestFinished(() => engine.close());
  return engine;
}

const scripted = (options: Partial<HibariEngineOptions> = {}) =>
  engineWith({ workerFile: SCRIPTED, ...options });

const request = (text: string, options: Partial<EngineRequest> = {}): EngineRequest => ({
  text,
  voice: 'clara',
  speed: 1,
  pitch: 0,
  ...options,
});

const never = new AbortController().signal;

function say(engine: SpeechEngine, text: string, signal = never): AsyncIterator<SpeechChunk> {
  return engine.synthesize(request(text), signal)[Symbol.asyncIterator]();
}

/** A request of a client that listens. */
function listen(engine: SpeechEngine, client: string): AsyncIterator<SpeechChunk> {
  const order = request('Xx.', { client, isInteractive: true });
  return engine.synthesize(order, never)[Symbol.asyncIterator]();
}

async function all(chunks: AsyncIterable<SpeechChunk>): Promise<SpeechChunk[]> {
  const collected: SpeechChunk[] = [];
  for await (const chunk of chunks) collected.push(chunk);
  return collected;
}

/** How many pieces the scripted thread had been given when it made this chunk. */
const count = ({ value }: IteratorResult<SpeechChunk>): number => value?.samples[0] ?? 0;

describe('the built-in voice in threads', () => {
  test('serves two requests at once, with one thread or two', async () => {
    for (const threads of [1, 2]) {
      const engine = engineWith({ threads });
      const text = 'One. Two. Three.';
      const [first, second] = await Promise.all([
        all(engine.synthesize(request(text), never)),
        all(engine.synthesize(request(text), never)),
      ]);
      expect(first).toHaveLength(3);
      expect(second).toEqual(first);
    }
  });

  test('speaks first stretches before later ones, at most four in a row', async () => {
    const engine = scripted();
    const busy = say(engine, 'Zz.').next();
    const later = say(engine, 'Yy.').next();
    const firsts = Array.from({ length: 6 }, () => listen(engine, 'one').next());
    expect(count(await busy)).toBe(1);
    const order = await Promise.all(firsts.map(async (chunk) => count(await chunk)));
    expect(order).toEqual([2, 3, 4, 5, 7, 8]);
    expect(count(await later)).toBe(6);
  });

  test('lets clients take turns', async () => {
    const engine = scripted();
    const crowd = Array.from({ length: 4 }, () => listen(engine, 'crowd').next());
    const alone = listen(engine, 'alone').next();
    const order = await Promise.all(crowd.map(async (chunk) => count(await chunk)));
    expect(order).toEqual([1, 3, 4, 5]);
    expect(count(await alone)).toBe(2);
  });
});

describe('what cannot be spoken', () => {
  test('is left out where there is something that can', async () => {
    const chunks = await all(scripted().synthesize(request('你好。One. 🎉! Two. …'), never));
    expect(chunks.map(({ samples }) => samples.length)).toEqual(['One.'.length, 'Two.'.length]);
  });

  test('an unknown voice is refused', async () => {
    const chunks = engineWith().synthesize(request('Hi.', { voice: 'clare' }), never);
    await expect(all(chunks)).rejects.toThrow('The engine hibari has no voice clare.');
  });
});

describe('work is made only as it is asked for', () => {
  test('one piece ahead', async () => {
    const engine = scripted();
    const slow = say(engine, 'A1. B1. C1. D1. E1. F1.');
    await slow.next();
    const other = say(engine, 'Other.');
    expect(count(await other.next())).toBe(3);
    expect(count(await slow.next())).toBe(2);
  });

  test('a closed iterator asks for no more, and the thread is free', async () => {
    const engine = scripted();
    const closed = say(engine, 'A1. B1. C1. D1. E1. F1.');
    await closed.next();
    await closed.return?.();
    expect(await closed.next()).toEqual({ done: true, value: undefined });
    expect(count(await say(engine, 'Next.').next())).toBeLessThanOrEqual(3);
  });

  test('requests take turns, and who waits goes first', async () => {
    const engine = scripted();
    const order: string[] = [];
    const consume = async (name: string) => {
      for await (const _chunk of engine.synthesize(request('A1. B1. C1. D1.'), never)) {
        order.push(name);
      }
    };
    await Promise.all([consume('x'), consume('y'), consume('z')]);
    for (const round of [0, 1, 2, 3]) {
      expect(order.slice(round * 3, round * 3 + 3).sort()).toEqual(['x', 'y', 'z']);
    }
  });

  test('threads are started when all others are busy, and no more than allowed', async () => {
    const engine = scripted({ threads: 2 });
    await engine.warmUp();
    const stuck = [say(engine, 'hang1'), say(engine, 'hang2')].map((chunks) => chunks.next());
    const waiting = say(engine, 'waits').next();
    const settled = Promise.allSettled([...stuck, waiting]);
    await engine.close();
    const outcomes = await settled;
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    const free = scripted({ threads: 2 });
    void say(free, 'hang')
      .next()
      .catch(() => {});
    expect(count(await say(free, 'Other.').next())).toBe(1);
  });
});

describe('an aborted request', () => {
  test('rejects at once with the reason, even while a piece is spoken', async () => {
    const engine = scripted({ threads: 2 });
    const abort = new AbortController();
    const chunk = say(engine, 'hang', abort.signal).next();
    const reason = new Error('the listener disconnected');
    abort.abort(reason);
    await expect(chunk).rejects.toBe(reason);
    expect(count(await say(engine, 'Other.').next())).toBe(1);
  });

  test('stops between two chunks', async () => {
    const abort = new AbortController();
    const chunks = say(scripted(), 'A1. B1. C1.', abort.signal);
    await chunks.next();
    abort.abort();
    await expect(chunks.next()).rejects.toMatchObject({ name: 'AbortError' });
    expect(await chunks.next()).toEqual({ done: true, value: undefined });
  });

  test('starts nothing when it is aborted before', async () => {
    const engine = scripted();
    await expect(say(engine, 'A1.', AbortSignal.abort()).next()).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(count(await say(engine, 'Other.').next())).toBe(1);
  });
});

describe('when a thread breaks', () => {
  test.each([
    ['ends', 'exit now.', 'The speech thread ended unexpectedly.', 1],
    ['throws', 'throw now.', 'thrown in the thread', 1],
    ['cannot speak a piece', 'fail now.', 'cannot say it', 2],
    ['sends nonsense', 'nonsense.', 'sent an invalid message', 2],
  ])('because it %s, the request fails and the next does not', async (_n, text, message, seen) => {
    const engine = scripted();
    const broken = say(engine, text).next();
    await expect(broken).rejects.toBeInstanceOf(EngineError);
    await expect(broken).rejects.toMatchObject({ reason: 'failed' });
    await expect(broken).rejects.toThrow(message);
    expect(count(await say(engine, 'Next.').next())).toBe(seen);
  });

  test('other requests continue in a new thread', async () => {
    const engine = scripted();
    const broken = say(engine, 'exit now.').next();
    const other = say(engine, 'Other.').next();
    await expect(broken).rejects.toMatchObject({ reason: 'failed' });
    expect(count(await other)).toBe(1);
  });

  test('because its file is missing, warming up says nothing and the request fails', async () => {
    const engine = scripted({ workerFile: `${SCRIPTED}.missing` });
    await expect(engine.warmUp()).resolves.toBeUndefined();
    await expect(say(engine, 'Hi.').next()).rejects.toMatchObject({ reason: 'failed' });
  });

  test('because a piece takes too long, it is given up', async () => {
    const timers: (() => void)[] = [];
    const clock: Clock = {
      ...systemClock,
      after(ms, call) {
        expect(ms).toBe(5_000);
        timers.push(call);
        return () => {};
      },
    };
    let restarts = 0;
    const onRestart = (): void => void (restarts += 1);
    const engine = scripted({ clock, pieceTimeoutMs: 5_000, onRestart });
    const chunk = say(engine, 'hang').next();
    chunk.catch(() => {});
    await engine.warmUp();
    timers[0]?.();
    await expect(chunk).rejects.toThrow('A piece of the text took longer than 5000 ms.');
    expect(restarts).toBe(0);
    expect(count(await say(engine, 'Next.').next())).toBe(1);
    expect(restarts).toBe(1);
  });

  test('a closed engine refuses', async () => {
    const engine = scripted();
    await engine.close();
    await expect(say(engine, 'Hi.').next()).rejects.toMatchObject({ reason: 'failed' });
    await engine.warmUp();
    await engine.close();
  });
});
