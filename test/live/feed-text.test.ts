import { EventEmitter, once } from 'node:events';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { feedText, createSegmentCutter } from '../../src/live/feed-text.ts';
import { Lexicon } from '../../src/text/lexicon.ts';
import { manualClock } from '../api/manual-clock.ts';

function listener() {
  const said: string[] = [];
  return {
    said,
    say: async (text: string) => void said.push(text),
    finish: () => void said.push('(end)'),
  };
}

/** Yields pieces that a test pushes; undefined ends them. */
function pipe() {
  const source = new EventEmitter();
  const pieces = (async function* () {
    for (;;) {
      const [piece] = (await once(source, 'piece')) as [string | undefined];
      if (piece === undefined) return;
      yield piece;
    }
  })();
  return {
    pieces,
    async write(piece: string | undefined) {
      await turn();
      source.emit('piece', piece);
      await turn();
    },
  };
}

/** Waits until all pending promises have settled. */
async function turn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

test('an incomplete segment is flushed after a pause, which each piece restarts', async () => {
  const clock = manualClock();
  const heard = listener();
  const { pieces, write } = pipe();
  const cutter = createSegmentCutter('sentence');
  const fed = feedText(pieces, heard, { clock, cutter, flushAfterMs: 700 });
  await write('One is here. Two ');
  expect(heard.said).toEqual(['One is here.']);
  clock.advance(699);
  await write('is ');
  clock.advance(699);
  expect([heard.said, clock.running()]).toEqual([['One is here.'], [700]]);
  clock.advance(1);
  await write('there.');
  expect(heard.said).toEqual(['One is here.', 'Two is']);
  await write(undefined);
  await fed;
  expect(heard.said).toEqual(['One is here.', 'Two is', 'there.', '(end)']);
  expect(clock.running()).toEqual([]);
});

test.each([
  ['before what comes behind it', 'One is here. And ', ['One is here.', 'And']],
  ['before the end', undefined, []],
])('the rest is said whole %s, even while the conversation is full', async (_what, piece, rest) => {
  const clock = manualClock();
  const heard = listener();
  const room = new EventEmitter();
  const slow = {
    ...heard,
    async say(text: string) {
      await heard.say(text);
      if (heard.said.length > 1) return;
      await once(room, 'made');
    },
  };
  const { pieces, write } = pipe();
  const cutter = createSegmentCutter('sentence');
  const fed = feedText(pieces, slow, { clock, cutter, flushAfterMs: 700 });
  // The first sentence may continue until the input ends.
  await write('At 5 p.m. No');
  clock.advance(700);
  await write(piece);
  expect(heard.said).toEqual(['At 5 p.m.']);
  room.emit('made');
  await write(undefined);
  await fed;
  expect(heard.said).toEqual(['At 5 p.m.', 'No', ...rest, '(end)']);
});

test('without a rest no timer runs', async () => {
  const clock = manualClock();
  const { pieces, write } = pipe();
  const cutter = createSegmentCutter('line');
  const fed = feedText(pieces, listener(), { clock, cutter, flushAfterMs: 700 });
  await write('A line.\n');
  expect(clock.running()).toEqual([]);
  await write(undefined);
  await fed;
});

test('without a cutter pieces pass unchanged after the first text', async () => {
  const clock = manualClock();
  const heard = listener();
  const { pieces, write } = pipe();
  const fed = feedText(pieces, heard, { clock, cutter: undefined, flushAfterMs: undefined });
  for (const piece of [' \n', 'One. ', ' ', 'Two.', undefined]) await write(piece);
  await fed;
  expect(heard.said).toEqual([' \nOne. ', ' ', 'Two.', '(end)']);
});

test.each([undefined, createSegmentCutter('sentence')])(
  'white space alone is refused',
  async (cutter) => {
    const heard = listener();
    const pieces = (async function* () {
      yield ' ';
      yield '\n';
    })();
    const options = { clock: manualClock(), cutter, flushAfterMs: 1 };
    await expect(feedText(pieces, heard, options)).rejects.toMatchObject({ exit: 'usage' });
    expect(heard.said).toEqual([]);
  },
);

test('without a cutter text waits only for an entry of the lexicon, or for the end of a word', async () => {
  const lexicon = new Lexicon([
    { written: 'New York City', spoken: 'N Y C' },
    { written: 'C++', spoken: 'see plus plus' },
  ]);
  const heard = listener();
  const { pieces, write } = pipe();
  const fed = feedText(pieces, heard, {
    clock: manualClock(),
    cutter: undefined,
    flushAfterMs: undefined,
    lexicon,
  });
  const steps = [
    [' ', []],
    ['It ', [' It ']],
    ['snows in', ['snows ']],
    [' New', ['in ']],
    [' York ', []],
    ['now, ', ['New York now, ']],
    ['C+', []],
    ['+', []],
    ['!', ['see plus plus!']],
    [' New York', [' ']],
    [undefined, ['New York', '(end)']],
  ] as const;
  for (const [piece, said] of steps) {
    heard.said.length = 0;
    await write(piece);
    expect(heard.said).toEqual(said);
  }
  await fed;
});

test.each(['sentence', 'line', undefined] as const)(
  'words are replaced however the text is cut (segments by %s)',
  async (by) => {
    const lexicon = new Lexicon([
      { written: 'nginx', spoken: 'engine x' },
      { written: 'New York', spoken: 'N Y' },
    ]);
    const text = 'nginx runs in New York. Not nginxes!\nIs it New York? Ask nginx';
    const expected = lexicon.speak(text).replaceAll(/\s+/g, ' ');
    const cuts = fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 60, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(cuts, async (lengths) => {
        const heard = listener();
        async function* pieces() {
          let at = 0;
          for (const length of lengths) {
            if (at < text.length) yield text.slice(at, at + length);
            at += length;
          }
        }
        await feedText(pieces(), heard, {
          clock: manualClock(),
          cutter: by === undefined ? undefined : createSegmentCutter(by),
          flushAfterMs: undefined,
          lexicon,
        });
        const said = heard.said.slice(0, -1).join(by === undefined ? '' : ' ');
        expect(said.replaceAll(/\s+/g, ' ')).toBe(expected);
      }),
      { numRuns: 100 },
    );
  },
);
