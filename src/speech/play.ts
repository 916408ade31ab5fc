import { constants } from 'node:fs';
import path from 'node:path';
import type { Format } from '../audio/formats.ts';
import { createVerifier } from '../audio/verify.ts';
import type { Clock } from '../effects/clock.ts';
import type { FileSystem } from '../effects/file-system.ts';
import { Failure, usageFailure } from '../errors/failure.ts';
import type { AudioSink } from './deliver.ts';

/** Maximum length of a player's error message, in characters. */
const QUOTED_OUTPUT_MAX_CHARACTERS = 300;

/** How long before the end of the sound, in milliseconds, a player may exit, because devices buffer sound. */
const DEVICE_BUFFER_MS = 1_000;

/** A running player, which takes audio as it arrives. */
export interface Playback extends AudioSink {
  /**
   * Ends the input, and waits until all audio was played.
   * @throws Failure (output) when the player failed
   */
  end(): Promise<void>;
  /** Stops the player now; never throws. */
  stop(): void;
}

export interface PlaybackOptions {
  readonly clock: Clock;
  /** Called with the stderr output of a player that succeeded, if foley chose the player. */
  readonly notice: (sentence: string) => void;
}

/**
 * Starts a player. If foley, not the user, chose the player, an exit long before the end of the sound counts as a
 * failure, even with exit code 0.
 */
export async function startPlayback(
  player: Player,
  { clock, notice }: PlaybackOptions,
): Promise<Playback> {
  const { command, known } = player;
  const { execa } = await import('execa');
  const child = execa(player.file, [...player.args], {
    stdin: 'pipe',
    stdout: 'ignore',
    stderr: 'pipe',
    // The player must not see the API key.
    env: { FOLEY_API_KEY: undefined },
    buffer: { stderr: true },
    maxBuffer: 64 * 1024,
    reject: false,
  });
  const length = known === undefined ? undefined : createVerifier(known.format);
  let startedAt: number | undefined;
  let endedAt = Infinity;
  void child.then(() => (endedAt = clock.monotonic()));
  const endsEarly = (): boolean => {
    const durationMs = length?.end().durationMs ?? 0;
    const playedMs = endedAt - (startedAt ?? endedAt);
    return playedMs < durationMs / 2 && playedMs < durationMs - DEVICE_BUFFER_MS;
  };
  let isClosed = false;
  child.stdin.on('error', () => {
    isClosed = true;
  });
  return {
    write: (chunk) => {
      startedAt ??= clock.monotonic();
      length?.write(chunk);
      return new Promise((resolve) => {
        if (isClosed) resolve();
        else child.stdin.write(chunk, () => resolve());
      });
    },
    async end() {
      child.stdin.end();
      const { exitCode, failed, signal, stderr, shortMessage } = await child;
      const said = stderr
        .trim()
        .replaceAll(/\s*\n\s*/g, '; ')
        .slice(-QUOTED_OUTPUT_MAX_CHARACTERS);
      const hasComplaint = known?.complaint?.test(stderr) === true;
      if (!failed && !hasComplaint && !endsEarly()) {
        if (known !== undefined && said !== '') notice(`${command}: ${said}`);
        return;
      }
      const ended = exitCode === undefined ? (signal ?? shortMessage) : `exit code ${exitCode}`;
      const outcome = failed ? ended : 'it ended before the sound did';
      throw new Failure(
        `the player ${command} failed (${outcome})${said === '' ? '' : `: ${said}`}`,
        {
          code: 'output',
          exit: 'output',
          billed: 'yes',
          hint:
            known === undefined
              ? undefined
              : 'Check the sound device, or name another player with --player.',
        },
      );
    },
    stop: () => {
      child.kill();
    },
  };
}

/** A program that plays audio from its standard input. */
export interface Player {
  readonly command: string;
  /** Path of the program. */
  readonly file: string;
  readonly args: readonly string[];
  /** Properties of the player if foley chose it; undefined for a player that the user chose. */
  readonly known?: KnownPlayback | undefined;
}

/** A known player, which plays at normal speed and writes to stderr only when it fails. */
export interface KnownPlayback {
  readonly format: Format;
  /** Matches the error message of a player that fails although its exit code is 0. */
  readonly complaint: RegExp | undefined;
}

interface KnownPlayer extends Omit<Player, 'file' | 'known'> {
  readonly formats: readonly Format[];
  readonly complaint?: RegExp;
}

/** All audio outputs of mpg123 except openal and jack, which wait forever for a missing sound server. */
const MPG123_OUTPUTS = 'pulse,alsa,oss,sndio,sun,coreaudio,win32_wasapi,win32';

// The preferred player comes first. Each player reads the audio from stdin.
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
  { command: 'afplay', args: ['/dev/stdin'], formats: ['mp3', 'wav'] },
  { command: 'aplay', args: ['-q', '-'], formats: ['wav'] },
];

/**
 * Returns the player: the user's own, or the first installed one that supports the format.
 * @param locate returns the path of a program, or undefined when it is not installed
 * @throws Failure (usage) when no player is installed
 */
export async function findPlayer(
  { format, own }: { readonly format: Format; readonly own?: string | undefined },
  locate: (command: string) => Promise<string | undefined>,
): Promise<Player> {
  if (own !== undefined) return ownPlayer(own, locate);
  if (format === 'pcm') {
    throw usageFailure(
      'players cannot recognize raw samples (pcm)',
      'Choose another format, or name a program that can read them with --player.',
    );
  }
  const able = KNOWN_PLAYERS.filter(({ formats }) => formats.includes(format));
  for (const { args, command, complaint } of able) {
    const file = await locate(command);
    if (file !== undefined) {
      const words = args.map((arg) => (arg === 'FORMAT' ? format : arg));
      return { command, file, args: words, known: { format, complaint } };
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
  locate: (command: string) => Promise<string | undefined>,
): Promise<Player> {
  const [command, ...args] = splitWords(own);
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
 * Splits a command line into words, with quotes and backslashes as in a shell, but without variables and globs.
 * @param shown the flag or setting, for messages
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

export interface ProgramSearch {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly files: Pick<FileSystem, 'access' | 'stat'>;
}

/** Finds a program as a shell does: by its path, or by name in the folders of `PATH`; undefined if missing. */
export async function findProgram(
  command: string,
  { env, files, platform }: ProgramSearch,
): Promise<string | undefined> {
  const style = platform === 'win32' ? path.win32 : path.posix;
  const hasFolder = command.includes('/') || (platform === 'win32' && command.includes('\\'));
  const folders = hasFolder
    ? ['']
    : (env['PATH'] ?? '').split(style.delimiter).filter((folder) => style.isAbsolute(folder));
  const endings = platform === 'win32' ? ['', ...windowsEndings(env['PATHEXT'])] : [''];
  for (const folder of folders) {
    for (const ending of endings) {
      const file = style.join(folder, command + ending);
      if (await isProgram(file, files)) return file;
    }
  }
  return undefined;
}

async function isProgram(file: string, files: ProgramSearch['files']): Promise<boolean> {
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
