import { describe, expect, it } from 'vitest';
import { readFb2 } from '../../../src/text/formats/fb2.ts';
import { zipOf } from '../../harness/epub.ts';
import { fb2Of } from '../../harness/office-documents.ts';

async function textOf(bodies: string): Promise<string> {
  const parts = await readFb2(Buffer.from(fb2Of(bodies)));
  return parts.map(({ text }) => text).join('\n\n');
}

const NOTES = '<body name="notes"><section id="n1"><p>NOTE</p></section></body>';

describe('the text of a FictionBook', () => {
  it.each([
    [
      'paragraphs',
      '<p>One <emphasis>two</emphasis>.</p><empty-line/><p>Three &lt;3&gt;.</p>',
      'One two.\n\nThree <3>.',
    ],
    ['notes', '<p>a<a l:href="#n1" type="note">[1]</a>.</p>', 'a.'],
    ['links to notes', '<p>a<a l:href="#n1"><sup>1</sup></a>.</p>', 'a.'],
    ['links', '<p>a <a l:href="http://a.example">here</a>.</p>', 'a here.'],
    ['powers', '<p>10<sup>6</sup></p>', '10⁶'],
    [
      'titles in rows',
      '<title><p>Chapter 1</p><empty-line/><p>Who?</p><p>Me</p></title><p>a</p>',
      'Chapter 1. Who? Me.\n\na',
    ],
    ['subtitles', '<subtitle>Sub</subtitle><p>a</p>', 'Sub.\n\na'],
    [
      'poems',
      '<poem><title><p>Ode</p></title><stanza><v>One,</v><v>two.</v></stanza><text-author>Ann</text-author></poem>',
      'Ode.\n\nOne,\ntwo.\n\nAnn',
    ],
    ['quotations', '<cite><p>a</p><text-author>Ann</text-author></cite>', 'a\n\nAnn'],
    ['annotations', '<annotation><p>ANNOTATION</p></annotation><p>a</p>', 'a'],
    ['pictures', '<p><image l:href="#a.png" alt="A &quot;cat&quot;"/></p>', 'A "cat"'],
    ['tables', '<table><tr><th>a</th><th>b</th></tr><tr><td>c</td></tr></table>', 'a, b.\nc.'],
  ])('has %s', async (_what, section, text) => {
    expect(await textOf(`<body><section>${section}</section></body>${NOTES}`)).toBe(text);
  });
});

const section = (title: string, more = ''): string =>
  `<section><title><p>${title}</p></title><p>Text.</p>${more}</section>`;

it('chapters of a FictionBook begin at the titles of its sections', async () => {
  const poem = '<poem><title><p>Ode</p></title><stanza><v>a</v></stanza></poem>';
  const body = `<body><title><p>Ann</p><p>The book</p></title>${section('One', poem)}${section('Two')}</body>`;
  const parts = await readFb2(Buffer.from(fb2Of(body + NOTES)));
  expect(parts.map(({ chapters, text }) => [text.slice(0, 9), chapters])).toEqual([
    ['Ann. The ', []],
    ['One.\n\nTex', [{ title: 'One', at: 0 }]],
    ['Two.\n\nTex', [{ title: 'Two', at: 0 }]],
  ]);
});

it('a FictionBook may be in another encoding, or in a zip archive', async () => {
  const xml = '<?xml version="1.0" encoding="windows-1251"?><FictionBook><body><p>';
  const bytes = Buffer.concat([
    Buffer.from(xml),
    Buffer.from('cff0e8e2e5f2', 'hex'),
    Buffer.from('</p></body></FictionBook>'),
  ]);
  expect((await readFb2(bytes))[0]?.text).toBe('Привет');
  expect((await readFb2(zipOf({ 'a/book.fb2': bytes })))[0]?.text).toBe('Привет');
  await expect(readFb2(zipOf({ 'a.fb2': bytes, 'b.fb2': bytes }))).rejects.toThrow(
    'the archive has several files with the extension .fb2',
  );
});

it('XML that is no FictionBook is refused', async () => {
  await expect(readFb2(Buffer.from('<a><p>b</p></a>'))).rejects.toThrow(
    'not a FictionBook: it has no element <body>',
  );
});
