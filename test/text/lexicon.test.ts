import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainText, writtenEdits } from '../../src/text/document.ts';
import type { LexiconEntry } from '../../src/text/word-matcher.ts';
import { entryProblem, Lexicon } from '../../src/text/lexicon.ts';
import { countSteps } from '../harness/count-steps.ts';

describe('a lexicon', () => {
  it.each([
    ['replaces a word', 'I run nginx.', 'nginx=engine x', 'I run engine x.'],
    ['leaves parts of words as they are', 'nginxd, anginx, nginx2', 'nginx=engine x', undefined],
    [
      'ignores case',
      'KUBECTL and Kubectl',
      'kubectl=cube control',
      'cube control and cube control',
    ],
    [
      'ignores the case of an entry with a capital first letter',
      'the worcester',
      'Worcester=wooster',
      'the wooster',
    ],
    [
      'requires the case of an entry with a later capital',
      'SQL, sql, Sql',
      'SQL=sequel',
      'sequel, sql, Sql',
    ],
    [
      'prefers the longest entry',
      'New York City, New York',
      'New York=N Y|New York City=N Y C',
      'N Y C, N Y',
    ],
    ['returns to a shorter entry', 'a b d', 'a b c=long|a=first', 'first b d'],
    ['prefers an entry with case of the same length', 'IT it', 'it=low|IT=high', 'high low'],
    ['lets the later entry for a word count', 'nginx', 'nginx=one|Nginx=two', 'two'],
    ['accepts any white space within a phrase', 'New\n  York', 'New York=N Y', 'N Y'],
    ['keeps the apostrophe after a word', 'Siobhan’s cat', 'siobhan=Shivawn', 'Shivawn’s cat'],
    ['accepts both apostrophes', 'I don’t', "don't=do not", 'I do not'],
    ['replaces signs next to digits', '5% of AT&T', '%= percent', '5 percent of AT&T'],
    [
      'parts the spoken form of a sign from the words beside it',
      'a@b, AT&T, (x@y) @home 5+3 a→b I♥NY 3.5 @@ a@@b 用@写 a @ b',
      '@=at|&=and|+=plus|→=to|♥=love|.=point',
      'a at b, AT and T, (x at y) at home 5 plus 3 a to b I love NY 3 point 5 at at a at at b 用at写 a at b',
    ],
    ['does not part the sign that is spoken for a sign', 'a*b a/b', '*=×|/=, or', 'a×b a, or b'],
    ['parts clitics', "I'll, l’eau", "'ll=will|l'=le", 'I will, le eau'],
    ['knows accents in both forms', 'cafe\u0301 café', 'café=kafay', 'kafay kafay'],
    ['does not take a letter away from its accent', 'cafe\u0301', 'cafe=kafe', undefined],
    ['finds words in Chinese', '我去重庆旅游', '重庆=chong qing', '我去chong qing旅游'],
    ['does not split Katakana', 'アイスとアイ', 'アイ=eye', 'アイスとeye'],
    ['does not replace what it has inserted', 'a b', 'a=b|b=c', 'b c'],
    [
      'replaces at both ends, after characters outside of the BMP',
      '👋 x 👋x',
      'x=eks',
      '👋 eks 👋eks',
    ],
    [
      'replaces C++ and .NET',
      'C++ on .NET',
      'C++=see plus plus|.NET=dot net',
      'see plus plus on dot net',
    ],
    [
      'does not match signs at an edge within a word',
      'ASP.NET, C++20, me@home, w/o, U.S.A., F#m',
      '.NET=dot net|C++=see plus plus|@home=at home|w/=with|U.S.=United States|F#=F sharp',
      undefined,
    ],
    [
      'matches signs at an edge beside other signs, units and abbreviations',
      '(.NET) C++/CLI 20°C US$5 No.5 F#, 用.NET写 l’eau',
      ".NET=dot net|C++=see|°C=degrees|US$=dollars |No.=number |F#=F sharp|l'=le ",
      '(dot net) see/CLI 20 degrees dollars 5 number 5 F sharp, 用dot net写 le eau',
    ],
  ])('%s', (_, text, entries, spoken) => {
    expect(lexiconOf(entries).speak(text)).toBe(spoken ?? text);
  });

  it('keeps the written words, and the pauses', () => {
    const source = plainText('nginx and New York', [{ at: 13, ms: 500 }]);
    const spoken = lexiconOf('nginx=engine x|New York=wrong|york=Yorrick').apply(source);
    expect(spoken.text).toBe('engine x and New Yorrick');
    expect(spoken.written).toBe(source.written);
    expect(spoken.pauses).toEqual([{ at: 16, ms: 500 }]);
    expect(writtenEdits(spoken).map(({ insert }) => insert)).toEqual(['nginx', 'York']);
  });

  it('returns the same text if no word is in it', () => {
    const source = plainText('Nothing here.');
    expect(lexiconOf('nginx=engine x').apply(source)).toBe(source);
  });

  it('replaces the same as a search for each entry at each place', () => {
    const words = fc.constantFrom('a', 'B', 'ab', 'aB', '-', ' ', 'é', '重', '1', '👋');
    const phrase = fc.array(words, { minLength: 1, maxLength: 4 }).map((one) => one.join(''));
    const entry = fc
      .record({ written: phrase, spoken: fc.constantFrom('X', 'a', 'B b', '重') })
      .filter((one) => entryProblem(one) === undefined);
    const text = fc.array(words, { maxLength: 30 }).map((one) => one.join(''));
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 8 }), text, (entries, source) => {
        expect(new Lexicon(entries).speak(source)).toBe(searched(entries, source));
      }),
      { numRuns: 300 },
    );
  });

  it('settles words that later text cannot change, and only those', () => {
    const words = fc.constantFrom('a', 'B', 'ab', '-', ' ', 'é', '重', '1', '👋', '\u0301');
    const phrase = fc.array(words, { minLength: 1, maxLength: 4 }).map((one) => one.join(''));
    const entry = fc
      .record({ written: phrase, spoken: fc.constantFrom('X', 'B b', '重') })
      .filter((one) => entryProblem(one) === undefined);
    const pieces = fc.array(words, { maxLength: 30 });
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 8 }), pieces, (entries, arriving) => {
        const lexicon = new Lexicon(entries);
        let [said, held] = ['', ''];
        for (const piece of arriving) {
          held += piece;
          const end = lexicon.settled(held);
          said += lexicon.speak(held.slice(0, end));
          held = held.slice(end);
          const longest = Math.max(1, ...entries.map(({ written }) => written.length));
          // A word decides whether an entry begins with the sign after the word, and whether it needs white space.
          const edges = held.match(/^\S*|\S*$/gu) ?? [];
          expect(held.replaceAll(/\s+/g, ' ').length).toBeLessThanOrEqual(
            longest + edges.join('').length,
          );
        }
        expect(said + lexicon.speak(held)).toBe(lexicon.speak(arriving.join('')));
      }),
      { numRuns: 300 },
    );
  });

  it('of 10,000 entries reads 100 kB in linear time, also a text that begins entries again and again', () => {
    const entries = Array.from({ length: 10_000 }, (_, n) => ({
      written: `word${n} ${'a '.repeat(n % 40)}z`,
      spoken: `spoken ${n}`,
    }));
    const pieces = [
      'word17 and some more of this prose, ',
      'a ',
      'word39 a a a a a a a a a a ',
      'a',
    ];
    const lexicon = new Lexicon(entries);
    for (const piece of pieces) {
      const text = piece.repeat(100_000 / piece.length);
      const steps = countSteps(() => lexicon.speak(text));
      expect(steps, piece).toBeLessThan(10 * text.length);
    }
  });
});

