import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { insert } from '../../src/read-along/mark-units.ts';
import type { PackageDocument } from '../../src/read-along/package-document.ts';
import { packageInsertions, readPackage } from '../../src/read-along/package-document.ts';
import { clipsOf, clockValue, referenceTo } from '../../src/read-along/smil.ts';
import type { Overlay } from '../../src/read-along/overlay.ts';
import type { PlacedText } from '../../src/read-along/units.ts';
import { spokenUnits } from '../../src/read-along/units.ts';

function words(text: string) {
  return text.split(' ').map((word, index) => {
    return { text: word, startMs: index * 100, endMs: index * 100 + 90 };
  });
}

function place(text: string, startMs: number, start: number, end: number): PlacedText {
  const timings = { version: 1 as const, text, durationMs: 1_000, complete: true };
  return { text, startMs, paragraph: { start, end }, timings: { ...timings, words: words(text) } };
}

function read(text: string): PackageDocument {
  return readPackage({ text, byteOrderMark: '' }, 'OEBPS/p.opf', (name) => name);
}

describe('the spoken units of a document', () => {
  const DOCUMENT = 'One two. One [pause 1s] three.\n\n1. First\n2. Second';
  const TEXTS = [
    place('One two. One', 0, 0, 30),
    place('three.', 2_000, 0, 30),
    place('1. First 2. Second', 3_000, 32, 50),
  ];
  const shown = (overlay: Overlay) => {
    const { timeAt, units } = spokenUnits(DOCUMENT, TEXTS, overlay);
    return units.map(({ end, start }) => [DOCUMENT.slice(start, end), timeAt(start)]);
  };

  test('are sentences, which end at pauses and lines', () => {
    expect(shown('sentence')).toEqual([
      ['One two.', 0],
      ['One', 200],
      ['three.', 2_000],
      ['1. First', 3_000],
      ['2. Second', 3_200],
    ]);
  });

  test('are paragraphs, in spite of pauses', () => {
    expect(shown('paragraph')).toEqual([
      ['One two. One [pause 1s] three.', 0],
      ['1. First\n2. Second', 3_000],
    ]);
  });

  test('are words', () => {
    expect(shown('word')).toEqual([
      ['One', 0],
      ['two.', 100],
      ['One', 200],
      ['three.', 2_000],
      ['1.', 3_000],
      ['First', 3_100],
      ['2.', 3_200],
      ['Second', 3_300],
    ]);
  });
});

test('clips cover the audio without gaps, and none is empty', () => {
  const times = fc.array(fc.double({ min: -10, max: 5_000, noNaN: true }), {
    minLength: 1,
    maxLength: 50,
  });
  fc.assert(
    fc.property(times, fc.integer({ min: 50, max: 5_000 }), (all, durationMs) => {
      const parts = all.toSorted((a, b) => a - b).map((ms, index) => ({ id: `i${index}`, ms }));
      const clips = clipsOf(parts, durationMs + 0.7);
      expect(clips[0]?.startMs).toBe(0);
      expect(clips.at(-1)?.endMs).toBe(durationMs);
      for (const [index, { endMs, startMs }] of clips.entries()) {
        expect(endMs).toBeGreaterThan(startMs);
        if (index > 0) expect(startMs).toBe(clips[index - 1]?.endMs);
      }
    }),
  );
});

test('clock values have hours, minutes, seconds and milliseconds', () => {
  expect([0, 61_002, 36_000_000].map(clockValue)).toEqual([
    '0:00:00.000',
    '0:01:01.002',
    '10:00:00.000',
  ]);
});

test('references are relative and encoded', () => {
  expect(referenceTo('EPUB/text/a b#.xhtml', 'EPUB/read-along/0001.smil')).toBe(
    '../text/a%20b%23.xhtml',
  );
});

describe('the package document', () => {
  const OVERLAY = {
    document: 'OEBPS/a b.xhtml',
    smil: 'OEBPS/read-along/0001.smil',
    audio: 'OEBPS/read-along/0001.mp3',
    audioType: 'audio/mpeg',
    durationMs: 61_002,
  };
  const PREFIXED = `<opf:package xmlns:opf="http://www.idpf.org/2007/opf" version="3.0"><opf:metadata><x id="foley-1"/></opf:metadata><opf:manifest><opf:item id="c" href="a%20b.xhtml"/></opf:manifest></opf:package>`;

  test('gets overlays and durations, with its prefix and with ids that it does not have', () => {
    const document = read(PREFIXED);
    const marked = insert(PREFIXED, packageInsertions(document, [OVERLAY], false));
    expect(marked).toBe(
      '<opf:package xmlns:opf="http://www.idpf.org/2007/opf" version="3.0"><opf:metadata><x id="foley-1"/>' +
        '<opf:meta property="media:duration" refines="#foleyx-smil-1">0:01:01.002</opf:meta>\n' +
        '<opf:meta property="media:duration">0:01:01.002</opf:meta>\n' +
        '</opf:metadata><opf:manifest><opf:item media-overlay="foleyx-smil-1" id="c" href="a%20b.xhtml"/>' +
        '<opf:item id="foleyx-smil-1" href="read-along/0001.smil" media-type="application/smil+xml"/>\n' +
        '<opf:item id="foleyx-audio-1" href="read-along/0001.mp3" media-type="audio/mpeg"/>\n' +
        '</opf:manifest></opf:package>',
    );
  });

  test.each([
    ['<package version="2.0"><metadata></metadata><manifest></manifest></package>', /EPUB 2\.0/],
    ['<package><metadata></metadata><manifest></manifest></package>', /EPUB 2; /],
    ['<package version="3.0"><metadata/><manifest></manifest></package>', /no metadata/],
    [
      '<package version="3.0"><metadata></metadata><manifest><item href="a" media-overlay="b"/></manifest></package>',
      /already has media overlays/,
    ],
  ])('is refused: %s', (xml, message) => {
    expect(() => read(xml)).toThrow(message);
  });
});
