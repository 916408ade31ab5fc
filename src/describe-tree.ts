import type { Command, Option } from 'commander';
import { Help } from 'commander';
import { tree } from '../commands/tree.ts';
import { valueOf, wordsOf } from './cli/flags/values.ts';
import { EXIT_CODES } from './contract/exit-codes.ts';
import type { CommandNode, Leaf } from './cli/command.ts';
import { isBranch, isShown } from './cli/command.ts';
import type { DescribedCommand, DescribedFlag, DescribedTree } from './cli/described-command.ts';
import { argumentSource, flagSource } from './cli/described-command.ts';
import { globalOptions, helpOption } from './cli/flags/global.ts';
import type { Shown } from './cli/program.ts';
import {
  buildCommand,
  helpOf,
  isRepeatable,
  parseBranch,
  parseRoot,
  unorderedHelp,
} from './cli/program.ts';
import { SETTINGS } from './config/setting-definitions.ts';
import { ENVIRONMENT } from './contract/values.ts';

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
  return {
    commands,
    globalFlags: globals.map((option) => describeFlag(option)),
    exitCodes: Object.values(EXIT_CODES),
  };
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
    examples: [],
    children,
    fallback: isBranch(node) ? node.fallback : undefined,
  };
}

async function describeLeaf(path: readonly string[], leaf: Leaf): Promise<DescribedCommand> {
  const command = buildCommand(path, await leaf.load());
  const everywhere = new Set(globalOptions().map(({ long }) => long));
  const notes = notesOf(command);
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
    notes,
    examples: examplesOf(notes),
    children: [],
    fallback: undefined,
  };
}

function describeFlag(option: Option): DescribedFlag {
  const long = option.long ?? option.flags;
  // With the default value, as in the help.
  const description = new Help().optionDescription(option);
  const [, usual] = /\(default: ((?:[^()]|\([^()]*\))+)\)/.exec(description) ?? [];
  const value = /[<[]([^>\]]+)[>\]]/.exec(option.flags)?.[1]?.replace('...', '');
  return {
    long,
    short: option.short ?? undefined,
    value,
    ...typeOf(option, value !== undefined),
    source: value === undefined ? 'nothing' : flagSource(long, value, wordsOf(option.parseArg)),
    ...(usual === undefined ? {} : { default: usual }),
    ...sourcesOf(option),
    ...(option.mandatory ? { isRequired: true } : {}),
    ...(isRepeatable(option) ? { isRepeatable: true } : {}),
    description,
  };
}

function typeOf(
  option: Option,
  hasValue: boolean,
): Pick<DescribedFlag, 'maximum' | 'minimum' | 'type'> {
  const { maximum, minimum, type = 'string' } = valueOf(option);
  return {
    type: hasValue ? type : 'boolean',
    ...(minimum === undefined ? {} : { minimum }),
    ...(maximum === undefined ? {} : { maximum }),
  };
}

function sourcesOf(option: Option): Pick<DescribedFlag, 'environment' | 'setting'> {
  const { setting } = valueOf(option);
  if (setting !== undefined) {
    const { environment } = SETTINGS[setting];
    return { setting, ...(environment === undefined ? {} : { environment }) };
  }
  const variable = `FOLEY_${option.name().replaceAll('-', '_').toUpperCase()}`;
  return variable in ENVIRONMENT ? { environment: variable } : {};
}

function examplesOf(notes: string): readonly string[] {
  const [, block = ''] = /^Examples:\n((?: .*(?:\n|$))+)/m.exec(notes) ?? [];
  const lines = block.trimEnd().replaceAll(/\\\n\s*/g, '');
  return lines.split('\n').flatMap((line) => line.trim().replace(/^\$ /, '') || []);
}

function notesOf(command: Command): string {
  const notes = unorderedHelp(command).slice(command.helpInformation().length);
  const paragraphs = notes.trim().split('\n\n');
  return paragraphs.filter((text) => !text.startsWith('Flags of every command')).join('\n\n');
}
