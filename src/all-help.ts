import { tree } from '../commands/tree.ts';
import type { Leaf } from './cli/command.ts';
import { isBranch } from './cli/command.ts';
import { parseBranch, parseCommand, parseRoot } from './cli/program.ts';
import type { Shown } from './cli/program.ts';

/** The key of the help that `foley` without arguments prints. */
const ALONE = '(alone)';

/**
 * Returns the help of every command by its path (`''`, `tts`, `voices list`). The build saves it, so that
 * `--help` loads no command.
 */
export async function renderAllHelp(): Promise<Record<string, string>> {
  const help: Record<string, string> = {
    [ALONE]: textOf(parseRoot(tree, [])),
    '': textOf(parseRoot(tree, ['--help'])),
  };
  for (const node of tree) {
    if (!isBranch(node)) {
      help[node.name] = await helpOfLeaf([node.name], node);
      continue;
    }
    help[node.name] =
      node.itself === undefined
        ? textOf(parseBranch(node, []))
        : await helpOfLeaf([node.name], { ...node, load: node.itself });
    for (const leaf of node.children) {
      const text = await helpOfLeaf([node.name, leaf.name], leaf);
      for (const name of [leaf.name, ...(leaf.aliases ?? [])]) help[`${node.name} ${name}`] = text;
    }
  }
  return help;
}

async function helpOfLeaf(path: readonly string[], leaf: Leaf): Promise<string> {
  const parsed = parseCommand(path, await leaf.load(), ['--help']);
  if (parsed.kind === 'run') throw new Error(`foley ${path.join(' ')} --help runs the command`);
  return textOf(parsed);
}

function textOf(shown: Shown): string {
  return shown.kind === 'help' ? shown.text : '';
}
