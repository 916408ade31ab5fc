import { createVerifier } from '../audio/verify.ts';
import type { Clock } from '../effects/clock.ts';
import { Failure } from '../errors/failure.ts';
import type { AudioSink } from './deliver.ts';
import type { Player } from './players.ts';

/** How much of what a failing player said is shown. */
const LONGEST_COMPLAINT = 300;

/** A sound is buffered by its device: a player may end so much before the sound does. */
const DEVICE_BUFFER_MS = 1_000;

/** A player at work: takes audio as it arrives. */
export interface Playback extends AudioSink {
  /**
   * Says that this was all, and waits until it was heard.
   * @throws Failure (output) when the player failed
   */
  end(): Promise<void>;
  /** Ends the player now; never throws. */
  stop(): void;
}

export interface PlaybackOptions {
  readonly clock: Clock;
  /** Called with what a player complained of although it played. */
  readonly notice: (sentence: string) => void;
}

/**
 * Starts a player. One of the user's own may stop reading when it wants to; one that foley chose has failed
 * when it ends long before the sound does, whatever its exit code.
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
    // No program that the key is not for gets to see it.
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
        .slice(-LONGEST_COMPLAINT);
      const complains = known?.complaint?.test(stderr) === true;
      if (!failed && !complains && !endsEarly()) {
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
