import type { Command, Option } from 'commander';
import { Help } from 'commander';
import { tree } from '../commands/tree.ts';
import { wordsOf } from './cli/flags/values.ts';
import type { CommandNode, Leaf } from './cli/command.ts';
import { isBranch, isShown } from './cli/command.ts';
import type { DescribedCommand, DescribedFlag, DescribedTree } from './cli/described-command.ts';
import { argumentSource, flagSource } from './cli/described-command.ts';
import { globalOptions, helpOption } from './cli/flags/global.ts';
import type { Shown } from './cli/program.ts';
import { buildCommand, helpOf, parseBranch, parseRoot, unorderedHelp } from './cli/program.ts';

export { grammarOf } from './cli/described-command.ts';

/**
 * Returns the help text of every command. The keys are command paths, such as `voices list`, and `''` for `foley`
 * itself. The key `(alone)` has the text that `foley` prints without arguments. The build saves all texts, so that
 * `--help` need not load the code of a command.
 */
export async function renderAllHelp(): Promise<Record<string, string>> {
  const help: Record<string, string> = {
    '(alone)': textOf(parseRoot(tree, [])),
    '': textOf(parseRoot(tree, ['--help'])),
  };
  for (const node of tree) {
    if (isBranch(node)) help[node.name] = textOf(parseBranch(node, []));
    for (const { leaf, path } of leavesOf(node)) {
      const text = helpOf(buildCommand(path, await leaf.load()));
      const parents = path.slice(0, -1);
      for (const name of [leaf.name, ...(leaf.aliases ?? [])]) {
        help[[...parents, name].join(' ')] = text;
      }
    }
  }
  return help;
}

function textOf(shown: Shown): string {
  return shown.kind === 'help' ? shown.text : '';
}

function leavesOf(node: CommandNode): { readonly path: readonly string[]; readonly leaf: Leaf }[] {
  if (!isBranch(node)) return [{ path: [node.name], leaf: node }];
  const { itself: load, name } = node;
  const verbs = node.children.map((leaf) => ({ path: [name, leaf.name], leaf }));
  return load === undefined ? verbs : [{ path: [name], leaf: { ...node, load } }, ...verbs];
}

/** Describes every command for the generated completions, man pages and reference. Used by the build only. */
export async function describedTree(): Promise<DescribedTree> {
  const commands = await Promise.all(tree.filter(isShown).map((node) => describeNode(node)));
  const globals = [...globalOptions(), helpOption()];
  return { commands, globalFlags: globals.map((option) => describeFlag(option)) };
}

async function describeNode(node: CommandNode): Promise<DescribedCommand> {
  const leaves = leavesOf(node).filter(({ leaf }) => isShown(leaf));
  const described = await Promise.all(leaves.map(({ leaf, path }) => describeLeaf(path, leaf)));
  const itself = described.find(({ path }) => path.length === 1);
  const children = described.filter((one) => one !== itself);
  if (itself !== undefined) return { ...itself, children };
  return {
    path: [node.name],
    aliases: [],
    summary: node.summary,
    description: `${node.summary}.`,
    usage: '<command> [flags]',
    arguments: [],
    flags: [],
    notes: '',
    children,
    fallback: isBranch(node) ? node.fallback : undefined,
  };
}

async function describeLeaf(path: readonly string[], leaf: Leaf): Promise<DescribedCommand> {
  const command = buildCommand(path, await leaf.load());
  const everywhere = new Set(globalOptions().map(({ long }) => long));
  const own = command.options.filter(({ hidden, long }) => !hidden && !everywhere.has(long));
  return {
    path,
    aliases: leaf.aliases ?? [],
    summary: leaf.summary,
    description: command.description(),
    usage: command.usage(),
    arguments: command.registeredArguments.map((argument) => {
      const { description, required, variadic } = argument;
      const name = argument.name();
      return { name, required, variadic, source: argumentSource(path, name), description };
    }),
    flags: own.map((option) => describeFlag(option)),
    notes: notesOf(command),
    children: [],
    fallback: undefined,
  };
}

function describeFlag(option: Option): DescribedFlag {
  const long = option.long ?? option.flags;
  const value = /[<[]([^>\]]+)[>\]]/.exec(option.flags)?.[1]?.replace('...', '');
  return {
    long,
    short: option.short ?? undefined,
    value,
    source: value === undefined ? 'nothing' : flagSource(long, value, wordsOf(option.parseArg)),
    // With the default value, as in the help.
    description: new Help().optionDescription(option),
  };
}

function notesOf(command: Command): string {
  const notes = unorderedHelp(command).slice(command.helpInformation().length);
  const paragraphs = notes.trim().split('\n\n');
  return paragraphs.filter((text) => !text.startsWith('Flags of every command')).join('\n\n');
}
