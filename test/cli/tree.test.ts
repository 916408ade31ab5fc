import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command, Option } from 'commander';
import { describe, expect, test } from 'vitest';
import { tree } from '../../commands/tree.ts';
import type { CommandNode, Leaf } from '../../src/cli/command.ts';
import { isBranch } from '../../src/cli/command.ts';
import { globalOptions } from '../../src/cli/flags/global.ts';
import { EXIT_CODES } from '../../src/contract/exit-codes.ts';
import { everyCommand } from '../../src/cli/described-command.ts';
import { describedTree } from '../../src/describe-tree.ts';
import { buildCommand, helpOf, isRepeatable } from '../../src/cli/program.ts';

/** One command of the tree, with the words that call it. */
interface Found {
  readonly path: readonly string[];
  readonly leaf: Leaf;
}

function leaves(nodes: readonly CommandNode[]): Found[] {
  return nodes.flatMap((node) =>
    isBranch(node)
      ? [
          ...(node.itself === undefined
            ? []
            : [{ path: [node.name], leaf: { ...node, load: node.itself } }]),
          ...node.children.map((leaf) => ({ path: [node.name, leaf.name], leaf })),
        ]
      : [{ path: [node.name], leaf: node }],
  );
}

const commands: readonly (readonly [name: string, command: Command])[] = await Promise.all(
  leaves(tree).map(
    async ({ path, leaf }) => [path.join(' '), buildCommand(path, await leaf.load())] as const,
  ),
);

function names(options: readonly Option[]): string[] {
  return options
    .flatMap(({ long, short }) => [long, short])
    .filter((name) => typeof name === 'string');
}

/** `-o, --output <path>`, `--json`, `--no-clobber`: one value at most, and it has a name. */
const FLAGS = /^(?:-[A-Za-z], )?--[a-z][a-z0-9-]*(?: <[a-z][a-z:=-]*>)?$/;

/** Everything that may read a flag, without comments and without what only declares it. */
const READERS = ['commands', 'src'].flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.startsWith('service/'))
    .map((file) => readFileSync(join(folder, file), 'utf8')),
);
const CODE = READERS.join('\n')
  .replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*/g, '')
  .replaceAll(/\bPick<[^>]*>/g, '');

/** As a property (`flags.play`), taken out of an object (`{ play, output }`), or by its name (`'play'`). */
function isRead(name: string): boolean {
  return new RegExp(`\\.${name}\\b|[{,]\\s*${name}\\b\\s*(?:[,}]|=[^>])|'${name}'[,)\\]]`).test(
    CODE,
  );
}

test('the check for unread flags finds one', () => {
  expect(isRead('maxRetries')).toBe(true);
  expect(isRead('maxRetriesOfNobody')).toBe(false);
});

test('the tree has commands', () => {
  expect(commands.map(([name]) => name)).toEqual(expect.arrayContaining(['tts', 'voices list']));
});

test('commands have distinct names, and a summary each', () => {
  const listings = [tree, ...tree.flatMap((node) => (isBranch(node) ? [node.children] : []))];
  for (const nodes of listings) {
    const called = nodes.flatMap((node) =>
      isBranch(node) ? [node.name] : [node.name, ...(node.aliases ?? [])],
    );
    expect(new Set(called).size).toBe(called.length);
    for (const { name, summary } of nodes) {
      expect(name).toMatch(/^[a-z][a-z-]*$/);
      expect(summary, name).toMatch(/^[A-Z].*[^.]$/);
    }
  }
  for (const node of tree.filter((candidate) => isBranch(candidate))) {
    const called: readonly (string | undefined)[] = node.children.map(({ name }) => name);
    if (node.fallback !== undefined) expect(called).toContain(node.fallback);
    // One rule for bare nouns: they list; what has no list is shown.
    if (called.includes('list')) expect(node.fallback, node.name).toBe('list');
  }
});

