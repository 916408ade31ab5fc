import { constants } from 'node:fs';
import path from 'node:path';
import type { Format } from '../audio/formats.ts';
import type { FileSystem } from '../system/file-system.ts';
import { POWERSHELL_FLAGS } from '../system/processes.ts';
import { usageFailure } from '../errors/failure.ts';
import type { System } from '../system/system.ts';

/** A program that plays audio. */
export interface Player {
  readonly command: string;
  /** Path of the program. */
  readonly file: string;
  readonly args: readonly string[];
  /** True if the program plays the file that the variable `FOLEY_SOUND_FILE` names, instead of its standard input. */
  readonly playsFile?: boolean | undefined;
  /** Used to check the playback of a player that foley chose; undefined for a player that the user chose. */
  readonly known?: KnownPlayback | undefined;
}

/**
 * How to detect that a player has failed although it exits with code 0. Only for players that foley chose. These play
 * at normal speed, so that an early exit shows a failure.
 */
export interface KnownPlayback {
  readonly format: Format;
  /** Matches the error message of a player that exits with code 0 although it failed. */
  readonly complaint: RegExp | undefined;
}

interface KnownPlayer extends Omit<Player, 'file' | 'known'> {
  readonly formats: readonly Format[];
  readonly complaint?: RegExp;
  readonly platform?: NodeJS.Platform;
}

// All outputs except openal and jack, which wait forever if their sound server does not run.
const MPG123_OUTPUTS = 'pulse,alsa,oss,sndio,sun,coreaudio,win32_wasapi,win32';

// foley decodes these to a wav file for players that cannot read stdin.
const DECODED: readonly Format[] = ['mp3', 'wav', 'ogg', 'opus'];

// The path is in a variable, because a path in the script could contain special characters.
const PLAY_IN_POWERSHELL =
  "$ErrorActionPreference = 'Stop'; " +
  '(New-Object System.Media.SoundPlayer $env:FOLEY_SOUND_FILE).PlaySync()';

// The preferred player comes first. Players that need a file come last.
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
    // It always exits with 0.
    complaint: /audio open failed|Failed to open file|Could not initialize SDL/,
  },
  { command: 'mpg123', args: ['-q', '-o', MPG123_OUTPUTS, '-'], formats: ['mp3'] },
  { command: 'play', args: ['-q', '-t', 'FORMAT', '-'], formats: ['mp3', 'wav', 'ogg'] },
  { command: 'aplay', args: ['-q', '-'], formats: ['wav'] },
  { command: 'afplay', args: ['FILE'], formats: DECODED, playsFile: true, platform: 'darwin' },
  {
    command: 'powershell',
    args: [...POWERSHELL_FLAGS, '-Command', PLAY_IN_POWERSHELL],
    formats: DECODED,
    playsFile: true,
    platform: 'win32',
  },
];

interface PlayerChoice {
  readonly format: Format;
  readonly own?: string | undefined;
  readonly platform: NodeJS.Platform;
}

/**
 * Returns the player: the program that the user named, or the first installed player that supports the format.
 * @param locate returns the path of a program; undefined if it is not installed
 * @throws Failure of kind `usage` if no suitable player is installed
 */
export async function findPlayer(
  { format, own, platform }: PlayerChoice,
  locate: (command: string) => Promise<string | undefined>,
): Promise<Player> {
  if (own !== undefined) return ownPlayer(own, platform, locate);
  if (format === 'pcm') {
    throw usageFailure(
      'players cannot recognize raw samples (pcm)',
      'Choose another format, or name a program that can read them with --player.',
    );
  }
  const able = KNOWN_PLAYERS.filter(
    (player) => player.formats.includes(format) && (player.platform ?? platform) === platform,
  );
  for (const { args, command, complaint, playsFile } of able) {
    const file = await locate(command);
    if (file !== undefined) {
      const words = args.map((arg) => (arg === 'FORMAT' ? format : arg));
      return { command, file, args: words, playsFile, known: { format, complaint } };
    }
  }
  const names = able.map(({ command }) => command).join(', ');
  throw usageFailure(
    `no player for ${format} is installed (looked for ${names})`,
    'Install one of them, name your own with --player, or write a file with -o.',
  );
}

