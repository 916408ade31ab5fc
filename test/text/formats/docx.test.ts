import { describe, expect, it } from 'vitest';
import { readDocx } from '../../../src/text/formats/docx.ts';
import { docxOf } from '../../harness/office-documents.ts';

const run = (text: string, properties = ''): string =>
  `<w:r><w:rPr>${properties}</w:rPr><w:t xml:space="preserve">${text}</w:t></w:r>`;
const paragraph = (content: string, properties = ''): string =>
  `<w:p><w:pPr>${properties}</w:pPr>${content}</w:p>`;
const styled = (style: string, text: string): string =>
  paragraph(run(text), `<w:pStyle w:val="${style}"/>`);
const style = (id: string, name: string, content = ''): string =>
  `<w:style w:type="paragraph" w:styleId="${id}"><w:name w:val="${name}"/>${content}</w:style>`;
const STYLES = [
  style('H1', 'heading 1'),
  style('H2', 'heading 2'),
  style('Mine', 'My heading', '<w:basedOn w:val="H2"/>'),
  style('T', 'Title'),
  style('C', 'Table caption', '<w:basedOn w:val="T"/>'),
  style('TOC1', 'toc 1'),
  style('Secret', 'Secret', '<w:rPr><w:vanish/></w:rPr>'),
].join('');

const level = (ilvl: number, format: string, text: string, start = 1): string =>
  `<w:lvl w:ilvl="${ilvl}"><w:start w:val="${start}"/><w:numFmt w:val="${format}"/><w:lvlText w:val="${text}"/></w:lvl>`;
const NUMBERING = `<w:abstractNum w:abstractNumId="7">${level(0, 'decimal', '%1.')}${level(1, 'lowerLetter', '%2)', 2)}</w:abstractNum>
<w:abstractNum w:abstractNumId="8">${level(0, 'bullet', '·')}</w:abstractNum>
<w:abstractNum w:abstractNumId="9">${level(0, 'decimal', 'Chapter %1:')}${level(1, 'upperLetter', '%1.%2')}</w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>
<w:num w:numId="2"><w:abstractNumId w:val="8"/></w:num>
<w:num w:numId="3"><w:abstractNumId w:val="9"/></w:num>
<w:num w:numId="4"><w:abstractNumId w:val="7"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num>`;
const item = (list: number, depth: number, text: string, more = ''): string =>
  paragraph(
    run(text),
    `${more}<w:numPr><w:ilvl w:val="${depth}"/><w:numId w:val="${list}"/></w:numPr>`,
  );
const field = (code: string, result: string): string =>
  `<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> ${code} </w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>${result}<w:r><w:fldChar w:fldCharType="end"/></w:r>`;

async function textOf(body: string): Promise<string> {
  const parts = await readDocx(docxOf(body, STYLES, NUMBERING));
  return parts.map(({ text }) => text).join('\n\n');
}

