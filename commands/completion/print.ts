import type { CommandDefinition } from '../../src/cli/command.ts';
import type { ShellName } from './shells.ts';
import { readScript, SHELLS } from './shells.ts';

export interface CompletionDocument {
  readonly shell: ShellName;
  readonly script: string;
}

/** Defines the command `foley completion SHELL`, which prints the completion script of a shell. */
export function completionFor(name: ShellName): CommandDefinition<object, CompletionDocument> {
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
