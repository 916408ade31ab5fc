import { constants, homedir } from 'node:os';
import type { MainDeps } from './cli/command.ts';
import { wasClosed } from './cli/io.ts';
import type { StopSignal } from './cli/signals.ts';
import { reasonOf } from './durable/file-failures.ts';
import { systemClock } from './effects/clock.ts';
import { systemFiles } from './effects/file-system.ts';
import { systemRandom } from './effects/random.ts';
import { usageFailure } from './errors/failure.ts';
import type { Ending } from './main.ts';
import { main, tellOfBug } from './main.ts';

/**
 * The entry of the built program: gives `main` the real world and applies how it ended. The exit
 * code is only set, so that everything written still leaves; a signal is raised again, so that the
 * shell that called knows.
 */
export function run(host: NodeJS.Process): void {
  const argv = host.argv.slice(2);
  const world = realWorld(host);
  let isOver = false;
  const end = (ending: Ending): void => {
    isOver = true;
    if ('code' in ending) host.exitCode = ending.code;
    else raise(host, ending.signal);
  };
  const crash = async (error: unknown): Promise<void> => end(await tellOfBug(error, argv, world));
  host.once('uncaughtException', (bug) => void crash(bug).finally(() => host.exit()));
  // With nothing left to wait for, Node would leave without a word.
  host.once('beforeExit', () => {
    if (!isOver) void crash(new Error('the work stopped before its end'));
  });
  void main(argv, world).then(end);
}

function realWorld(host: NodeJS.Process): MainDeps {
  return {
    env: host.env,
    cwd: () => currentFolder(host),
    homeDirectory: homedir(),
    platform: host.platform,
    streams: {
      stdin: () => host.stdin,
      stdout: host.stdout,
      stderr: host.stderr,
      stdoutIsClosed: () => wasClosed(1),
    },
    signals: host,
    clock: systemClock,
    random: systemRandom,
    files: systemFiles,
    // Not by an exit, which waits for what the system is still doing.
    leaveAtOnce: (signal) => raise(host, signal),
  };
}

/** Somebody may have removed the folder that a shell is still in. */
function currentFolder(host: NodeJS.Process): string {
  try {
    return host.cwd();
  } catch (error) {
    throw usageFailure(
      reasonOf(error, '.'),
      'Go to another folder, such as with `cd ~`, and run the command again.',
    );
  }
}

function raise(host: NodeJS.Process, signal: StopSignal): void {
  host.exitCode = 128 + constants.signals[signal];
  // Whoever still listens (a spinner does) takes the signal away, and the process ends without it.
  host.removeAllListeners(signal);
  host.kill(host.pid, signal);
}
