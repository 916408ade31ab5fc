import { Failure } from '../errors/failure.ts';
import type { AudioSink } from './deliver.ts';
import type { Player } from './players.ts';

/** How much of what a failing player said is shown. */
const LONGEST_COMPLAINT = 300;

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

/** Starts a player. One that is closed by the person who listens has not failed. */
export async function startPlayback(player: Player): Promise<Playback> {
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
  let isClosed = false;
  child.stdin.on('error', () => {
    isClosed = true;
  });
  return {
    write: (chunk) =>
      new Promise((resolve) => {
        if (isClosed) resolve();
        else child.stdin.write(chunk, () => resolve());
      }),
    async end() {
      child.stdin.end();
      const { exitCode, failed, signal, stderr, shortMessage } = await child;
      if (!failed) return;
      const outcome = exitCode === undefined ? (signal ?? shortMessage) : `exit code ${exitCode}`;
      const said = stderr.trim().slice(-LONGEST_COMPLAINT);
      throw new Failure(
        `the player ${player.command} failed (${outcome})${said === '' ? '' : `: ${said}`}`,
        { code: 'output', exit: 'output', billed: 'yes' },
      );
    },
    stop: () => {
      child.kill();
    },
  };
}
