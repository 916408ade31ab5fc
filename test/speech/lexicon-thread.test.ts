import { expect, test } from 'vitest';
import { applyLexiconUntil } from '../../src/speech/document-thread.ts';
import { plainText } from '../../src/text/document.ts';
import { Lexicon } from '../../src/text/lexicon.ts';

const LEXICON = new Lexicon([
  { written: 'sea', spoken: 'ocean' },
  { written: '.NET', spoken: 'dot net' },
]);
const SENTENCE = 'The sea 🌊 of .NET is wide. ';
const LONG = plainText(SENTENCE.repeat(9_000), [{ at: 30, ms: 500 }]);

test('a lexicon replaces the words of a long text as those of a short one', async () => {
  const { signal } = new AbortController();
  const spoken = await applyLexiconUntil(LEXICON, LONG, signal);
  expect(spoken.text.startsWith('The ocean 🌊 of dot net is wide. The ocean')).toBe(true);
  expect(spoken).toEqual(LEXICON.apply(LONG));
  expect(await applyLexiconUntil(LEXICON, plainText(SENTENCE), signal)).toEqual(
    LEXICON.apply(plainText(SENTENCE)),
  );
});

test('a stop signal ends the replacement of words in a long text', async () => {
  const stop = new AbortController();
  const stopped = applyLexiconUntil(LEXICON, LONG, stop.signal);
  stop.abort(new Error('stopped'));
  await expect(stopped).rejects.toThrow('stopped');
});
