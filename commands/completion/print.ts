import type { CommandDefinition } from '../../src/cli/command.ts';
import type { ShellName } from './shells.ts';
import { readScript, SHELLS } from './shells.ts';

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
