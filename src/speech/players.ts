import type { Format } from '../audio/formats.ts';
import { usageFailure } from '../errors/failure.ts';

/** A program that plays audio from its standard input. */
export interface Player {
  /** Its name, for messages. */
  readonly command: string;
  /** Where it was found. */
  readonly file: string;
  readonly args: readonly string[];
}

interface KnownPlayer extends Omit<Player, 'file'> {
  readonly formats: readonly Format[];
}

/** In the order of the contract's section 5; each reads the audio from its standard input. */
const KNOWN_PLAYERS: readonly KnownPlayer[] = [
  {
    command: 'mpv',
    args: ['--no-terminal', '--no-video', '-'],
    formats: ['mp3', 'wav', 'ogg', 'opus'],
  },
  {
    command: 'ffplay',
    args: ['-nodisp', '-autoexit', '-loglevel', 'error', '-i', '-'],
    formats: ['mp3', 'wav', 'ogg', 'opus'],
  },
  { command: 'mpg123', args: ['-q', '-'], formats: ['mp3'] },
  { command: 'play', args: ['-q', '-t', 'FORMAT', '-'], formats: ['mp3', 'wav', 'ogg'] },
  { command: 'afplay', args: ['/dev/stdin'], formats: ['mp3', 'wav'] },
  { command: 'aplay', args: ['-q', '-'], formats: ['wav'] },
];

/**
 * The program that will play: the user's own, or the first known one that is installed and takes
 * the format. Found before anything is billed.
 * @param locate gives the file of a program, or undefined when it is not installed
 * @throws Failure (usage) when there is none
 */
export async function findPlayer(
  { format, own }: { readonly format: Format; readonly own?: string | undefined },
  locate: (command: string) => Promise<string | undefined>,
): Promise<Player> {
  if (own !== undefined) return ownPlayer(own, locate);
  if (format === 'pcm') {
    throw usageFailure(
      'raw samples (pcm) do not tell a player how to read them',
      'Choose another format, or name a program that can read them with --player.',
    );
  }
  const able = KNOWN_PLAYERS.filter(({ formats }) => formats.includes(format));
  for (const { command, args } of able) {
    const file = await locate(command);
    if (file !== undefined) {
      return { command, file, args: args.map((arg) => (arg === 'FORMAT' ? format : arg)) };
    }
  }
  const names = able.map(({ command }) => command).join(', ');
  throw usageFailure(
    `nothing that plays ${format} is installed (looked for ${names})`,
    'Install one of them, name your own with --player, or write a file with -o.',
  );
}

async function ownPlayer(
  own: string,
  locate: (command: string) => Promise<string | undefined>,
): Promise<Player> {
  const [command, ...args] = splitWords(own);
  if (command === undefined) throw usageFailure('--player is empty', 'Name a program.');
  const file = await locate(command);
  if (file === undefined) {
    throw usageFailure(
      `--player is "${own}", and there is no program ${command}`,
      'Install it, or give its whole path.',
    );
  }
  return { command, file, args };
}

/**
 * Cuts a command line into words at white space, with quotes and backslashes as in a shell, but
 * with no variables, globs or anything else that a shell would run.
 * @param shown what it is, for messages
 * @throws Failure (usage) when a quote is not closed
 */
export function splitWords(line: string, shown = '--player'): string[] {
  const words: string[] = [];
  const pattern = /\s*((?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'\\])+)|\s+$/gsy;
  while (pattern.lastIndex < line.length) {
    const match = pattern.exec(line);
    if (match === null) {
      throw usageFailure(`${shown} is ${JSON.stringify(line)}; a quote in it is not closed`);
    }
    if (match[1] !== undefined) words.push(unquote(match[1]));
  }
  return words;
}

function unquote(word: string): string {
  return word.replaceAll(
    /"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)/gs,
    (_, double: string | undefined, single: string | undefined, escaped: string | undefined) =>
      double?.replaceAll(/\\(["\\$`])/g, '$1') ?? single ?? escaped ?? '',
  );
}
