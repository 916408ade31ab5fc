import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSegmentCutter, feedText, markdownPieces } from '../../src/live/feed-text.ts';
import { readMarkdown } from '../../src/text/formats/markdown.ts';
import { manualClock } from '../api/manual-clock.ts';

/** Returns the segments that are said for Markdown that arrives in these pieces. */
async function segmentsOf(pieces: readonly string[]): Promise<readonly string[]> {
  const said: string[] = [];
  const conversation = { say: async (text: string) => void said.push(text), finish() {} };
  const source = (async function* () {
    yield* pieces;
  })();
  const cutter = createSegmentCutter('sentence', { skipsSilent: true });
  const options = { clock: manualClock(), cutter, flushAfterMs: 700 };
  await feedText(markdownPieces(source), conversation, options);
  return said;
}

const ANSWER = `# Result

Here is **how** it works. See [the docs](https://x.com/a_b).

1. Run \`npm test\`
2. Read the *output*:

\`\`\`sh
npm test
\`\`\`

---

| Name | Time |
|------|------|
| a | 2 s. |

***

👋
`;

test('Markdown is spoken in segments, none of which holds nothing to say', async () => {
  const segments = [
    'Result.',
    'Here is how it works.',
    'See the docs.',
    '1. Run npm test.',
    '2. Read the output:',
    'Name, Time.',
    'a, 2 s.',
  ];
  expect(await segmentsOf([ANSWER])).toEqual(segments);
  expect(await segmentsOf(Array.from(ANSWER))).toEqual(segments);
});

const words = (text: string) => text.match(/\S+/g);

test('random cuts of Markdown give the same words as the whole document', async () => {
  const whole = words(readMarkdown(ANSWER.replace('👋\n', ''), 'skip').text);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(ANSWER.length), { maxLength: 30 }), async (drawn) => {
      const places = [0, ...drawn.toSorted((a, b) => a - b)];
      const pieces = places.map((at, index) => ANSWER.slice(at, places[index + 1]));
      const segments = await segmentsOf(pieces);
      expect(words(segments.join(' '))).toEqual(whole);
      expect(segments.filter((segment) => !/[\p{L}\p{N}]/u.test(segment))).toEqual([]);
    }),
  );
});

test('Markdown without anything to say is refused', async () => {
  await expect(segmentsOf(['---\n', '```\ncode\n```\n', '***'])).rejects.toMatchObject({
    exit: 'usage',
  });
});