describe.each(commands)('%s', (_, command) => {
  test('has options with at most one named value', () => {
    for (const option of command.options) {
      expect(option.flags).toMatch(FLAGS);
      expect(option.variadic, `${option.flags} swallows what follows`).toBe(false);
      expect(option.optional, `${option.flags} may or may not take what follows`).toBe(false);
    }
  });

  test('describes exactly its repeatable options as such', () => {
    for (const option of command.options) {
      const says = /may be repeated/.test(option.description);
      expect(isRepeatable(option), option.flags).toBe(says);
    }
  });

  test('reads all of its options', () => {
    const unread = command.options.filter(
      (option) => option.long !== '--version' && !isRead(option.attributeName()),
    );
    expect(unread.map(({ flags }) => flags)).toEqual([]);
  });

  test('describes its options', () => {
    for (const option of command.options) {
      expect(option.description.trim(), option.flags).not.toBe('');
      expect(option.description, option.flags).not.toMatch(/\.$|\n/);
    }
  });

  test('names only its own flags and APIs in descriptions', () => {
    const all = names(command.options);
    for (const { description, flags } of command.options) {
      const named = description.match(/--[a-z][a-z-]*/g) ?? [];
      expect(all, flags).toEqual(expect.arrayContaining(named));
    }
    const api = command.options.find(({ long }) => long === '--api');
    if (helpOf(command).includes('compat surfaces')) expect(api?.description).toMatch(/compat/);
  });

  test('has no option twice', () => {
    const all = names(command.options);
    expect(new Set(all).size, all.join(' ')).toBe(all.length);
    // Commander keeps these two for itself.
    expect(all).not.toContain('-h');
    expect(all).not.toContain('--help');
  });

  test('has options with distinct attribute names', () => {
    const attributes = command.options
      .filter(({ negate }) => !negate)
      .map((option) => option.attributeName());
    expect(new Set(attributes).size).toBe(attributes.length);
  });

  test('has the global flags', () => {
    const global = ['--json', '--quiet', '--verbose', '--local', '--base-url', '--api-key-file'];
    expect(names(command.options)).toEqual(expect.arrayContaining(global));
    expect(names(command.options)).not.toContain('--api-key');
  });

  test('has a description and described arguments, of which only the last is a list', () => {
    expect(command.description()).toMatch(/^[A-Z][\s\S]*\.$/);
    for (const argument of command.registeredArguments) {
      expect(argument.description, argument.name()).toMatch(/\S/);
    }
    const lists = command.registeredArguments.slice(0, -1).filter(({ variadic }) => variadic);
    expect(lists).toEqual([]);
  });

  test('shows all of its visible options in help', () => {
    const help = helpOf(command);
    const lines = help.split('\n');
    const shared = new Set(globalOptions().map(({ flags }) => flags));
    for (const { flags } of command.options.filter(({ hidden }) => !hidden)) {
      const isShown = lines.some((line) => `${line} `.startsWith(`  ${flags} `));
      expect(isShown, flags).toBe(!shared.has(flags));
    }
    expect(help).toContain('`foley help flags`');
  });
});

test('man pages, completions and the reference show the same defaults as the help', async () => {
  const described = new Map(
    everyCommand((await describedTree()).commands).flatMap(({ flags, path }) =>
      flags.map(({ description, long }) => [`${path.join(' ')} ${long}`, description] as const),
    ),
  );
  const withDefaults = commands.flatMap(([name, command]) => {
    const shared = new Set(globalOptions().map(({ long }) => long));
    const own = command.options.filter(({ hidden, long }) => !hidden && !shared.has(long));
    return own.map((option) => {
      return [`${name} ${option.long}`, command.createHelp().optionDescription(option)] as const;
    });
  });
  expect(withDefaults.filter(([, text]) => text.includes('(default: ')).length).toBeGreaterThan(8);
  for (const [name, text] of withDefaults) expect(described.get(name), name).toBe(text);
});

describe('help --json has what the help of each command shows', async () => {
  const described = await describedTree();
  const rows = everyCommand(described.commands).map((one) => [one.path.join(' '), one] as const);

  test.each(rows.filter(([name]) => commands.some(([other]) => other === name)))(
    '%s',
    (name, { arguments: taken, description, examples, flags, summary }) => {
      const [, command] = commands.find(([other]) => other === name) ?? [];
      const text = command === undefined ? '' : helpOf(command);
      const help = collapsed(text);
      expect(summary).not.toBe('');
      expect(help).toContain(collapsed(description));
      for (const argument of taken) expect(help).toContain(collapsed(argument.description));
      for (const { default: usual, description: shown, isRequired, long, short, value } of flags) {
        const both = short === undefined ? long : `${short}, ${long}`;
        const flag = value === undefined ? both : `${both} <${value}>`;
        expect(help).toContain(collapsed(`${flag} ${shown}`));
        if (usual !== undefined) expect(shown).toContain(`(default: ${usual})`);
        expect(isRequired === true, long).toBe(shown.includes('(required)'));
      }
      expect(text.match(/^ {2}(?:-\w, )?--[\w-]+/gm) ?? []).toHaveLength(flags.length);
      for (const example of examples) expect(help).toContain(collapsed(example));
      expect(text.match(/^ {2}\$ /gm)?.length ?? examples.length).toBe(examples.length);
    },
  );

  test('with types, limits, and the settings and variables that are used without a flag', () => {
    const flags = new Map(
      rows.flatMap(([name, one]) => one.flags.map((flag) => [`${name} ${flag.long}`, flag])),
    );
    expect(flags.get('tts --speed')).toMatchObject({
      type: 'number',
      minimum: 0.5,
      maximum: 2,
      setting: 'speed',
    });
    expect(flags.get('tts --voice')).toMatchObject({
      type: 'string',
      setting: 'voice',
      environment: 'FOLEY_VOICE',
    });
    expect(flags.get('tts --play')).toMatchObject({ type: 'boolean' });
    expect(flags.get('tts --lexicon')).toMatchObject({ type: 'string', isRepeatable: true });
    expect(flags.get('batch --concurrency')).toMatchObject({
      type: 'integer',
      maximum: 256,
      default: '4',
    });
    expect(flags.get('jobs wait --timeout')).toMatchObject({ type: 'duration' });
    expect(flags.get('voices create --language')).not.toHaveProperty('setting');
    expect(flags.get('design create --preview-text')).toMatchObject({ isRequired: true });
    expect(described.globalFlags).toContainEqual(
      expect.objectContaining({ long: '--base-url', environment: 'FOLEY_BASE_URL' }),
    );
    expect(described.exitCodes).toEqual(Object.values(EXIT_CODES));
  });
});

function collapsed(text: string): string {
  return text.replaceAll(/\\\n/g, '').replaceAll(/\s+/g, ' ');
}
