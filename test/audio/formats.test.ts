import { describe, expect, it } from 'vitest';
import {
  FORMATS,
  extensionOf,
  formatNamed,
  formatOfExtension,
  formatOfMediaType,
  formatOfPath,
  isAudioMediaType,
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
  ])('are told by the path %s', (path, format) => {
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
  ])('are told by the media type %j', (type, format) => {
    expect(formatOfMediaType(type)).toBe(format);
  });

  it('have extensions and media types that lead back to them', () => {
    for (const name of Object.keys(FORMATS)) {
      const format = formatNamed(name.toUpperCase());
      expect(format).toBe(name);
      if (format === undefined) return;
      expect(formatOfExtension(`.${extensionOf(format)}`)).toBe(format);
      expect(formatOfMediaType(mediaTypeOf(format))).toBe(format);
    }
  });

  it('tells a promise of sound from a type that says nothing and from one that says otherwise', () => {
    expect(isAudioMediaType('audio/unheard-of')).toBe(true);
    expect(isAudioMediaType('application/ogg')).toBe(true);
    expect(isAudioMediaType('text/html; charset=utf-8')).toBe(false);
    expect(isAudioMediaType('application/octet-stream')).toBe(false);
    expect(isOpaqueMediaType('application/octet-stream')).toBe(true);
    expect(isOpaqueMediaType('application/json')).toBe(false);
  });
});
