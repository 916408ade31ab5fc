import type { CommandNode } from './command.ts';
import { isShown } from './command.ts';

const COLUMNS = 80;

/** What somebody may type who has never used foley: the line, and what it does. */
const BEGINNINGS = [
  ['foley tts "Hello from foley" -o hello.mp3', 'speak into a file'],
  ['foley tts "Hello from foley" --play', 'speak aloud'],
  ['foley voices list', 'see the voices'],
  ['foley doctor', 'check that everything works'],
] as const;

/** What `foley` alone answers: what to type next, and the names of all commands, on half a screen. */
export function firstWords(tree: readonly CommandNode[]): string {
  const width = Math.max(...BEGINNINGS.map(([line]) => line.length));
  return [
    'Usage: foley <command> [flags]',
    '',
    'Speech, voices and captions, with a complete offline service built in.',
    '',
    'Begin with:',
    ...BEGINNINGS.map(([line, what]) => `  ${line.padEnd(width)}   ${what}`),
    '',
    'Commands:',
    ...wrapped(tree.filter(isShown).map(({ name }) => name)).map((line) => `  ${line}`),
    '',
    'See `foley --help` for all of it, and `foley <command> --help` for one command.',
    '',
  ].join('\n');
}

function wrapped(words: readonly string[]): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    const longer = last === undefined ? word : `${last} ${word}`;
    if (last === undefined || longer.length > COLUMNS - 4) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}
