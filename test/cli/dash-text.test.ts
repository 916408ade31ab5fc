import { Option } from 'commander';
import { expect, test } from 'vitest';
import { guardDashText, restoreDashText } from '../../src/cli/program.ts';

const options = [
  new Option('-o, --output <path>'),
  new Option('--instruction <text>'),
  new Option('--json'),
];

test.each([
  [['- and then it rained'], [0]],
  [['-o', '- odd name.mp3', '- said she'], [2]],
  [['--instruction', '-slow and low', 'Hi'], []],
  [['--instruction=slow and low', 'Hi'], []],
  [['--unknown=slow and low'], [0]],
  [['--json', '-5', '--jsn'], []],
  [['--', '- after the end'], []],
])('in %j the words at %j are text', (words, texts) => {
  const guarded = guardDashText(words, options);
  const marked = guarded.flatMap((word, index) => (word === words[index] ? [] : [index]));
  expect(marked).toEqual(texts);
  expect(
    guarded.filter((_, index) => texts.includes(index)).every((word) => !word.startsWith('-')),
  ).toBe(true);
  expect(restoreDashText(guarded)).toEqual(words);
});
