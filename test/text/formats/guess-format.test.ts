import { expect, it } from 'vitest';
import { guessFormat } from '../../../src/text/formats/guess-format.ts';
import { countSteps } from '../../harness/count-steps.ts';

it.each([
  ['<p>Hello</p>', 'html'],
  ['\ufeff<!doctype html>\n<title>Hello</title>', 'html'],
  ['<!-- a -->\n<div class="a">Hello', 'html'],
  ['Hello <b>you</b>', 'html'],
  ['<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml">', 'html'],
  ['<speak>Hello</speak>', 'ssml'],
  ['<?xml version="1.0"?>\n<speak version="1.1">Hello', 'ssml'],
  ['Hello <break time="1s"/> you', 'ssml'],
  ['WEBVTT\n\n00:01.000 --> 00:02.000\nHello', 'subtitles'],
  ['1\r\n00:00:01,000 --> 00:00:02,000\r\nHello', 'subtitles'],
  ['# Title\n\nHello', 'markdown'],
  ['See [this](https://example.com/a).', 'markdown'],
])('%j looks like %s', (text, format) => {
  expect(guessFormat(text)).toBe(format);
});

it.each([
  'Hello',
  'a < b and b > c',
  'A List<String> and a Map<K, V>',
  'Write to <ann@example.com>.',
  'The <b> tag is bold.',
  '<grin> Hello',
  '#1 in the charts\n\nHello',
  'Take a break, then [see note](below).',
  '1\n10:30 --> 11:00',
  '<prosody> is a word',
  '',
])('%j looks plain', (text) => {
  expect(guessFormat(text)).toBeUndefined();
});

it('is guessed by one pattern if the text has no marks', () => {
  const text = 'Hello. '.repeat(100);
  expect(countSteps(() => guessFormat(text))).toBe(text.length);
});

it('is guessed in linear time, from the beginning of the text', () => {
  for (const part of ['<!--', '<p ', '<b>a', '[a](', '<?xml ', '# a\n ', '\n']) {
    const started = performance.now();
    guessFormat(part.repeat(1_000_000));
    expect(performance.now() - started, part).toBeLessThan(500);
  }
});
