import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SNIFF_BYTES_MAX, sniff } from '../../src/audio/sniff.ts';
import { id3v2, mp3Of, oggOf, opusOf, wavOf } from './samples.ts';

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const padded = (text: string) => Buffer.concat([latin1(text), Buffer.alloc(80, 0x55)]);

const ADTS = latin1('\xff\xf1\x50\x80\x02\x1f\xfc');

const CASES: readonly (readonly [name: string, head: Uint8Array, format: string | undefined])[] = [
  ['mp3', await mp3Of(0.2), 'mp3'],
  ['mp3 of 24 kHz', await mp3Of(0.2, { sampleRate: 24_000 }), 'mp3'],
  ['mp3 behind an ID3 tag', Buffer.concat([id3v2(300), await mp3Of(0.2)]), 'mp3'],
  ['mp3 behind two ID3 tags', Buffer.concat([id3v2(3), id3v2(5), await mp3Of(0.2)]), 'mp3'],
  ['mp3 behind a picture', Buffer.concat([id3v2(SNIFF_BYTES_MAX), await mp3Of(0.2)]), 'mp3'],
  ['aac', Buffer.concat([ADTS, Buffer.alloc(80)]), 'aac'],
  ['aac behind an ID3 tag', Buffer.concat([id3v2(30), ADTS, Buffer.alloc(80)]), 'aac'],
  ['flac behind an ID3 tag', Buffer.concat([id3v2(30), padded('fLaC')]), 'flac'],
  ['nothing known behind an ID3 tag', Buffer.concat([id3v2(30), Buffer.alloc(80, 3)]), undefined],
  ['an ID3 tag that cannot be', padded('ID3\x04\x00\x00\xff\xff\xff\xff'), undefined],
  ['wav', wavOf(0.1), 'wav'],
  ['large wav', padded('RF64\xff\xff\xff\xffWAVEds64'), 'wav'],
  ['ogg vorbis', await oggOf(0.2), 'ogg'],
  ['ogg opus', opusOf(3), 'ogg'],
  ['flac', padded('fLaC\0\0\0\x22'), 'flac'],
  ['m4a', padded('\0\0\0\x20ftypM4A '), 'm4a'],
  ['mp4', padded('\0\0\0\x20ftypisom'), 'mp4'],
  ['webm', padded('\x1a\x45\xdf\xa3\x9f'), 'webm'],
  ['webp', padded('RIFF\0\0\0\0WEBP'), 'webp'],
  ['png', padded('\x89PNG\r\n\x1a\n'), 'png'],
  ['jpeg', padded('\xff\xd8\xff\xe0'), 'jpeg'],
  ['gzip', padded('\x1f\x8b\x08'), 'gzip'],
  ['a web page', padded('\n\n <!DOCTYPE html>'), 'html'],
  ['a web page with a byte order mark', padded('\xef\xbb\xbf<html>'), 'html'],
  ['JSON', padded(' {"error"'), 'json'],
  ['UTF-16 text', padded('\xff\xfeh\0e\0'), undefined],
  ['an mpeg layer II header', padded('\xff\xfd\x90\x04'), undefined],
  ['a reserved bitrate', padded('\xff\xfb\xf0\x04'), undefined],
  ['a reserved sample rate', padded('\xff\xfb\x9c\x04'), undefined],
  ['a reserved version', padded('\xff\xeb\x90\x04'), undefined],
  ['text', padded('Hello there'), undefined],
  ['zeros', Buffer.alloc(80), undefined],
];

describe('detecting a format by its first bytes', () => {
  it.each(CASES)('detects %s', (_, head, format) => {
    expect(sniff(head)).toEqual(
      format === undefined ? { kind: 'unknown' } : { kind: 'known', format },
    );
  });

  it.each(CASES)(
    'requests more of %s until it is decided, and never changes a result',
    (_, head) => {
      const last = sniff(head);
      for (let length = 0; length <= Math.min(head.length, 400); length += 1) {
        const sniffed = sniff(head.subarray(0, length));
        if (sniffed.kind === 'more') {
          expect(sniffed.bytes).toBeGreaterThan(length);
          expect(sniffed.bytes).toBeLessThanOrEqual(SNIFF_BYTES_MAX);
        } else {
          expect(sniffed).toEqual(last);
        }
      }
    },
  );

  it('has a stable result for any bytes', () => {
    const start = fc.constantFrom(
      '',
      '\xff',
      '\xff\xfb',
      'ID3\x04',
      'RIFF',
      '\0\0\0\0ftyp',
      '\xef\xbb',
      ' ',
    );
    fc.assert(
      fc.property(start, fc.uint8Array({ maxLength: 90 }), fc.nat(90), (begin, rest, cut) => {
        const head = Buffer.concat([latin1(begin), rest]);
        const early = sniff(head.subarray(0, cut));
        if (early.kind !== 'more') expect(sniff(head)).toEqual(early);
      }),
      { numRuns: 1000 },
    );
  });
});