async function ownPlayer(
  own: string,
  platform: NodeJS.Platform,
  locate: (command: string) => Promise<string | undefined>,
): Promise<Player> {
  const [command, ...args] = splitWords(own, '--player', platform);
  if (command === undefined) throw usageFailure('--player is empty', 'Name a program.');
  const file = await locate(command);
  if (file === undefined) {
    throw usageFailure(
      `--player is "${own}", but the program ${command} is not installed`,
      'Install the program, or use its full path.',
    );
  }
  return { command, file, args };
}

/**
 * Splits a command line into words, with quotes and backslashes as in a shell, but without variables and globs. On
 * Windows, a backslash separates folders, and only double quotes group words.
 * @param option the flag or setting, for messages
 * @throws Failure of kind `usage` when a quote is not closed
 */
export function splitWords(
  line: string,
  option = '--player',
  platform: NodeJS.Platform = process.platform,
): string[] {
  const words: string[] = [];
  const isWindows = platform === 'win32';
  const pattern = isWindows
    ? /\s*((?:"[^"]*"|[^\s"])+)|\s+$/gsy
    : /\s*((?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'\\])+)|\s+$/gsy;
  while (pattern.lastIndex < line.length) {
    const match = pattern.exec(line);
    if (match === null) {
      throw usageFailure(`${option} is ${JSON.stringify(line)}, which has an unclosed quote`);
    }
    if (match[1] !== undefined)
      words.push(isWindows ? match[1].replaceAll('"', '') : unquote(match[1]));
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

/**
 * Finds a program as a shell does: by its path, or by name in the folders of `PATH`. Returns undefined if it is
 * missing.
 */
export async function findProgram(
  { files, platform }: System,
  command: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const style = platform === 'win32' ? path.win32 : path.posix;
  const hasFolder = command.includes('/') || (platform === 'win32' && command.includes('\\'));
  const places = hasFolder
    ? [command]
    : (env['PATH'] ?? '')
        .split(style.delimiter)
        .filter((folder) => style.isAbsolute(folder))
        .map((folder) => style.join(folder, command));
  const endings = platform === 'win32' ? ['', ...windowsEndings(env['PATHEXT'])] : [''];
  for (const place of places) {
    for (const ending of endings) {
      // Not normalized: without its folder, `./play` would be a program in PATH.
      const file = place + ending;
      if (await isProgram(file, files)) return file;
    }
  }
  return undefined;
}

/**
 * Checks the program that the first line of a script names: without it, the system cannot start the script.
 * @throws Failure of kind `usage` if the program is missing
 */
export async function requireInterpreter(
  { files, platform }: System,
  { command, file }: Player,
): Promise<void> {
  if (platform === 'win32') return;
  const handle = await files.open(file, 'r').catch(() => undefined);
  try {
    const bytes = Buffer.alloc(INTERPRETER_MAX_BYTES);
    const { bytesRead = 0 } = (await handle?.read(bytes, 0, bytes.length, 0)) ?? {};
    // A carriage return before the line break belongs to the name.
    const name = /^#! *([^ \t\n]+)/.exec(bytes.toString('latin1', 0, bytesRead))?.[1];
    if (name === undefined || (await isProgram(name, files))) return;
    throw usageFailure(
      `the player ${command} cannot be started: its first line names ${JSON.stringify(name)}, which is missing`,
      name.endsWith('\r')
        ? 'Save the script with the line ends of Unix.'
        : 'Correct the first line of the script.',
    );
  } finally {
    await handle?.close();
  }
}

const INTERPRETER_MAX_BYTES = 256;

async function isProgram(file: string, files: FileSystem): Promise<boolean> {
  try {
    await files.access(file, constants.X_OK);
    return (await files.stat(file)).isFile();
  } catch {
    return false;
  }
}

function windowsEndings(pathext: string | undefined): string[] {
  return (pathext ?? '.COM;.EXE;.BAT;.CMD').split(';').filter((ending) => ending !== '');
}