describe('the text of a Word document', () => {
  it.each([
    ['runs', paragraph(run('One ') + run('two') + run('.')), 'One two.'],
    [
      'breaks',
      paragraph('<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t></w:r>'),
      'a b\nc',
    ],
    ['tab stops', paragraph(run('a'), '<w:tabs><w:tab w:val="left"/></w:tabs>'), 'a'],
    ['signs', paragraph(run('a &lt;b&gt; &amp; c')), 'a <b> & c'],
    ['soft hyphens', paragraph('<w:r><w:t>a</w:t><w:softHyphen/><w:t>b</w:t></w:r>'), 'ab'],
    [
      'headings',
      styled('H1', 'One') + styled('Mine', 'Two') + styled('T', 'Three'),
      'One.\n\nTwo.\n\nThree.',
    ],
    ['outline levels', paragraph(run('One'), '<w:outlineLvl w:val="0"/>'), 'One.'],
    [
      'hidden text',
      paragraph(run('a') + run('HIDDEN', '<w:vanish/>') + run('b', '<w:vanish w:val="0"/>')),
      'ab',
    ],
    ['hidden text by its style', styled('Secret', 'HIDDEN') + paragraph(run('a')), 'a'],
    [
      'deleted and inserted text',
      paragraph(`<w:ins>${run('new')}</w:ins><w:del><w:r><w:delText>OLD</w:delText></w:r></w:del>`),
      'new',
    ],
    [
      'moved text',
      paragraph(`<w:moveFrom>${run('OLD')}</w:moveFrom><w:moveTo>${run('new')}</w:moveTo>`),
      'new',
    ],
    [
      'deleted ends of paragraphs',
      paragraph(run('a '), '<w:rPr><w:del/></w:rPr>') + paragraph(run('b')),
      'a b',
    ],
    [
      'notes',
      paragraph(
        `${run('a')}<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:footnoteReference w:id="1"/></w:r>${run('.')}`,
      ),
      'a.',
    ],
    [
      'marks of notes',
      paragraph(run('word') + run('12', '<w:vertAlign w:val="superscript"/>') + run('.')),
      'word.',
    ],
    ['powers', paragraph(run('10') + run('6', '<w:vertAlign w:val="superscript"/>')), '10⁶'],
    [
      'comments',
      paragraph(
        `<w:commentRangeStart w:id="1"/>${run('a')}<w:commentRangeEnd w:id="1"/><w:r><w:commentReference w:id="1"/></w:r>`,
      ),
      'a',
    ],
    [
      'page numbers',
      paragraph(
        run('a') + field('PAGE', run('7')) + run(' b') + field('NUMPAGES \\* Arabic', run('9')),
      ),
      'a b',
    ],
    [
      'simple page numbers',
      paragraph(`${run('a')}<w:fldSimple w:instr=" PAGE "><w:r><w:t>7</w:t></w:r></w:fldSimple>`),
      'a',
    ],
    [
      'links',
      paragraph(
        field('HYPERLINK "http://a.example"', run('here')) +
          `<w:hyperlink r:id="a">${run(' there')}</w:hyperlink>`,
      ),
      'here there',
    ],
    [
      'fields in the code of a field',
      paragraph(
        field(`IF </w:instrText></w:r>${field('PAGE', run('1'))}<w:r><w:instrText> = 1`, run('a')),
      ),
      'a',
    ],
    [
      'a field without an end',
      paragraph(`${run('a')}<w:r><w:fldChar w:fldCharType="begin"/></w:r>`) + paragraph(run('b')),
      'a\n\nb',
    ],
    ['tables of contents', styled('TOC1', 'CONTENTS 7') + paragraph(run('a')), 'a'],
    [
      'tables of contents in a control',
      `<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj></w:sdtPr><w:sdtContent>${paragraph(run('CONTENTS'))}</w:sdtContent></w:sdt><w:sdt><w:sdtContent>${paragraph(run('a'))}</w:sdtContent></w:sdt>`,
      'a',
    ],
    [
      'prompts',
      paragraph(
        `<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>${run('Click here')}</w:sdtContent></w:sdt>${run('a')}`,
      ),
      'a',
    ],
    [
      'lists',
      item(1, 0, 'a') + item(1, 1, 'b') + item(1, 1, 'c') + item(1, 0, 'd') + item(2, 0, 'e'),
      '1. a.\nB. b.\nC. c.\n2. d.\ne.',
    ],
    [
      'lists that start again',
      item(1, 0, 'a') + item(4, 0, 'b') + item(4, 0, 'c'),
      '1. a.\n5. b.\n6. c.',
    ],
    [
      'numbered headings',
      item(3, 0, 'One', '<w:pStyle w:val="H1"/>') + item(3, 1, 'Two', '<w:pStyle w:val="H2"/>'),
      'Chapter 1: One.\n\n1.A Two.',
    ],
    ['paragraphs without their list', item(0, 0, 'a'), 'a'],
    [
      'tables',
      `<w:tbl><w:tr><w:tc>${paragraph(run('a'))}${paragraph(run('b'))}</w:tc><w:tc>${paragraph(run('c'))}</w:tc></w:tr><w:tr><w:tc>${paragraph(run('d'))}</w:tc></w:tr></w:tbl>`,
      'a b, c.\nd.',
    ],
    [
      'text boxes once',
      paragraph(
        `${run('a ')}<w:r><mc:AlternateContent><mc:Choice><wps:txbx><w:txbxContent>${paragraph(run('box'))}</w:txbxContent></wps:txbx></mc:Choice><mc:Fallback><v:textbox><w:txbxContent>${paragraph(run('BOX'))}</w:txbxContent></v:textbox></mc:Fallback></mc:AlternateContent></w:r>${run('b')}`,
      ),
      'box\n\na b',
    ],
    ['pictures', paragraph('<w:r><wp:docPr descr="A &quot;cat&quot;"/></w:r>'), 'A "cat"'],
    [
      'readings of characters',
      paragraph(
        `<w:r><w:ruby><w:rt>${run('READING')}</w:rt><w:rubyBase>${run('字')}</w:rubyBase></w:ruby></w:r>`,
      ),
      '字',
    ],
    [
      'fractions',
      paragraph(
        '<m:oMath><m:f><m:num><m:r><m:t>a+1</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f></m:oMath>',
      ),
      '(a + 1)/2',
    ],
    [
      'powers in formulas',
      paragraph(
        '<m:oMath><m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath>',
      ),
      'x²',
    ],
    ['captions', styled('C', 'One') + paragraph(run('a')), 'One.\n\na'],
    [
      'sums',
      paragraph(
        '<m:oMath><m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub><m:r><m:t>i=1</m:t></m:r></m:sub><m:sup><m:r><m:t>n</m:t></m:r></m:sup><m:e><m:d><m:e><m:r><m:t>i</m:t></m:r></m:e></m:d></m:e></m:nary></m:oMath>',
      ),
      '∑ i = 1 n(i)',
    ],
    [
      'roots',
      paragraph(
        '<m:oMath><m:rad><m:deg><m:r><m:t>3</m:t></m:r></m:deg><m:e><m:d><m:e><m:r><m:t>y</m:t></m:r></m:e></m:d></m:e></m:rad></m:oMath>',
      ),
      '3√(y)',
    ],
  ])('has %s', async (_what, body, text) => {
    expect(await textOf(body)).toBe(text);
  });
});

