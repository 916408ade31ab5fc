import type { Context } from '../../src/cli/context.ts';
import { Failure } from '../../src/errors/failure.ts';
import { findProgram } from '../../src/speech/installed-programs.ts';
import { findPlayer } from '../../src/speech/players.ts';
import type { Check } from './finding.ts';
import { ok, warning } from './finding.ts';

const FORMATS = ['mp3', 'wav', 'ogg'] as const;

/** What `--play` would use for each format. */
export const playersCheck: Check = {
  name: 'players',
  async look(context) {
    const players = await Promise.all(
      FORMATS.map(async (format) => ({ format, command: await playerFor(context, format) })),
    );
    const missing = players.filter(({ command }) => command === undefined);
    const found = players.filter(({ command }) => command !== undefined);
    return [
      ...(found.length === 0
        ? []
        : [ok(found.map(({ command, format }) => `${format}: ${command}`).join(', '))]),
      ...(missing.length === 0
        ? []
        : [
            warning(
              `nothing that plays ${missing.map(({ format }) => format).join(', ')} is installed`,
              'Install mpv or ffmpeg for --play, or name your own program with --player.',
            ),
          ]),
    ];
  },
};

async function playerFor(
  { env, files, platform }: Context,
  format: (typeof FORMATS)[number],
): Promise<string | undefined> {
  try {
    const locate = (command: string) => findProgram(command, { env, files, platform });
    return (await findPlayer({ format }, locate)).command;
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}
