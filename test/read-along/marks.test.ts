import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readElements } from '../../src/read-along/element-tree.ts';
import type { Unit } from '../../src/read-along/mark-units.ts';
import { insert, markUnits } from '../../src/read-along/mark-units.ts';
import { readHtml, readHtmlOrigins } from '../../src/text/formats/html.ts';
import { readXml } from '../../src/text/formats/xml.ts';
import { splitSentences } from '../../src/text/sentences.ts';
import { stripMarks } from './strip-marks.ts';

function document(body: string): string {
  return `<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml"><head><title>T</title></head><body>${body}</body></html>`;
}

function sentencesOf(text: string): Unit[] {
  return [...text.matchAll(/[^\n]+/g)].flatMap(({ 0: line, index }) =>
    splitSentences(line).map(({ start, text: sentence }) => {
      return { start: index + start, end: index + start + sentence.trimEnd().length };
    }),
  );
}

function wordsOf(text: string): Unit[] {
  return [...text.matchAll(/\S+/g)].map(({ 0: word, index }) => {
    return { start: index, end: index + word.length };
  });
}

function mark(xhtml: string, unitsOf = sentencesOf) {
  const { origins, text } = readHtmlOrigins(xhtml);
  const units = unitsOf(text);
  const { insertions, parts } = markUnits(readElements(xhtml), origins, units);
  return { marked: insert(xhtml, insertions), parts, text, units };
}

function markedBody(body: string, unitsOf = sentencesOf): string {
  const { marked } = mark(document(body), unitsOf);
  return marked.slice(marked.indexOf('<body>') + 6, -'</body></html>'.length);
}

describe('a sentence', () => {
  test.each([
    ['that is an element gives it an id', '<p>One.</p>', '<p id="foley-1">One.</p>'],
    ['keeps the id of its element', '<p id="a">One.</p>', '<p id="a">One.</p>'],
    [
      'in one of several elements around it gives the block an id',
      '<div><p><b><i>One.</i></b></p></div>',
      '<div><p id="foley-1"><b><i>One.</i></b></p></div>',
    ],
    [
      'among others is put into a span',
      '<p>One. <em>Two</em> is here.</p>',
      '<p><span id="foley-1">One.</span> <span id="foley-2"><em>Two</em> is here.</span></p>',
    ],
    [
      'that is an inline element among others uses this element',
      '<p>One. <em>Two.</em></p>',
      '<p><span id="foley-1">One.</span> <em id="foley-2">Two.</em></p>',
    ],
    [
      'that begins inside of an element has a part inside and one after it',
      '<p><em>One. Two</em> ends.</p>',
      '<p><em><span id="foley-1">One.</span> <span id="foley-2">Two</span></em> <span id="foley-3">ends.</span></p>',
    ],
    [
      'has entities, notes, formulas and images inside',
      '<p>A &amp; b<a epub:type="noteref" href="#n">1</a> <math><mi>x</mi></math> <img alt="a cat" src="c"/> runs. Two.</p>',
      '<p><span id="foley-1">A &amp; b<a epub:type="noteref" href="#n">1</a> <math><mi>x</mi></math> <img alt="a cat" src="c"/> runs.</span> <span id="foley-2">Two.</span></p>',
    ],
    [
      'that is an image gives the figure an id',
      '<figure><img alt="A cat." src="c"/></figure>',
      '<figure id="foley-1"><img alt="A cat." src="c"/></figure>',
    ],
    [
      'in a row of a table uses the row, not a span around cells',
      '<table><tr><td>A</td><td>B</td></tr></table>',
      '<table><tr id="foley-1"><td>A</td><td>B</td></tr></table>',
    ],
    [
      'in Chinese is split without spaces',
      '<p>你好。再见。</p>',
      '<p><span id="foley-1">你好。</span><span id="foley-2">再见。</span></p>',
    ],
    [
      'with ruby includes the pronunciations',
      '<p>An <ruby>漢<rt>kan</rt></ruby> sign. End.</p>',
      '<p><span id="foley-1">An <ruby>漢<rt>kan</rt></ruby> sign.</span> <span id="foley-2">End.</span></p>',
    ],
    [
      'with a CDATA section includes all of it, or begins after it',
      '<p>One <![CDATA[two <b>. Three]]> four.</p>',
      '<p><span id="foley-1">One <![CDATA[two <b>. Three]]></span> <span id="foley-2">four.</span></p>',
    ],
    [
      'with a soft hyphen includes it',
      '<p>Ex\u00adample. Two.</p>',
      '<p><span id="foley-1">Ex\u00adample.</span> <span id="foley-2">Two.</span></p>',
    ],
    [
      'outside of paragraphs is put into a span, never the body',
      'One.',
      '<span id="foley-1">One.</span>',
    ],
    [
      'avoids the ids that the document has',
      '<p id="foley-1">One.</p><p>Two.</p>',
      '<p id="foley-1">One.</p><p id="foleyx-1">Two.</p>',
    ],
    [
      'that is not spoken has no id',
      '<p>One.</p><nav>Two.</nav>',
      '<p id="foley-1">One.</p><nav>Two.</nav>',
    ],
  ])('%s', (_title, body, expected) => {
    expect(markedBody(body)).toBe(expected);
  });

  test('has spans with the prefix of the document', () => {
    const xhtml =
      '<h:html xmlns:h="http://www.w3.org/1999/xhtml"><h:body><h:p>One. Two.</h:p></h:body></h:html>';
    expect(mark(xhtml).marked).toContain('<h:span id="foley-1">One.</h:span>');
  });
});

