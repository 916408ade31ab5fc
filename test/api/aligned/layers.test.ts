import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AlignedEvent, SseEvent } from '../../../src/api/resources/aligned-events.ts';
import {
  readAlignedEvent,
  UnreadableEvent,
  StreamAlignment,
  AudioBlock,
  SseEvents,
  textOf,
} from '../../../src/api/resources/aligned-events.ts';

function eventsOf(chunks: Iterable<Uint8Array>, limitBytes = 1_000_000): readonly SseEvent[] {
  const parser = new SseEvents(limitBytes);
  const events: SseEvent[] = [];
  for (const chunk of chunks) {
    events.push(...(parser.add(chunk) ?? []));
    if (parser.isTooLarge) throw new Error(`an event is larger than ${limitBytes} bytes`);
  }
  return events;
}

/** Cuts bytes at the given places. */
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

describe('SseEvents', () => {
  test('yields the same events for any chunks and any line endings', () => {
    fc.assert(
      fc.property(fc.array(event), line, fc.array(fc.nat()), (sent, end, cuts) => {
        const text = sent
          .map(({ data, name }) => `: beat${end}event: ${name}${end}data: ${data}${end}${end}`)
          .join('');
        const got = eventsOf(cutUp(Buffer.from(text), cuts));
        const read = got.flatMap((one) =>
          one.kind === 'event' ? [{ name: one.name, data: textOf(one.data) }] : [],
        );
        expect(read).toEqual(sent);
        expect(got.filter(({ kind }) => kind === 'comment').length).toBe(sent.length);
      }),
    );
  });

  test('ignores a byte order mark', () => {
    const [first] = eventsOf([Buffer.from('\ufeffevent: ping\ndata: é\n\n')]);
    expect(first).toEqual({ kind: 'event', name: 'ping', data: 'Ã©' });
  });

  test('drops an event without its empty line', () => {
    expect(eventsOf([Buffer.from('event: completed\ndata: {}\n')])).toEqual([]);
  });

  test('limits the size of an event, with or without a line end', () => {
    const endless = Array.from({ length: 50 }, () => Buffer.alloc(100, 'x'));
    expect(() => eventsOf([Buffer.from('data: '), ...endless], 1_000)).toThrow('larger than');
    const lines = Array.from({ length: 50 }, () => Buffer.from(`data: ${'x'.repeat(94)}\n`));
    expect(() => eventsOf(lines, 1_000)).toThrow('larger than 1000 bytes');
    expect(() => eventsOf([Buffer.concat(lines)], 90)).toThrow('larger than');
  });
});

