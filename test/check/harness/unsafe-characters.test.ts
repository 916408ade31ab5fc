import { expect, test } from 'vitest';
import { HOSTILE_STRINGS } from '../../fault-server/catalogue.ts';
import { unsafeCharacters } from '../../harness/unsafe-characters.ts';

const VISIBLE = new Set([
  'newline',
  'workflowCommand',
  'pipelineCommand',
  'parentPath',
  'absolutePath',
  'windowsPath',
  'deviceName',
  'optionLike',
  'prototype',
  'formatCodes',
  // Decoded from UTF-8 a lone surrogate is the visible replacement character.
  'loneSurrogate',
]);

test('ordinary text in any script is safe', () => {
  expect(unsafeCharacters('foley: “naïve” 日本語 مرحبا 👋\n\tnext\n')).toStrictEqual([]);
});

test('each is named once', () => {
  expect(unsafeCharacters('\u001B[1m\u001B[0m\r\u202E')).toStrictEqual([
    'U+000D',
    'U+001B',
    'U+202E',
  ]);
});

test.each(Object.entries(HOSTILE_STRINGS))('%s is found when it hides something', (name, text) => {
  const isFound = unsafeCharacters(Buffer.from(text)).length > 0;
  expect(isFound).toBe(!VISIBLE.has(name));
});
