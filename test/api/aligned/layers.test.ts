import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readAlignedEvent, UnreadableEvent } from '../../../src/api/aligned/aligned-events.ts';
import { Alignment } from '../../../src/api/aligned/alignment.ts';
import type { SseEvent } from '../../../src/api/aligned/sse-events.ts';
import { EventTooLarge, sseEvents, textOf } from '../../../src/api/aligned/sse-events.ts';

async function eventsOf(
  chunks: Iterable<Uint8Array>,
  limitBytes = 1_000_000,
): Promise<readonly SseEvent[]> {
  async function* body() {
    yield* chunks;
  }
  const events: SseEvent[] = [];
  for await (const batch of sseEvents(body(), { limitBytes })) events.push(...batch);
  return events;
}

/** The same bytes, cut wherever `cuts` says. */
function cutUp(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].toSorted(
    (a, b) => a - b,
  );
  return [0, ...places].map((from, index) => bytes.subarray(from, places[index]));
}

const event = fc.record({
  name: fc.constantFrom('audio', 'alignment_snapshot', 'completed', 'ping'),
  data: fc.string({ unit: 'grapheme', maxLength: 40 }).map((text) => JSON.stringify({ text })),
});
const line = fc.constantFrom('\n', '\r\n');

describe('bytes to events', () => {
  test('gives the same however the bytes are cut, with every ending of lines', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(event), line, fc.array(fc.nat()), async (sent, end, cuts) => {
        const text = sent
          .map(({ data, name }) => `: beat${end}event: ${name}${end}data: ${data}${end}${end}`)
          .join('');
        const got = await eventsOf(cutUp(Buffer.from(text), cuts));
        const read = got.flatMap((one) =>
          one.kind === 'event' ? [{ name: one.name, data: textOf(one.data) }] : [],
        );
        expect(read).toEqual(sent);
        expect(got.filter(({ kind }) => kind === 'comment').length).toBe(sent.length);
      }),
    );
  });

  test('a mark of the byte order before the first is passed over', async () => {
    const [first] = await eventsOf([Buffer.from('\ufeffevent: ping\ndata: é\n\n')]);
    expect(first).toEqual({ kind: 'event', name: 'ping', data: 'Ã©' });
  });

  test('an event without its empty line is none', async () => {
    expect(await eventsOf([Buffer.from('event: completed\ndata: {}\n')])).toEqual([]);
  });

  test('an event has a largest size, whether its line ever ends or not', async () => {
    const endless = Array.from({ length: 50 }, () => Buffer.alloc(100, 'x'));
    await expect(eventsOf([Buffer.from('data: '), ...endless], 1_000)).rejects.toThrow(
      EventTooLarge,
    );
    const lines = Array.from({ length: 50 }, () => Buffer.from(`data: ${'x'.repeat(94)}\n`));
    await expect(eventsOf(lines, 1_000)).rejects.toThrow('larger than 1000 bytes');
  });
});

describe('events to what they say', () => {
  test('audio is decoded', () => {
    expect(readAlignedEvent('audio', '{"audioBase64":"aGk="}')).toEqual({
      kind: 'audio',
      bytes: Buffer.from('hi'),
    });
  });

  test('audio is decoded however its JSON is written', () => {
    const bytes = Buffer.from('hi?');
    for (const data of [
      '{ "audioBase64" : "aGk/" }',
      '{"audioBase64":"aGk\\/"}',
      '{"a":1,"audioBase64":"aGk/"}',
    ]) {
      expect(readAlignedEvent('audio', data)).toEqual({ kind: 'audio', bytes });
    }
  });

  test('words are text', () => {
    const words = [{ text: 'schön 你好', startMs: 0, endMs: 1 }];
    const data = Buffer.from(JSON.stringify({ chunkSeq: 0, words })).toString('latin1');
    expect(readAlignedEvent('alignment_snapshot', data)).toMatchObject({ words });
  });

  test.each([
    ['audio', '{'],
    ['audio', '[]'],
    ['audio', '{}'],
    ['audio', '{"audioBase64":"a*k="}'],
    ['audio', '{"audioBase64":7}'],
    ['alignment_snapshot', '{"chunkSeq":0}'],
    ['alignment_snapshot', '{"chunkSeq":"0","words":[]}'],
    ['alignment_snapshot', '{"chunkSeq":0,"units":"seconds","words":[]}'],
    ['alignment_snapshot', '{"chunkSeq":0,"words":[{"text":"a","startMs":-1,"endMs":2}]}'],
    ['alignment_snapshot', '{"chunkSeq":0,"words":[{"text":"a","startMs":3,"endMs":2}]}'],
    ['alignment_snapshot', '{"chunkSeq":0,"words":[{"startMs":1,"endMs":2}]}'],
    ['alignment_invalidated', '{"chunkSeq":0.5}'],
    ['completed', 'null'],
    ['error', '"no"'],
  ])('%s with %s cannot be read', (name, data) => {
    expect(() => readAlignedEvent(name, data)).toThrow(UnreadableEvent);
  });

  test('an event of another name is passed over, whatever it carries', () => {
    expect(readAlignedEvent('progress', 'not JSON')).toBeUndefined();
  });

  test('only the word "complete" means that all times are there', () => {
    for (const alignmentStatus of ['partial', 'COMPLETE', undefined, 1]) {
      expect(readAlignedEvent('completed', JSON.stringify({ alignmentStatus }))).toMatchObject({
        facts: { alignmentStatus: 'partial' },
      });
    }
    expect(readAlignedEvent('completed', '{"alignmentStatus":"complete","creditsUsed":3}')).toEqual(
      {
        kind: 'completed',
        facts: {
          alignmentStatus: 'complete',
          creditsUsed: 3,
          generationId: undefined,
          quotaRemaining: undefined,
          requestId: undefined,
        },
      },
    );
  });
});

describe('the times of words', () => {
  const step = fc.record({
    chunkSeq: fc.nat(4),
    words: fc.option(fc.array(fc.nat(99), { maxLength: 3 }), { nil: undefined }),
  });

  test('of each chunk the last word counts, in the order of the chunks', () => {
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const alignment = new Alignment();
        const expected: (readonly number[])[] = [];
        for (const { chunkSeq, words } of steps) {
          expected[chunkSeq] = words ?? [];
          if (words === undefined) alignment.take({ kind: 'invalidated', chunkSeq });
          else alignment.take({ kind: 'snapshot', chunkSeq, words: words.map(wordAt) });
        }
        expect(alignment.words()).toEqual(expected.flat().map(wordAt));
      }),
    );
  });
});

function wordAt(startMs: number) {
  return { text: `w${startMs}`, startMs, endMs: startMs + 1 };
}
