import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DocumentError } from '../../../src/text/formats/document-error.ts';
import { readLexicon } from '../../../src/text/formats/read-lexicon.ts';

const NGINX = { written: 'nginx', spoken: 'engine x' };
const SQL = { written: 'SQL', spoken: 'sequel' };

describe('a lexicon file', () => {
  it.each([
    ['tabs', 'nginx\tengine x\nSQL\tsequel\n'],
    ['commas', 'nginx,engine x\nSQL,sequel'],
    ['semicolons', 'nginx;engine x\r\nSQL;sequel\r\n'],
    ['comments and blank lines', '# names\n\nnginx\tengine x\n  # more, of them\nSQL\tsequel\n'],
    ['a header', 'Written\tSpoken\nnginx\tengine x\nSQL\tsequel\n'],
    ['quotes', '"nginx","engine x"\n"SQL","sequel"\n'],
    ['white space around cells', ' nginx , engine x \n SQL , sequel '],
    [
      'PLS',
      `<?xml version="1.0"?>
       <lexicon version="1.0" alphabet="ipa" xml:lang="en"
         xmlns="http://www.w3.org/2005/01/pronunciation-lexicon">
         <metadata><x:y xmlns:x="z">no</x:y></metadata>
         <lexeme><grapheme>nginx</grapheme><alias>engine x</alias><example>nginx</example></lexeme>
         <lexeme><grapheme>SQL</grapheme><phoneme>x</phoneme>
           <alias>squeal</alias><alias prefer="true">sequel</alias></lexeme>
       </lexicon>`,
    ],
  ])('has entries with %s', async (_, text) => {
    await expect(readLexicon(text)).resolves.toEqual([NGINX, SQL]);
  });

  it('keeps commas and quotes of a cell', async () => {
    await expect(readLexicon('Dr,"Doctor, ""the"" one"\n')).resolves.toEqual([
      { written: 'Dr', spoken: 'Doctor, "the" one' },
    ]);
    await expect(readLexicon('Dr, PhD\tDoctor "the" one\n')).resolves.toEqual([
      { written: 'Dr, PhD', spoken: 'Doctor "the" one' },
    ]);
  });

  it('gives all spellings of a lexeme the same pronunciation', async () => {
    const pls =
      '<p:lexicon xmlns:p="x"><p:lexeme><p:grapheme>grey</p:grapheme><p:grapheme>gray</p:grapheme><p:alias>gr<![CDATA[a]]>&#121;</p:alias></p:lexeme></p:lexicon>';
    await expect(readLexicon(pls)).resolves.toEqual([
      { written: 'grey', spoken: 'gray' },
      { written: 'gray', spoken: 'gray' },
    ]);
  });

  it('prefers the first of equal lexemes of a PLS', async () => {
    const pls = `<lexicon>${lexeme('a', 'one')}${lexeme('b', 'two')}${lexeme('a', 'three')}</lexicon>`;
    await expect(readLexicon(pls)).resolves.toEqual([
      { written: 'a', spoken: 'one' },
      { written: 'b', spoken: 'two' },
    ]);
  });

  it.each([
    ['a table', 'tomato\t/təmˈɑːtoʊ/\n'],
    ['CSV', '"tomato" , / təmˈɑːtoʊ / \n'],
    ['PLS', phonemePls('<phoneme>təmˈɑːtoʊ</phoneme><phoneme>təmˈeɪtoʊ</phoneme>')],
    ['PLS with an alphabet', phonemePls('<phoneme alphabet="ipa"> təmˈɑːtoʊ </phoneme>')],
    [
      'PLS, preferred',
      phonemePls('<phoneme>t</phoneme><phoneme prefer="true">təmˈɑːtoʊ</phoneme>'),
    ],
  ])('has the phonemes of %s', async (_, text) => {
    await expect(readLexicon(text)).resolves.toEqual([
      { written: 'tomato', spoken: 'təmˈɑːtoʊ', isPhonemes: true },
    ]);
  });

  it('may have slashes in what is spoken', async () => {
    await expect(readLexicon('bin\t/usr/bin/\nand/or\tand/or\nroot\t/\n')).resolves.toHaveLength(3);
  });

  it('may be empty', async () => {
    await expect(readLexicon('# nothing yet\n')).resolves.toEqual([]);
  });

  it.each([
    ['one column', 'a\tb\n\nnginx\n', 3, '1 column instead of 2'],
    ['three columns', '# x\na,b\nDr,Doctor, the', 3, '3 columns instead of 2'],
    ['no spoken text', 'a\tb\nnginx\t\n', 2, 'the spoken text is empty'],
    ['no written word', '\tb\n', 1, 'the written word is empty'],
    ['a long word', `${'x'.repeat(101)}\tb\n`, 1, 'more than 100 characters'],
    ['an open quote', 'a,b\n"c,d\n', 2, 'not valid CSV: a quote is not closed'],
    ['an unknown element', '<lexicon>\n<word/></lexicon>', 2, '<word> is not supported'],
    ['a lexeme in a lexeme', '<lexicon><lexeme>\n<lexeme/></lexeme></lexicon>', 2, '<lexeme> is'],
    ['another root', '<speak>a</speak>', 1, '<speak> is not supported'],
    [
      'phonemes of another alphabet',
      '<lexicon>\n<lexeme><grapheme>a</grapheme><phoneme alphabet="x-sampa">b</phoneme></lexeme></lexicon>',
      2,
      'the <phoneme> has the alphabet "x-sampa"; supported: ipa',
    ],
    [
      'a lexicon of another alphabet',
      '<lexicon alphabet="x">\n<lexeme><grapheme>a</grapheme><phoneme>b</phoneme></lexeme></lexicon>',
      2,
      'the <phoneme> has the alphabet "x"; supported: ipa',
    ],
    ['no alias', '<lexicon>\n<lexeme><grapheme>a</grapheme></lexeme></lexicon>', 2, 'no <alias>'],
    ['empty phonemes', 'a\tb\nx\t/ /\n', 2, 'the spoken text is empty'],
    ['long phonemes', `x\t/${'ə'.repeat(201)}/\n`, 1, 'more than 200 characters'],
    ['an open element', '<lexicon>\n<lexeme>', 2, 'not well-formed'],
    ['an entity', '<!DOCTYPE x [<!ENTITY a "b">]>\n<lexicon/>', 1, 'DOCTYPE'],
  ])('with %s is refused with its line', async (_, text, line, message) => {
    await expect(readLexicon(text)).rejects.toThrow(message);
    await expect(readLexicon(text)).rejects.toMatchObject({ line });
  });

  it('is read or refused, whatever it holds', async () => {
    const pieces = ['a', ',', '\t', ';', '"', '#', '\n', '<', '>', '<lexicon>', ' ', 'é'];
    const piece = fc.constantFrom(...pieces);
    const text = fc.array(piece, { maxLength: 20 }).map((all) => all.join(''));
    await fc.assert(
      fc.asyncProperty(text, async (source) => {
        await readLexicon(source).catch((error: unknown) => {
          expect(error).toBeInstanceOf(DocumentError);
        });
      }),
      { numRuns: 1_000 },
    );
  });
});

function phonemePls(pronunciations: string): string {
  return `<lexicon><lexeme><grapheme>tomato</grapheme>${pronunciations}</lexeme></lexicon>`;
}

function lexeme(word: string, alias: string): string {
  return `<lexeme><grapheme>${word}</grapheme><alias>${alias}</alias></lexeme>`;
}
