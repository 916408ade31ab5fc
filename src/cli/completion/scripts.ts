import type { DescribedTree } from '../described-command.ts';
import { bashParts } from './bash.ts';
import { fishParts } from './fish.ts';
import { grammarOf } from './grammar.ts';
import type { Grammar } from './grammar.ts';
import { powershellParts } from './powershell.ts';
import { zshParts } from './zsh.ts';

/** The file of each shell, and what fills the holes of its template. */
const SHELL_FILES: Readonly<Record<string, (grammar: Grammar) => Record<string, string>>> = {
  'foley.bash': bashParts,
  _foley: zshParts,
  'foley.fish': fishParts,
  'foley.ps1': powershellParts,
};

/**
 * The completion scripts of all shells, by file name. The hand-written part of each is a template with
 * holes, `#{name}`, which are filled from the command tree.
 */
export function completionScripts(
  tree: DescribedTree,
  readTemplate: (name: string) => string,
): Map<string, string> {
  const grammar = grammarOf(tree);
  return new Map(
    Object.entries(SHELL_FILES).map(([file, partsOf]) => [
      file,
      filled(readTemplate(file), partsOf(grammar)),
    ]),
  );
}

function filled(template: string, parts: Readonly<Record<string, string>>): string {
  return template.replaceAll(/#\{([a-z ]+)\}/g, (_, name: string) => {
    const part = parts[name];
    if (part === undefined) throw new Error(`no part of a completion script is called "${name}"`);
    return part;
  });
}
