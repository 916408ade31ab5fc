import { readFile } from 'node:fs/promises';
import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import path from 'node:path';
import { Option } from 'commander';
import { oneOf } from '../../src/cli/flags/values.ts';
import { usageFailure } from '../../src/errors/failure.ts';

/** A shell that completes what is typed: its script, and where that goes. */
export interface Shell {
  readonly name: ShellName;
  /** The name of its script among those that come with foley. */
  readonly script: string;
  /** The folders from `base` to the place where the shell looks, and the name it looks for. */
  readonly place: readonly string[];
  /** What the place begins with: a variable, or without it a folder in the home folder. */
  readonly base: { readonly variable: string; readonly inHome: readonly string[] };
  /** What there is left to do for a person once the file is there. */
  readonly next: (file: string) => string;
}

export const SHELL_NAMES = ['bash', 'zsh', 'fish', 'powershell'] as const;

export type ShellName = (typeof SHELL_NAMES)[number];

const DATA = { variable: 'XDG_DATA_HOME', inHome: ['.local', 'share'] };
const CONFIG = { variable: 'XDG_CONFIG_HOME', inHome: ['.config'] };

export const SHELLS: Readonly<Record<ShellName, Shell>> = {
  bash: {
    name: 'bash',
    script: 'foley.bash',
    base: DATA,
    place: ['bash-completion', 'completions', 'foley'],
    next: (file) =>
      `A new bash completes foley if the package bash-completion is installed. If not, add to ~/.bashrc:\n  source '${file}'`,
  },
  zsh: {
    name: 'zsh',
    script: '_foley',
    base: DATA,
    place: ['zsh', 'site-functions', '_foley'],
    next: (file) =>
      `Add these lines to ~/.zshrc if they are missing, and start a new zsh:\n` +
      `  fpath=('${file.replace(/[\\/]_foley$/, '')}' $fpath)\n  autoload -Uz compinit && compinit`,
  },
  fish: {
    name: 'fish',
    script: 'foley.fish',
    base: CONFIG,
    place: ['fish', 'completions', 'foley.fish'],
    next: () => 'A new fish completes foley.',
  },
  powershell: {
    name: 'powershell',
    script: 'foley.ps1',
    base: CONFIG,
    place: ['powershell', 'foley.ps1'],
    next: (file) => `Add this line to your profile (\`$PROFILE\`) if it is missing:\n  . '${file}'`,
  },
};

/** The script of a shell, as the build wrote it. */
export function readScript({ script }: Shell): Promise<Buffer> {
  // Sources (`commands/completion/`) and chunks (`dist/chunks/`) are both two folders deep.
  return readFile(new URL(`../../completions/${script}`, import.meta.url));
}

/** `foley completion bash|zsh|fish|powershell`. */
export function completionFor(name: ShellName): CommandDefinition {
  return {
    configure(command) {
      command.description(
        `Prints the completion script for ${name}. \`foley completion install\` installs it.`,
      );
    },
    async run() {
      const script = (await readScript(SHELLS[name])).toString();
      return { data: { shell: name, script }, human: () => script.trimEnd() };
    },
  };
}

interface InstallFlags {
  readonly shell?: ShellName;
}

/** `foley completion install`. It writes one file, and never the files of a shell. */
export const completionInstall: CommandDefinition<InstallFlags> = {
  configure(command) {
    command
      .description(
        'Installs the completion script where the shell looks for it, and prints the remaining step. ' +
          'Does not change the start-up files of the shell.',
      )
      .addOption(
        new Option(
          '--shell <name>',
          `${SHELL_NAMES.join(', ')} (default: the one of $SHELL)`,
        ).argParser(oneOf('--shell', SHELL_NAMES)),
      );
  },
  async run(context, { options }) {
    const shell = SHELLS[options.shell ?? loginShell(context)];
    const file = placeOf(shell, context);
    await context.files.mkdir(path.dirname(file), { recursive: true });
    const { replaceFile } = await import('../../src/durable/publish.ts');
    await replaceFile({ ...context, path: file, data: await readScript(shell) });
    return {
      data: { shell: shell.name, file },
      human: () => `Wrote ${file}\n${shell.next(file)}`,
    };
  },
};

function loginShell({ env, platform }: Context): ShellName {
  const given = path.basename(env['SHELL'] ?? '');
  const shell = SHELL_NAMES.find((name) => name === given);
  if (shell !== undefined) return shell;
  if (platform === 'win32') return 'powershell';
  throw usageFailure(
    given === '' ? 'SHELL is not set' : `SHELL is "${given}", which has no completion script`,
    `Name one: --shell ${SHELL_NAMES.join(', ')}.`,
  );
}

function placeOf({ base, place }: Shell, { env, homeDirectory }: Context): string {
  const given = env[base.variable];
  const from =
    given !== undefined && path.isAbsolute(given) ? [given] : [homeDirectory, ...base.inHome];
  return path.join(...from, ...place);
}
