import { describe, expect, it } from 'vitest';
import { readOdt } from '../../../src/text/formats/odt.ts';
import { zipOf } from '../../harness/epub.ts';
import { odtOf } from '../../harness/office-documents.ts';

const STYLES = `<style:style style:name="Title" style:family="paragraph"/>
<style:style style:name="Hidden" style:family="text"><style:text-properties text:display="none"/></style:style>
<text:list-style style:name="Common"><text:list-level-style-number text:level="1" style:num-format="1"/></text:list-style>`;
const AUTOMATIC = `<style:style style:name="P1" style:parent-style-name="Title"/>
<style:style style:name="T1" style:parent-style-name="Hidden"/>
<style:style style:name="T2"><style:text-properties style:text-position="super 58%"/></style:style>
<style:style style:name="T3" style:parent-style-name="Hidden"><style:text-properties text:display="true"/></style:style>
<text:list-style style:name="L1"><text:list-level-style-number text:level="1" style:num-format="1" text:start-value="3"/>
<text:list-level-style-number text:level="2" style:num-format="a"/></text:list-style>
<text:list-style style:name="L2"><text:list-level-style-bullet text:level="1"/></text:list-style>`;

async function textOf(content: string): Promise<string> {
  const parts = await readOdt(odtOf(content, AUTOMATIC, STYLES));
  return parts.map(({ text }) => text).join('\n\n');
}

const item = (text: string): string => `<text:list-item>${text}</text:list-item>`;
const list = (style: string, items: string, more = ''): string =>
  `<text:list text:style-name="${style}" ${more}>${items}</text:list>`;
const p = (text: string): string => `<text:p>${text}</text:p>`;

describe('the text of an OpenDocument text', () => {
  it.each([
    ['paragraphs', p('One <text:span>two</text:span>.') + p('Three.'), 'One two.\n\nThree.'],
    ['white space', p('a<text:s text:c="3"/>b<text:tab/>c<text:line-break/>d'), 'a b c\nd'],
    ['signs', p('a &lt;b&gt; &amp; c'), 'a <b> & c'],
    ['headings', '<text:h text:outline-level="1">One</text:h><text:h>Two</text:h>', 'One.\n\nTwo.'],
    ['titles', '<text:p text:style-name="P1">One</text:p>', 'One.'],
    [
      'hidden text',
      p(
        'a<text:span text:style-name="T1">HIDDEN</text:span><text:span text:style-name="T3">b</text:span>',
      ),
      'ab',
    ],
    [
      'hidden sections',
      `<text:section text:display="none">${p('HIDDEN')}</text:section>${p('a')}`,
      'a',
    ],
    [
      'deleted text',
      `<text:tracked-changes><text:changed-region><text:deletion>${p('OLD')}</text:deletion></text:changed-region></text:tracked-changes>${p('a<text:change text:change-id="1"/>b')}`,
      'ab',
    ],
    [
      'notes',
      p(
        `a<text:note text:note-class="footnote"><text:note-citation>1</text:note-citation><text:note-body>${p('NOTE')}</text:note-body></text:note>.`,
      ),
      'a.',
    ],
    ['marks of notes', p('word<text:span text:style-name="T2">12</text:span>.'), 'word.'],
    ['powers', p('10<text:span text:style-name="T2">6</text:span>'), '10⁶'],
    ['comments', p(`a<office:annotation>${p('COMMENT')}</office:annotation>b`), 'ab'],
    ['page numbers', p('a<text:page-number>7</text:page-number>'), 'a'],
    [
      'tables of contents',
      `<text:table-of-content><text:index-body>${p('CONTENTS 7')}</text:index-body></text:table-of-content>${p('a')}`,
      'a',
    ],
    [
      'lists',
      list('L1', item(p('a') + list('L1', item(p('b')))) + item(p('c'))) +
        list('L2', item(p('d') + p('e'))),
      '3. a.\nA. b.\n4. c.\nd.\n\ne',
    ],
    [
      'lists that continue',
      list('L1', item(p('a'))) +
        list('L1', item(p('b'))) +
        list('L1', item(p('c')), 'text:continue-numbering="true"'),
      '3. a.\n3. b.\n4. c.',
    ],
    [
      'lists in common styles',
      list('Common', `<text:list-item text:start-value="7">${p('a')}</text:list-item>`),
      '7. a.',
    ],
    [
      'tables',
      `<table:table><table:table-header-rows><table:table-row><table:table-cell>${p('a')}</table:table-cell><table:table-cell>${p('b')}</table:table-cell></table:table-row></table:table-header-rows></table:table>`,
      'a, b.',
    ],
    [
      'text boxes',
      p(`a <draw:frame><draw:text-box>${p('box')}</draw:text-box></draw:frame>b`),
      'box\n\na b',
    ],
    [
      'pictures',
      p('<draw:frame><draw:image/><svg:desc>A "cat"</svg:desc></draw:frame>'),
      'A "cat"',
    ],
    [
      'readings of characters',
      p(
        '<text:ruby><text:ruby-base>字</text:ruby-base><text:ruby-text>READING</text:ruby-text></text:ruby>',
      ),
      '字',
    ],
  ])('has %s', async (_what, content, text) => {
    expect(await textOf(content)).toBe(text);
  });
});

const chapter = (title: string): string =>
  `<text:h text:outline-level="1">${title}</text:h>${p('Text.')}`;

it('chapters of an OpenDocument text begin at its headings', async () => {
  const parts = await readOdt(odtOf(chapter('One') + chapter('Two')));
  expect(parts.map(({ chapters }) => chapters)).toEqual([
    [{ title: 'One', at: 0 }],
    [{ title: 'Two', at: 0 }],
  ]);
});

const MATH = 'http://www.w3.org/1998/Math/MathML';

const FRAME =
  '<draw:frame><draw:object xlink:href="./Object 1"/><svg:desc>DESCRIPTION</svg:desc></draw:frame>';

it('formulas of an OpenDocument text are files of their own', async () => {
  const math = `<?xml version="1.0"?><!DOCTYPE math:math><m:math xmlns:m="${MATH}"><m:semantics><m:msup><m:mi>x</m:mi><m:mn>2</m:mn></m:msup><m:annotation>x^2</m:annotation></m:semantics></m:math>`;
  const formulas = { 'Object 1/content.xml': math, 'Object 2/content.xml': '<chart/>' };
  const odt = odtOf(p(`a ${FRAME} b`), '', '', formulas);
  expect((await readOdt(odt))[0]?.text).toBe('a x² b');
});

it.each([
  [zipOf({ 'content.xml': '<a/>' }), 'not an OpenDocument text: it has no <office:text>'],
  [zipOf({ 'styles.xml': '<a/>' }), 'the document has no file content.xml'],
  [zipOf({ 'content.xml': '<a>\n<b></a>' }), 'content.xml, line 2: not well-formed XML'],
  [
    zipOf({ 'META-INF/manifest.xml': '<a><manifest:encryption-data/></a>' }),
    'the document is encrypted',
  ],
])('a document that is no OpenDocument text is refused', async (bytes, message) => {
  await expect(readOdt(bytes)).rejects.toThrow(message);
});
