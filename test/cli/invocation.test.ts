import { describe, expect, test } from 'vitest';
import type { CommandNode } from '../../src/cli/command.ts';
import { findInvocation } from '../../src/cli/program.ts';

const load = (): Promise<never> => Promise.reject(new Error('nothing is loaded to find a command'));
const tree: CommandNode[] = [
  { name: 'tts', summary: 'Speak', load },
  {
    name: 'models',
    summary: 'Models',
    fallback: 'list',
    children: [
      { name: 'list', summary: 'List', load },
      { name: 'get', aliases: ['show'], summary: 'Show', load },
    ],
  },
  { name: 'voices', summary: 'Voices', children: [{ name: 'list', summary: 'List', load }] },
  {
    name: 'live',
    summary: 'Live',
    itself: load,
    children: [{ name: 'status', summary: 'Status', load }],
  },
  { name: 'help', summary: 'Help', children: [{ name: 'exit-codes', summary: 'Codes', load }] },
];

function found(...argv: string[]): unknown {
  const invocation = findInvocation(argv, tree);
  return invocation.kind === 'leaf'
    ? [invocation.path.join(' '), invocation.words]
    : invocation.kind;
}

describe('a command is found', () => {
  test.each([
    [
      ['tts', 'hi', '-o', 'x'],
      ['tts', ['hi', '-o', 'x']],
    ],
    [
      ['models', '--page', '2'],
      ['models list', ['--page', '2']],
    ],
    [
      ['models', '--page', '2', '--json'],
      ['models list', ['--page', '2', '--json']],
    ],
    [
      ['--json', 'tts', 'hi'],
      ['tts', ['--json', 'hi']],
    ],
    [
      ['--base-url', 'tts', 'tts', 'hi'],
      ['tts', ['--base-url', 'tts', 'hi']],
    ],
    [
      ['--base-url=u', 'tts'],
      ['tts', ['--base-url=u']],
    ],
    [
      ['models', '--json', 'get', 'id'],
      ['models get', ['--json', 'id']],
    ],
    [['live'], ['live', []]],
    [
      ['live', 'some text', '-o', 'x'],
      ['live', ['some text', '-o', 'x']],
    ],
    [
      ['live', '--json', 'status', 'id'],
      ['live status', ['--json', 'id']],
    ],
    [
      ['live', '--', 'status', 'report'],
      ['live', ['--', 'status', 'report']],
    ],
    [
      ['live', '-o', 'status', 'text'],
      ['live', ['-o', 'status', 'text']],
    ],
    [
      ['help', 'live'],
      ['live', ['--help']],
    ],
    [
      ['help', 'live', 'status'],
      ['live status', ['--help']],
    ],
    [
      ['models', 'show', 'id'],
      ['models get', ['id']],
    ],
    [
      ['help', 'models', 'show'],
      ['models get', ['--help']],
    ],
    [
      ['models', '--json'],
      ['models list', ['--json']],
    ],
    [['models', '--help'], 'branch'],
    [['voices'], 'branch'],
    [
      ['help', 'tts'],
      ['tts', ['--help']],
    ],
    [['help'], 'root'],
    [['--help'], 'root'],
    [[], 'root'],
  ])('%j', (argv, expected) => {
    expect(found(...argv)).toEqual(expected);
  });
});

describe('an unknown command is a usage failure that names the closest one', () => {
  test.each([
    [['tss'], 'unknown command "tss"', 'foley tts'],
    [['model', 'list'], 'unknown command "model"', 'foley models'],
    [['voices', 'lst'], 'unknown command "voices lst"', 'foley voices list'],
    [['help', 'exitcodes'], 'unknown help topic "exitcodes"', 'foley help exit-codes'],
    [['help', 'tss'], 'unknown command "tss"', 'foley tts'],
    [['qqqqqqqq'], 'unknown command "qqqqqqqq"', 'Commands: tts, models, voices'],
  ])('%j', (argv, message, hint) => {
    expect(() => findInvocation(argv, tree)).toThrow(
      expect.objectContaining({ message, exit: 'usage', hint: expect.stringContaining(hint) }),
    );
  });
});
