import type { Argument, Command, Option } from 'commander';
import { tree } from '../commands/tree.ts';
import { wordsOf } from './cli/flags/values.ts';
import type { CommandNode, Leaf } from './cli/command.ts';
import { isBranch, isShown } from './cli/command.ts';
import type {
  DescribedArgument,
  DescribedCommand,
  DescribedFlag,
  DescribedTree,
} from './cli/described-command.ts';
import { globalOptions, helpOption } from './cli/flags/global.ts';
import { buildCommand, helpOf } from './cli/program.ts';
import { argumentSource, flagSource } from './cli/described-command.ts';

export { grammarOf } from './cli/described-command.ts';

/** Describes every command for the generated completions, man pages and reference. Used by the build only. */
export async function describedTree(): Promise<DescribedTree> {
  const commands = await Promise.all(tree.filter(isShown).map((node) => describeNode(node)));
  const globals = [...globalOptions(), helpOption()];
  return { commands, globalFlags: globals.map((option) => describeFlag(option)) };
}

async function describeNode(node: CommandNode): Promise<DescribedCommand> {
  if (!isBranch(node)) return describeLeaf([node.name], node);
  const shown = node.children.filter(isShown);
  const children = await Promise.all(
    shown.map((leaf) => describeLeaf([node.name, leaf.name], leaf)),
  );
  const { itself: load } = node;
  if (load !== undefined) {
    return { ...(await describeLeaf([node.name], { ...node, load })), children };
  }
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
    fallback: node.fallback,
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
    arguments: command.registeredArguments.map((argument) => describeArgument(path, argument)),
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
    description: option.description,
  };
}

function describeArgument(path: readonly string[], argument: Argument): DescribedArgument {
  const name = argument.name();
  const { description, required, variadic } = argument;
  return { name, required, variadic, source: argumentSource(path, name), description };
}

/** Returns the paragraphs after the flags in the help, without those that every command has. */
function notesOf(command: Command): string {
  const paragraphs = helpOf(command).slice(command.helpInformation().length).trim().split('\n\n');
  return paragraphs.filter((text) => !text.startsWith('Flags of every command')).join('\n\n');
}
