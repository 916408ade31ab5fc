import { readFile } from 'node:fs/promises';

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
