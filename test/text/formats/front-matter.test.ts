import { expect, test } from 'vitest';
import { readEpub } from '../../../src/text/formats/epub.ts';
import { epubOf } from '../../harness/epub.ts';

const OPS = 'xmlns:epub="http://www.idpf.org/2007/ops"';
const CHAPTERS = ['<p>Half.</p>', '<p>Intro.</p><p id="start">It begins.</p>', '<p>It ends.</p>'];

async function frontMatterOf(book: Uint8Array): Promise<readonly (number | undefined)[]> {
  return (await readEpub(book, 'skip')).map(({ frontMatter }) => frontMatter);
}

test('the landmarks of a book say where its main text begins', async () => {
  const nav = `<html xmlns="http://www.w3.org/1999/xhtml" ${OPS}><body><nav epub:type="landmarks"><ol><li><a epub:type="cover" href="text/c0.xhtml">Cover</a></li><li><a epub:type="bodymatter" href="text/c1.xhtml#start">Start</a></li></ol></nav></body></html>`;
  expect(await frontMatterOf(epubOf(CHAPTERS, {}, { nav }))).toEqual([5, 8, undefined]);
});

test('pages with a type of front matter are front matter, if the book says no more', async () => {
  const pages = [section('titlepage'), section('foreword'), '<p>Text.</p>' + section('toc')];
  expect(await frontMatterOf(epubOf(pages))).toEqual([8, undefined, undefined]);
});

function section(type: string): string {
  return `<section ${OPS} epub:type="${type}"><p>For you.</p></section>`;
}