function lexiconOf(entries: string): Lexicon {
  return new Lexicon(
    entries.split('|').map((entry) => {
      const [written = '', spoken = ''] = entry.split('=');
      return { written, spoken };
    }),
  );
}

/** A slow lexicon: tries each entry at each place. */
function searched(entries: readonly LexiconEntry[], text: string): string {
  const patterns = entries.map(({ spoken, written }) => {
    const letters = written.trim();
    const isFolded = !/^.[^]*[\p{Lu}\p{Lt}]/u.test(letters);
    const source = letters
      .split(/\s+/)
      .map((one) => one.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
      .join(String.raw`\s+`);
    const word = String.raw`(?!\p{Script=Han})[\p{L}\p{N}\p{M}]`;
    const hasWord = /[\p{L}\p{N}]/u.test(letters);
    const isEdge = (edge: string): boolean =>
      /^(?!\p{Script=Han})[\p{L}\p{N}]/u.test(edge) || (hasWord && edge === '-');
    const before = isEdge(letters.charAt(0)) ? `(?<!${word})` : '';
    const after = isEdge(letters.slice(-1)) ? `(?!${word})` : '';
    return {
      isFolded,
      spoken,
      pattern: new RegExp(before + source + after, isFolded ? 'iuy' : 'uy'),
    };
  });
  let result = '';
  let wasSpoken = false;
  for (let at = 0; at < text.length;) {
    let best:
      | { readonly length: number; readonly spoken: string; readonly isFolded: boolean }
      | undefined;
    for (const { isFolded, pattern, spoken } of patterns) {
      pattern.lastIndex = at;
      const length = pattern.exec(text)?.[0].length ?? 0;
      const isBetter =
        length > (best?.length ?? 0) ||
        (length > 0 && length === best?.length && (best.isFolded || !isFolded));
      if (isBetter) best = { length, spoken: spoken.trim(), isFolded };
    }
    const size = best?.length ?? ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
    const said = best?.spoken ?? text.slice(at, at + size);
    const isWord =
      /(?!\p{Script=Han})[\p{L}\p{N}\p{M}]$/u.test(result) &&
      /^(?!\p{Script=Han})[\p{L}\p{N}\p{M}]/u.test(said);
    result += (isWord && (wasSpoken || best !== undefined) ? ' ' : '') + said;
    wasSpoken = best !== undefined;
    at += size;
  }
  return result;
}
