import { readFile } from 'node:fs/promises';

export interface Shell {
  readonly name: ShellName;
  /** File name of the completion script in the folder `completions/` of foley. */
  readonly script: string;
  /** The path of the installed script below the folder `base`, as a list of components. */
  readonly place: readonly string[];
  /**
   * The folder under which the script is installed: the value of the environment variable `variable`. If the variable
   * is unset, the folder is `inHome` in the home folder.
   */
  readonly base: { readonly variable: string; readonly inHome: readonly string[] };
  /** Returns instructions that the user sees after the installation. `file` is the path of the installed script. */
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
    next: () => 'Start a new fish shell.',
  },
  powershell: {
    name: 'powershell',
    script: 'foley.ps1',
    base: CONFIG,
    place: ['powershell', 'foley.ps1'],
    next: (file) => `Add this line to your profile (\`$PROFILE\`) if it is missing:\n  . '${file}'`,
  },
};

/** Reads the generated completion script of a shell. */
export function readScript({ script }: Shell): Promise<Buffer> {
  // Sources (`commands/completion/`) and chunks (`dist/chunks/`) are both two folders deep.
  return readFile(new URL(`../../completions/${script}`, import.meta.url));
}