describe('readAlignedEvent', () => {
  test('decodes audio events one after another', () => {
    const block = new AudioBlock(Buffer.alloc(9));
    expect(readAlignedEvent('audio', '{"audioBase64":"aGk="}', block)).toEqual({ kind: 'audio' });
    readAlignedEvent('audio', '{"audioBase64":"IHRoZXJl"}', block);
    expect(audioIn(block)).toEqual(Buffer.from('hi there'));
  });

  test('decodes audio in any valid JSON', () => {
    for (const data of [
      '{ "audioBase64" : "aGk/" }',
      '{"audioBase64":"aGk\\/"}',
      '{"audioBase64":"\\u0061Gk/"}',
      '{"a":1,"audioBase64":"aGk/"}',
      '{"audioBase64":"aGk/","a":1}',
    ]) {
      expect(audioOf(data)).toEqual(Buffer.from('hi?'));
    }
  });

  test('decodes audio like JSON.parse and Buffer, or throws', () => {
    // Few letters, and characters that look like Base64 but are not.
    const piece = fc.constantFrom(
      'A',
      'QUJD',
      '/',
      '+',
      '=',
      '==',
      '\\/',
      '\\n',
      '\\',
      '"',
      '*',
      'é',
      ' ',
    );
    const begin = fc.constantFrom(
      '{"audioBase64":"',
      '{"audioBase64": "',
      '{"a":"","audioBase64":"',
    );
    const ending = fc.constantFrom('"}', '" }', '","a":""}', '');
    fc.assert(
      fc.property(begin, fc.array(piece), ending, (before, pieces, after) => {
        const data = `${before}${pieces.join('')}${after}`;
        expect(audioOf(data)).toEqual(byTheBook(data));
      }),
      { numRuns: 2_000 },
    );
  });

  test.each(['', '"units":null,', '"units":"milliseconds",'])('reads words with %s', (units) => {
    const data = `{"chunkSeq":0,${units}"words":[]}`;
    expect(said('alignment_snapshot', data)).toMatchObject({ kind: 'snapshot', isWhole: true });
  });

  test('reads words as text', () => {
    const words = [{ text: 'schön 你好', startMs: 0, endMs: 1 }];
    const data = Buffer.from(JSON.stringify({ chunkSeq: 0, words })).toString('latin1');
    expect(said('alignment_snapshot', data)).toMatchObject({ words });
  });

  test.each([
    ['audio', '{'],
    ['audio', '[]'],
    ['audio', '{}'],
    ['audio', '{"audioBase64":"a*k="}'],
    ['audio', '{"audioBase64":7}'],
    ['completed', 'null'],
    ['error', '"no"'],
  ])('rejects %s with %s', (name, data) => {
    expect(() => said(name, data)).toThrow(UnreadableEvent);
  });

  test.each([
    ['alignment_snapshot', '{', undefined],
    ['alignment_snapshot', '{"chunkSeq":0}', 0],
    ['alignment_snapshot', '{"chunkSeq":"0","words":[]}', undefined],
    ['alignment_snapshot', '{"chunkSeq":0,"units":"seconds","words":[]}', 0],
    ['alignment_invalidated', '{"chunkSeq":0.5}', undefined],
  ])('reads %s with %s as lost times of chunk %s', (name, data, chunkSeq) => {
    expect(said(name, data)).toEqual({ kind: 'invalidated', chunkSeq });
  });

  test.each([
    '{"text":"a","startMs":-1,"endMs":2}',
    '{"text":"a","startMs":3,"endMs":2}',
    '{"startMs":1,"endMs":2}',
    '7',
  ])('drops only the invalid word %s of a snapshot', (word) => {
    const good = { text: 'b', startMs: 1, endMs: 2 };
    const data = `{"chunkSeq":0,"words":[${word},${JSON.stringify(good)}]}`;
    expect(said('alignment_snapshot', data)).toEqual({
      kind: 'snapshot',
      chunkSeq: 0,
      words: [good],
      isWhole: false,
    });
  });

  test('ignores unknown events', () => {
    expect(said('progress', 'not JSON')).toBeUndefined();
  });

  test('treats any status but "complete" as partial', () => {
    for (const alignmentStatus of ['partial', 'COMPLETE', undefined, 1]) {
      expect(said('completed', JSON.stringify({ alignmentStatus }))).toMatchObject({
        facts: { alignmentStatus: 'partial' },
      });
    }
    expect(said('completed', '{"alignmentStatus":"complete","creditsUsed":3}')).toEqual({
      kind: 'completed',
      facts: {
        alignmentStatus: 'complete',
        creditsUsed: 3,
        generationId: undefined,
        quotaRemaining: undefined,
        requestId: undefined,
      },
    });
  });
});

describe('Alignment', () => {
  const step = fc.record({
    chunkSeq: fc.nat(4),
    words: fc.option(fc.array(fc.nat(99), { maxLength: 3 }), { nil: undefined }),
  });

  test('keeps the last event of each chunk, in chunk order', () => {
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const alignment = new StreamAlignment();
        const expected: (readonly number[])[] = [];
        for (const { chunkSeq, words } of steps) {
          expected[chunkSeq] = words ?? [];
          if (words === undefined) alignment.take({ kind: 'invalidated', chunkSeq });
          else
            alignment.take({ kind: 'snapshot', chunkSeq, words: words.map(wordAt), isWhole: true });
        }
        expect(alignment.words()).toEqual(expected.flat().map(wordAt));
        const last = new Map(steps.map(({ chunkSeq, words }) => [chunkSeq, words]));
        expect(alignment.isWhole).toBe(![...last.values()].includes(undefined));
      }),
    );
  });
});

/** Reads an event, ignoring its audio. */
function said(name: string, data: string): AlignedEvent | undefined {
  return readAlignedEvent(name, data, new AudioBlock(Buffer.alloc(100)));
}

/** Returns the audio of an event; undefined when it is invalid. */
function audioOf(data: string): Buffer | undefined {
  const block = new AudioBlock(Buffer.alloc(data.length));
  try {
    readAlignedEvent('audio', data, block);
    return audioIn(block);
  } catch (error) {
    expect(error).toBeInstanceOf(UnreadableEvent);
    expect(block.length).toBe(0);
    return undefined;
  }
}

function audioIn({ length, memory }: AudioBlock): Buffer {
  return Buffer.from(memory.subarray(0, length));
}

/** Decodes Base64 of either alphabet, with or without padding. */
function byTheBook(data: string): Buffer | undefined {
  const base64 = audioBase64In(data) ?? '*';
  const digits = /^([\w+/-]*)={0,2}$/.exec(base64)?.[1];
  return digits === undefined || digits.length % 4 === 1
    ? undefined
    : Buffer.from(digits, 'base64');
}

function audioBase64In(data: string): string | undefined {
  try {
    const value: unknown = JSON.parse(data);
    const isObject = typeof value === 'object' && value !== null && 'audioBase64' in value;
    return isObject && typeof value.audioBase64 === 'string' ? value.audioBase64 : undefined;
  } catch {
    return undefined;
  }
}

function wordAt(startMs: number) {
  return { text: `w${startMs}`, startMs, endMs: startMs + 1 };
}
