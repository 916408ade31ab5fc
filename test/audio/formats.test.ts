import { describe, expect, it } from 'vitest';
import {
  FORMATS,
  extensionOf,
  formatNamed,
  formatOfMediaType,
  formatOfPath,
  isOpaqueMediaType,
  mediaTypeOf,
} from '../../src/audio/formats.ts';

describe('formats', () => {
  it.each([
    ['out/hello.mp3', 'mp3'],
    ['HELLO.WAV', 'wav'],
    ['a.b.oga', 'ogg'],
    ['x.opus', 'opus'],
    ['C:\\x.d\\y.jpeg', 'jpeg'],
    ['x.d/hello', undefined],
    ['.mp3', undefined],
    ['out/.mp3', undefined],
    ['hello.', undefined],
    ['hello.xyz', undefined],
    ['constructor', undefined],
    ['x.constructor', undefined],
  ])('are detected by the path %s', (path, format) => {
    expect(formatOfPath(path)).toBe(format);
  });

  it.each([
    ['audio/mpeg', 'mp3'],
    ['Audio/MPEG; charset=x', 'mp3'],
    ['audio/ogg', 'ogg'],
    ['audio/ogg; codecs=opus', 'opus'],
    ['audio/ogg;codecs="opus"', 'opus'],
    ['audio/L16;rate=24000', 'pcm'],
    ['text/html', undefined],
    ['', undefined],
  ])('are detected by the media type %j', (type, format) => {
    expect(formatOfMediaType(type)).toBe(format);
  });

  it('are detected by their own extensions and media types', () => {
    for (const name of Object.keys(FORMATS)) {
      const format = formatNamed(name.toUpperCase());
      expect(format).toBe(name);
      if (format === undefined) return;
      expect(formatOfPath(`x.${extensionOf(format).toUpperCase()}`)).toBe(format);
      expect(formatOfMediaType(mediaTypeOf(format))).toBe(format);
    }
  });

  it('are unknown for the media types of file storage', () => {
    expect(isOpaqueMediaType('application/octet-stream')).toBe(true);
    expect(isOpaqueMediaType('application/json')).toBe(false);
  });
});