test('each word is put into a span', () => {
  expect(markedBody('<p>One <em>two</em>.</p>', wordsOf)).toBe(
    '<p><span id="foley-1">One</span> <span id="foley-2"><em>two</em>.</span></p>',
  );
});

test.each(['<p>a<br>b</p>', '<p>a', '<p><b>x</p></b>', '<div><p>a</div>'])(
  'a document that is not well-formed is refused with its line: %s',
  (body) => {
    expect(() => readElements(`\n\n${document(body)}`)).toThrow(/has no end tag/);
  },
);

describe('any document', () => {
  const word = fc.constantFrom(
    'one',
    'two.',
    'Three',
    '&amp;',
    '42.',
    'x\u00ady',
    '你好。',
    '“No!”',
    'é',
  );
  const text = fc.array(word, { minLength: 1, maxLength: 8 }).map((words) => words.join(' '));
  const inline = fc.letrec<{ readonly node: string }>((tie) => ({
    node: fc.oneof(
      { maxDepth: 3 },
      text,
      fc.constantFrom(
        '<br/>',
        '<img alt="a cat" src="c"/>',
        '<!-- no. --> ',
        '<a epub:type="noteref" href="#n">3</a>',
      ),
      fc
        .tuple(
          fc.constantFrom('em', 'b', 'span class="s"', 'a'),
          fc.array(tie('node'), { maxLength: 3 }),
        )
        .map(([tag, inner]) => `<${tag}>${inner.join(' ')}</${tag.split(' ')[0]}>`),
      fc.constantFrom('x<sup>2</sup>', '<math><mi>x</mi></math>', '<ruby>漢<rt>kan</rt></ruby>'),
    ),
  })).node;
  const block = fc
    .tuple(
      fc.constantFrom('p', 'h2', 'li', 'div', 'td'),
      fc.array(inline, { minLength: 1, maxLength: 4 }),
    )
    .map(([name, inner]) => {
      const own = `<${name}>${inner.join('')}</${name}>`;
      if (name === 'li') return `<ol>${own}${own}</ol>`;
      return name === 'td' ? `<table><tr>${own}${own}</tr></table>` : own;
    });
  const anyDocument = fc
    .array(block, { minLength: 1, maxLength: 5 })
    .map((all) => document(all.join('\n')));

  test.each([
    ['sentences', sentencesOf],
    ['words', wordsOf],
  ])('stays the same but for ids and spans, and keeps its text: %s', (_name, unitsOf) => {
    fc.assert(
      fc.property(anyDocument, (xhtml) => {
        const { marked, parts, text: spoken } = mark(xhtml, unitsOf);
        expect(stripMarks(marked)).toBe(xhtml);
        expect(readHtml(marked, 'skip').text).toBe(spoken);
        const ids: string[] = [];
        readXml(marked, {
          open: (_tag, { id }) => {
            if (id !== undefined) ids.push(id);
          },
        });
        // Each part is an element of its own, in the order of the document.
        expect(ids).toEqual(parts.map(({ id }) => id));
        expect(parts.map(({ textStart }) => textStart)).toEqual(
          parts.map(({ textStart }) => textStart).toSorted((a, b) => a - b),
        );
      }),
      { numRuns: 200 },
    );
  });

  test('has positions after its first 64 KiB', () => {
    const body = Array.from(
      { length: 5_000 },
      (_, index) => `<p>Word ${index} &amp; more. End.</p>`,
    );
    const { marked, parts } = mark(document(body.join('')));
    expect(parts).toHaveLength(10_000);
    expect(stripMarks(marked)).toBe(document(body.join('')));
    expect(marked).toContain('<span id="foley-9999">Word 4999 &amp; more.</span>');
  });
});
