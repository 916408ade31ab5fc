import path from 'node:path';
import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import { choiceOption } from '../../src/cli/flags/values.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import type { Shell, ShellName } from './shells.ts';
import { readScript, SHELL_NAMES, SHELLS } from './shells.ts';

interface InstallFlags {
  readonly shell?: ShellName;
}

/** The script that was installed. */
export interface InstalledDocument {
  readonly shell: string;
  readonly file: string;
}

export const definition: CommandDefinition<InstallFlags, InstalledDocument> = {
  configure(command) {
    command
      .description(
        'Installs the completion script where the shell looks for it, and prints the remaining step. ' +
          'Does not change the start-up files of the shell.',
      )
      .addOption(
        choiceOption(
          '--shell <name>',
          `${SHELL_NAMES.join(', ')} (default: from $SHELL)`,
          SHELL_NAMES,
        ),
      );
  },
  async run(context, { options }) {
    const shell = SHELLS[options.shell ?? loginShell(context)];
    const file = placeOf(shell, context);
    await context.system.files.mkdir(path.dirname(file), { recursive: true });
    const { replaceFile } = await import('../../src/durable/publish.ts');
    await replaceFile(context.system, { path: file, data: await readScript(shell) });
    return {
      data: { shell: shell.name, file },
      human: () => `Wrote ${file}\n${shell.next(file)}`,
    };
  },
};

function loginShell({ env, system: { platform } }: Context): ShellName {
  const given = path.basename(env['SHELL'] ?? '');
  const shell = SHELL_NAMES.find((name) => name === given);
  if (shell !== undefined) return shell;
  if (platform === 'win32') return 'powershell';
  throw usageFailure(
    given === '' ? 'SHELL is not set' : `SHELL is "${given}", which has no completion script`,
    `Name a shell: --shell ${SHELL_NAMES.join(', ')}.`,
  );
}

function placeOf({ base, place }: Shell, { env, homeDirectory }: Context): string {
  const given = env[base.variable];
  const from =
    given !== undefined && path.isAbsolute(given) ? [given] : [homeDirectory, ...base.inHome];
  return path.join(...from, ...place);
}
