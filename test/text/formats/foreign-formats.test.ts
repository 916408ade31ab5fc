import { describe, expect, it } from 'vitest';
import { DocumentError } from '../../../src/text/formats/document-error.ts';
import {
  formatOfContent,
  refuseForeign,
  refuseOtherFormat,
} from '../../../src/text/formats/foreign-formats.ts';
import { epubOf, zipOf } from '../../harness/epub.ts';
import { docxOf, odtOf } from '../../harness/office-documents.ts';

const XML = '<?xml version="1.0" encoding="utf-8"?>\n';

/** The name of a file, its content, and the name of the format in the message. */
const FOREIGN: readonly (readonly [string | undefined, string | Uint8Array, string])[] = [
  ['a.txt', '\ufeff[Script Info]\nTitle: a', 'subtitles in the format ASS'],
  ['a.xml', `${XML}<tt xmlns="http://www.w3.org/ns/ttml">`, 'subtitles in TTML'],
  [undefined, '<tt xmlns="http://www.w3.org/ns/ttml"><body>', 'subtitles in TTML'],
  [
    undefined,
    '\ufeff<!-- a -->\n<tt:tt xmlns:tt="http://www.w3.org/ns/ttml">',
    'subtitles in TTML',
  ],
  [undefined, '<SAMI><HEAD>', 'subtitles in SAMI'],
  [undefined, '{0}{25}Hello', 'subtitles in MicroDVD'],
  [
    undefined,
    '<!DOCTYPE article PUBLIC "-//OASIS//DTD DocBook XML V4.5//EN">',
    'a DocBook document',
  ],
  [undefined, '<article xmlns="http://docbook.org/ns/docbook">', 'a DocBook document'],
  [undefined, '<opml version="2.0">', 'an outline in OPML'],
  [undefined, `${XML}<rss version="2.0">`, 'a feed'],
  [undefined, '.\\" Page\n.TH FOLEY 1', 'a manual page'],
  [undefined, 'MIME-Version: 1.0\nFrom: a@b.example\n\nHello', 'an e-mail'],
  [undefined, 'From: <Saved by Blink>\nSubject: a', 'a saved web page'],
  ...[
    ['docbook', 'a DocBook document'],
    ['dbk', 'a DocBook document'],
    ['opml', 'an outline in OPML'],
    ['mediawiki', 'text of a wiki'],
    ['wiki', 'text of a wiki'],
    ['eml', 'an e-mail'],
    ['mht', 'a saved web page'],
    ['mhtml', 'a saved web page'],
    ['xml', 'an XML document'],
    ['json', 'JSON'],
    ['jsonl', 'a list in JSON Lines'],
    ['csv', 'a table'],
    ['yaml', 'YAML'],
    ['yml', 'YAML'],
    ['tex', 'a LaTeX document'],
    ['textile', 'Textile'],
  ].map(([extension = '', name = '']) => [`a.${extension}`, 'Hello', name] as const),
  ['a.json', '{\n "cells": [], "nbformat": 4}', 'a Jupyter notebook'],
  ['a.txt', '% A comment\n\\documentclass{article}', 'a LaTeX document'],
  ['a.rst', 'Title\n=====\n', 'reStructuredText'],
  ['a.ADOC', '= Title\n', 'AsciiDoc'],
  ['a.org', '* Title\n', 'an Org document'],
  [undefined, '%PDF-1.4\n1 0 obj', 'a PDF file'],
  [
    'a.docx',
    zipOf({ '[Content_Types].xml': '', 'ppt/presentation.xml': 'a' }),
    'an Office document',
  ],
  [
    'a.odt',
    zipOf({ mimetype: 'application/vnd.oasis.opendocument.spreadsheet' }),
    'an Office document',
  ],
  ['a.odt', zipOf({ mimetype: 'x', 'content.xml': 'a' }), 'a zip archive'],
  ['a.txt', Buffer.from('d0cf11e0a1b11ae1', 'hex'), 'an old Word document'],
  ['a.txt', Buffer.from('1f8b0800', 'hex'), 'a compressed file'],
  ['a.txt', Buffer.from('89504e470d0a', 'hex'), 'a picture'],
  ['a.mobi', `${'\0'.repeat(60)}BOOKMOBI`, 'a Kindle book'],
];

describe('a format that foley does not read', () => {
  it.each(FOREIGN)('%s with %j is %s', (file, content, name) => {
    const refuse = () => refuseForeign(file, Buffer.from(content));
    expect(refuse).toThrow(DocumentError);
    expect(refuse).toThrow(`it is ${name}, which foley does not read`);
  });

  it.each([
    ['notes.txt', 'The command \\documentclass begins LaTeX, and {\\rtf1 begins Rich Text.'],
    ['a.md', '# PDF\n\n%PDF-1.4 is its first line.'],
    ['dir.rst/a.txt', 'PK is short for penalty kick.'],
    [undefined, 'From: Ann\n\nThe DTD DocBook, <opml> and <tt xmlns="http://www.w3.org/ns/ttml">.'],
    [undefined, '<!-- a --> <p>The root is <rss>.</p>'],
    // Comments that a pattern could divide in many ways.
    [undefined, '<!--a-->'.repeat(500)],
    [undefined, ''],
  ])('is not that of %s with %j', (file, content) => {
    expect(() => refuseForeign(file, Buffer.from(content))).not.toThrow();
  });

  it('is named with a way to convert it', () => {
    expect(hintOf(String.raw`\documentclass{article}`)).toBe(
      'Convert it, for example with: pandoc FILE -o FILE.html. --text-format plain speaks it with its markup.',
    );
    expect(hintOf('Hello', 'a.pages')).toBe(
      'Save its text as .txt. --text-format plain speaks it with its markup.',
    );
    expect(hintOf('%PDF-1.4')).toBe('Convert it, for example with: pdftotext FILE FILE.txt');
  });
});

const FB2 = '<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0">';

describe('a document', () => {
  it.each([
    ['epub', epubOf(['a'])],
    ['docx', docxOf('')],
    ['odt', odtOf('')],
    ['rtf', String.raw`{\rtf1\ansi Hello}`],
    ['rtf', ` \ufeff${String.raw`{\rtf1}`}`.trim()],
    ['fb2', XML + FB2],
    ['fb2', zipOf({ 'book.fb2': FB2 })],
    [undefined, zipOf({ 'a.txt': 'META-INF/container.xml' })],
    [undefined, zipOf({ 'letter.docx': docxOf('') })],
    [undefined, docxOf('').subarray(0, -30)],
    [undefined, 'META-INF/container.xml'],
    [undefined, String.raw`The word {\rtf1 begins Rich Text.`],
    [undefined, ''],
  ])('in the format %s is known by its content', (format, content) => {
    expect(formatOfContent(Buffer.from(content))).toBe(format);
  });

  it('is refused as text, with the flag that reads it', () => {
    expect(() => refuseForeign('a.txt', docxOf(''))).toThrow('it is a Word document');
    expect(hintOf(String.raw`{\rtf1}`)).toBe('Read it with --text-format rtf.');
  });

  it('is refused in another format', () => {
    expect(() => refuseOtherFormat('html', docxOf(''))).toThrow('it is a Word document');
    expect(() => refuseOtherFormat('docx', Buffer.from('%PDF-1.4'))).toThrow('it is a PDF file');
    expect(() => refuseOtherFormat('docx', docxOf(''))).not.toThrow();
  });
});

function hintOf(content: string, name?: string): unknown {
  try {
    refuseForeign(name, Buffer.from(content));
  } catch (error) {
    return Object(error).hint;
  }
  return undefined;
}
