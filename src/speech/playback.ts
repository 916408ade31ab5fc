import path from 'node:path';
import { detectSound } from '../audio/decode.ts';
import { pcmBytes, WAV_HEADER_LENGTH, wavHeader } from '../audio/encode/pcm.ts';
import { mixToMono } from '../audio/resample.ts';
import { UnusableAudioError } from '../audio/sound.ts';
import { createVerifier } from '../audio/verify.ts';
import { writeAll } from '../durable/files.ts';
import type { FileHandle, FileSystem } from '../system/file-system.ts';
import { awaitLateSignal } from '../system/processes.ts';
import { Failure } from '../errors/failure.ts';
import type { AudioSink } from '../paid/deliver.ts';
import type { Player } from './play.ts';
import type { System } from '../system/system.ts';

const QUOTED_OUTPUT_MAX_CHARACTERS = 300;

// A player may exit this long before the end of the sound, because the device buffers the rest.
const DEVICE_BUFFER_MS = 1_000;

/** A running player that accepts audio as it arrives. */
export interface Playback extends AudioSink {
  /**
   * Ends the input, and waits until all audio was played.
   * @throws Failure of kind `output` when the player failed
   * @throws the signal's abort reason, also if the player ended because of the same Ctrl-C
   */
  end(): Promise<void>;
  /** Stops the player now, and removes its temporary files. Never throws. */
  stop(): Promise<void>;
}

export interface PlaybackOptions {
  readonly system: System;
  readonly signal: AbortSignal;
  /** The folder for the temporary file of a player that cannot read stdin. */
  readonly temporaryFolder: string;
  /** Called with the stderr output of a player that succeeded. Not called for a player that the user chose. */
  readonly notice: (sentence: string) => void;
}

/**
 * Starts a player. A player that cannot read stdin starts when all audio has arrived. If foley chose the player, an
 * exit long before the end of the sound counts as a failure, even with exit code 0.
 */
export async function startPlayback(player: Player, options: PlaybackOptions): Promise<Playback> {
  if (player.playsFile === true) return createFilePlayback(player, options);
  const { clock } = options.system;
  const { child, end } = await startPlayer(player, options);
  const length = lengthOf(player);
  let startedAt: number | undefined;
  let isClosed = false;
  child.stdin?.on('error', () => {
    isClosed = true;
  });
  return {
    write: (chunk) => {
      startedAt ??= clock.monotonic();
      length?.write(chunk);
      return new Promise((resolve) => {
        if (isClosed || child.stdin === null) resolve();
        else child.stdin.write(chunk, () => resolve());
      });
    },
    async end() {
      child.stdin?.end();
      await end(startedAt, () => length?.end().durationMs);
    },
    async stop() {
      child.kill();
    },
  };
}

async function createFilePlayback(player: Player, options: PlaybackOptions): Promise<Playback> {
  const { clock, files, random } = options.system;
  const { temporaryFolder } = options;
  const mark = Buffer.from(random.bytes(8)).toString('hex');
  const folder = path.join(temporaryFolder, `foley-play-${mark}`);
  const length = lengthOf(player);
  const stopping = new AbortController();
  // This fails if another user has created the folder.
  await files.mkdir(folder, { mode: 0o700 });
  const received = await files.open(path.join(folder, 'received'), 'wx+', 0o600);
  let ending: Promise<void> | undefined;
  const cleanUp = async (): Promise<void> => {
    await received.close();
    // On Windows, the files of a process that has just ended may still be open.
    await files.rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  };
  const play = async (): Promise<void> => {
    const sound = path.join(folder, 'speech.wav');
    await decodeToWav(received, sound, files, stopping.signal);
    const args = player.args.map((word) => (word === 'FILE' ? sound : word));
    const { child, end } = await startPlayer({ ...player, args }, options, sound);
    stopping.signal.addEventListener('abort', () => child.kill());
    await end(clock.monotonic(), () => length?.end().durationMs);
  };
  return {
    async write(chunk) {
      length?.write(chunk);
      await writeAll(received, chunk);
    },
    end: () => (ending ??= play().finally(() => cleanUp().catch(() => undefined))),
    async stop() {
      stopping.abort();
      await (ending ??= cleanUp()).catch(() => undefined);
    },
  };
}

async function decodeToWav(
  received: FileHandle,
  wav: string,
  files: FileSystem,
  signal: AbortSignal,
): Promise<void> {
  const source = { fd: received.fd, size: (await received.stat()).size };
  const file = await files.open(wav, 'wx', 0o600);
  try {
    let samples = 0;
    let rate = 0;
    await writeAll(file, new Uint8Array(WAV_HEADER_LENGTH));
    const sound = await detectSound(source, signal);
    for await (const { channels, sampleRate } of sound.decode(signal)) {
      if (sampleRate > 0) rate = sampleRate;
      const mono = mixToMono(channels);
      samples += mono.length;
      await writeAll(file, pcmBytes(mono));
    }
    await file.write(wavHeader(rate, samples), 0, WAV_HEADER_LENGTH, 0);
  } catch (error) {
    if (!(error instanceof UnusableAudioError)) throw error;
    const { message: problem } = error;
    throw new Failure(`cannot play the audio, because it ${problem}`, {
      code: 'output',
      exit: 'output',
      billed: 'yes',
    });
  } finally {
    await file.close();
  }
}

function lengthOf({ known }: Player): ReturnType<typeof createVerifier> | undefined {
  return known === undefined ? undefined : createVerifier(known.format);
}

async function startPlayer(
  { args, command, file, known }: Player,
  { system: { clock }, notice, signal: stopped }: PlaybackOptions,
  sound?: string,
) {
  const { execa } = await import('execa');
  const child = execa(file, [...args], {
    stdin: sound === undefined ? 'pipe' : 'ignore',
    stdout: 'ignore',
    stderr: 'pipe',
    // The player must not see the API key.
    env: { FOLEY_API_KEY: undefined, FOLEY_SOUND_FILE: sound },
    buffer: { stderr: true },
    maxBuffer: 64 * 1024,
    reject: false,
  });
  let endedAt = Infinity;
  void child.then(() => (endedAt = clock.monotonic()));
  const endsEarly = (startedAt: number | undefined, durationMs = 0): boolean => {
    const playedMs = endedAt - (startedAt ?? endedAt);
    return playedMs < durationMs / 2 && playedMs < durationMs - DEVICE_BUFFER_MS;
  };
  const end = async (
    startedAt: number | undefined,
    durationMs: () => number | undefined,
  ): Promise<void> => {
    const { exitCode, failed, originalMessage, signal, stderr, shortMessage } = await child;
    await awaitLateSignal(stopped);
    const said = stderr
      .trim()
      .replaceAll(/\s*\n\s*/g, '; ')
      .slice(-QUOTED_OUTPUT_MAX_CHARACTERS);
    const hasComplaint = known?.complaint?.test(stderr) === true;
    if (!failed && !hasComplaint && !endsEarly(startedAt, durationMs())) {
      if (known !== undefined && said !== '') notice(`${command}: ${said}`);
      return;
    }
    const ended =
      exitCode === undefined
        ? (signal ?? originalMessage ?? shortMessage)
        : `exit code ${exitCode}`;
    const outcome = failed ? ended : 'it ended before the sound did';
    const output = said === '' ? '' : `: ${said}`;
    throw new Failure(`the player ${command} failed (${outcome})${output}`, {
      code: 'output',
      exit: 'output',
      billed: 'yes',
      hint:
        known === undefined
          ? undefined
          : 'Check the sound device, or name another player with --player.',
    });
  };
  return { child, end };
}