describe('the chapters of a Word document', () => {
  const title = styled('T', 'The book');
  const chapter = (number: number): string =>
    styled('H1', `Chapter ${number}`) + styled('H2', 'A') + paragraph(run('Text.'));

  it('begin at the headings of the first level that occurs more than once', async () => {
    const parts = await readDocx(docxOf(title + chapter(1) + chapter(2), STYLES));
    expect(parts.map(({ chapters, text }) => ({ chapters, text }))).toEqual([
      { text: 'The book.', chapters: [] },
      { text: 'Chapter 1.\n\nA.\n\nText.', chapters: [{ title: 'Chapter 1', at: 0 }] },
      { text: 'Chapter 2.\n\nA.\n\nText.', chapters: [{ title: 'Chapter 2', at: 0 }] },
    ]);
    const sections = styled('H1', 'Book') + styled('H2', 'A') + styled('H2', 'B');
    const titles = (await readDocx(docxOf(sections, STYLES))).flatMap(({ chapters }) => chapters);
    expect(titles.map((one) => one?.title)).toEqual(['A', 'B']);
  });

  it('are unknown without such headings', async () => {
    const [part, another] = await readDocx(docxOf(title + chapter(1), STYLES));
    expect(another).toBeUndefined();
    expect(part).not.toHaveProperty('chapters');
  });
});

it('a zip archive that is no Word document is refused', async () => {
  await expect(readDocx(Buffer.from('PK\x03\x04'))).rejects.toThrow('not a Word document');
});
