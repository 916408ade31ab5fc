import type { Option } from 'commander';
import { Command, CommanderError } from 'commander';
import { ENVIRONMENT } from '../contract/values.ts';
import type { Failure } from '../errors/failure.ts';
import { usageFailure } from '../errors/failure.ts';
import { closest } from '../text/did-you-mean.ts';
import type { Branch, CommandDefinition, CommandInput, CommandNode, Leaf } from './command.ts';
import { isBranch, isShown } from './command.ts';
import type { GlobalOptions } from './flags/global.ts';
import { globalOptions, helpOption } from './flags/global.ts';

const HELP_COLUMNS = 80;
const VERSION_OPTION = 'version';
const EXIT_CODES_HELP = 'Exit codes: see `foley help exit-codes`.';
const GLOBAL_FLAGS_HELP =
  '\nFlags of every command, such as --json and --quiet: see `foley help flags`.';

/** The words ask for text instead of work: help or the version, to be printed on stdout. */
export type Shown =
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'version'; readonly json: boolean };

export interface Parsed extends CommandInput<object> {
  readonly kind: 'run';
  readonly globals: GlobalOptions;
}

/**
 * Parses the words of one command.
 * @throws Failure (usage) for flags and arguments that the command does not take
 */
export function parseCommand(
  path: readonly string[],
  definition: CommandDefinition,
  words: readonly string[],
): Parsed | Shown {
  const command = buildCommand(path, definition);
  const guarded = definition.freeText === true ? guardDashText(words, command.options) : words;
  const shown = parse(command, guarded, definition.freeText);
  if (shown !== undefined) return shown;
  return {
    kind: 'run',
    args: restoreDashText(command.args),
    options: command.opts(),
    globals: command.opts<GlobalOptions>(),
  };
}

/** One command with its own and the global flags, as commander has it. */
export function buildCommand(path: readonly string[], definition: CommandDefinition): Command {
  const command = bareCommand(['foley', ...path].join(' '));
  command.action(() => {});
  definition.configure(command);
  const own = [...command.options];
  for (const option of globalOptions()) command.addOption(option);
  return command
    .configureHelp({
      helpWidth: HELP_COLUMNS,
      visibleOptions: () => own.filter(({ hidden }) => !hidden),
    })
    .addHelpText('after', `${GLOBAL_FLAGS_HELP}\n${EXIT_CODES_HELP}`);
}

/** The words when no command was named: what to type next, and with global flags the help of all. */
export function parseRoot(tree: readonly CommandNode[], words: readonly string[]): Shown {
  if (words.length === 0) return { kind: 'help', text: welcomeText(tree) };
  const command = listing('foley', tree)
    .description('Speech, voices and captions, with a complete offline service built in.')
    .addHelpText('after', environmentHelp())
    .addHelpText('after', EXIT_CODES_HELP)
    .addHelpText('after', '\nStart with: foley tts "Hello from foley" -o hello.mp3');
  return parseListing(command, words);
}

function environmentHelp(): string {
  const entries = Object.entries(ENVIRONMENT);
  const width = Math.max(...entries.map(([name]) => name.length));
  const lines = entries.map(([name, what]) => `  ${name.padEnd(width)}  ${what}`);
  return `\nEnvironment:\n${lines.join('\n')}`;
}

/** The words when a noun was named without a verb. */
export function parseBranch(branch: Branch, words: readonly string[]): Shown {
  const command = listing(`foley ${branch.name}`, branch.children);
  return parseListing(command.description(`${branch.summary}.`), words);
}

/** A command that only lists its children, the root or a noun: those come first in its help. */
function listing(name: string, nodes: readonly CommandNode[]): Command {
  const command = bareCommand(name).usage('<command> [flags]');
  for (const option of globalOptions()) command.addOption(option);
  for (const node of nodes.filter(isShown)) {
    const aliases = isBranch(node) ? [] : (node.aliases ?? []);
    command
      .command(node.name)
      .aliases([...aliases])
      .description(node.summary);
  }
  return command
    .configureHelp({ helpWidth: HELP_COLUMNS, visibleOptions: () => [] })
    .addHelpText('after', GLOBAL_FLAGS_HELP)
    .addHelpText('after', `See \`${name} <command> --help\` for the flags of a command.`);
}

function parseListing(command: Command, words: readonly string[]): Shown {
  command.action(() => {});
  return parse(command, words) ?? { kind: 'help', text: helpOf(command) };
}

function bareCommand(name: string): Command {
  return new Command(name)
    .exitOverride()
    .configureHelp({ helpWidth: HELP_COLUMNS })
    .helpCommand(false)
    .addHelpOption(helpOption())
    .allowExcessArguments(false)
    .showSuggestionAfterError(false);
}

/** Runs commander with its output caught: help comes back as text, complaints as failures. */
function parse(command: Command, words: readonly string[], freeText = false): Shown | undefined {
  refuseRepeated(command);
  command.configureOutput({ writeErr: () => {}, writeOut: () => {} });
  try {
    command.parse(words, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === 'commander.helpDisplayed') return { kind: 'help', text: helpOf(command) };
    throw usageProblem(command, error, freeText);
  }
  const given = command.opts<GlobalOptions>();
  return VERSION_OPTION in given ? { kind: 'version', json: given.json === true } : undefined;
}

/** Has the second value of a flag that takes one refused: commander would silently take the last. */
function refuseRepeated(command: Command): void {
  const single = command.options.filter((option) => option.required && !isRepeatable(option));
  for (const option of single) {
    const flag = option.long ?? option.flags;
    let first: string | undefined;
    command.on(`option:${option.name()}`, (value: string) => {
      if (first !== undefined) {
        // An address may hold a password.
        const values = `${first}${value}`.includes('://') ? '' : ` ("${first}", then "${value}")`;
        throw usageFailure(`${flag} is given more than once${values}`, 'Give it one value.');
      }
      first = value;
    });
  }
}

/** Whether a flag may be given several times: its parser adds to the values before. */
export function isRepeatable({ parseArg }: Option): boolean {
  return parseArg !== undefined && parseArg.length > 1;
}

/** The whole help of a command, as `--help` prints it. */
export function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({
    writeOut: (part) => {
      text += part;
    },
    getOutHasColors: () => false,
    getOutHelpWidth: () => HELP_COLUMNS,
  });
  command.outputHelp();
  return text;
}

function usageProblem(command: Command, error: CommanderError, freeText: boolean): Failure {
  const message = error.message.replace(/^error: /, '');
  const flag = /^unknown option '(.+?)(?:=.*)?'$/s.exec(message)?.[1];
  const known = command.options.flatMap(({ long, short }) => [long, short]).filter(isText);
  // A letter is as far from every other one.
  const isWord = flag?.startsWith('--') === true;
  const [nearest] = isWord ? closest(flag, known, 1) : [];
  const hints = [
    nearest === undefined ? undefined : `Did you mean ${nearest}?`,
    flag !== undefined && freeText ? 'Text that begins with a dash goes after `--`.' : undefined,
    `See \`${command.name()} --help\`.`,
  ];
  // What was given to a flag that is not there may be a secret.
  const problem = flag === undefined ? message : `unknown option '${flag}'`;
  if (flag !== undefined && nearest === flag) {
    return usageFailure(`${flag} does not accept a value`, `See \`${command.name()} --help\`.`);
  }
  return usageFailure(problem, hints.filter(isText).join(' '));
}

function isText(value: string | null | undefined): value is string {
  return typeof value === 'string';
}

const COLUMNS = 80;

/** Example commands for new users. */
const BEGINNINGS = [
  ['foley tts "Hello from foley" -o hello.mp3', 'speak into a file'],
  ['foley tts "Hello from foley" --play', 'speak aloud'],
  ['foley voices list', 'see the voices'],
  ['foley doctor', 'check that everything works'],
] as const;

/** Returns what `foley` prints without arguments: examples and all commands. */
export function welcomeText(tree: readonly CommandNode[]): string {
  const width = Math.max(...BEGINNINGS.map(([line]) => line.length));
  return [
    'Usage: foley <command> [flags]',
    '',
    'Speech, voices and captions, with a complete offline service built in.',
    '',
    'Start with:',
    ...BEGINNINGS.map(([line, what]) => `  ${line.padEnd(width)}   ${what}`),
    '',
    'Commands:',
    ...wrapped(tree.filter(isShown).map(({ name }) => name)).map((line) => `  ${line}`),
    '',
    'See `foley --help` for details, and `foley <command> --help` for one command.',
    '',
  ].join('\n');
}

function wrapped(words: readonly string[]): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    const longer = last === undefined ? word : `${last} ${word}`;
    if (last === undefined || longer.length > COLUMNS - 4) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

/**
 * Text may begin with a dash ("- and then it rained"): a word of free text that does so and has
 * white space is text, not a flag. The parser knows nothing of that, so such
 * words carry a mark through it that no argument of a process can hold.
 */
const MARK = '\0';

export function guardDashText(
  words: readonly string[],
  options: readonly Option[],
): readonly string[] {
  const takesValue = new Set(
    options.flatMap(({ required, long, short }) => (required ? [long, short] : [])),
  );
  const longs = new Set(options.map(({ long }) => long));
  const end = words.indexOf('--');
  return words.map((word, index) => {
    const isValue = index > 0 && takesValue.has(words[index - 1]);
    const isAfterFlags = end !== -1 && index > end;
    return !isValue && !isAfterFlags && isDashText(word, longs) ? MARK + word : word;
  });
}

function isDashText(word: string, longs: ReadonlySet<string | null | undefined>): boolean {
  if (!word.startsWith('-') || !/\s/.test(word)) return false;
  return !(word.includes('=') && longs.has(word.split('=', 1)[0]));
}

/** Takes the marks off the arguments again. */
export function restoreDashText(words: readonly string[]): readonly string[] {
  return words.map((word) => (word.startsWith(MARK) ? word.slice(MARK.length) : word));
}

/** Where the words of the command line lead in the command tree. */
export type Invocation =
  | { readonly kind: 'root'; readonly words: readonly string[] }
  | { readonly kind: 'branch'; readonly branch: Branch; readonly words: readonly string[] }
  | {
      readonly kind: 'leaf';
      readonly leaf: Leaf;
      /** Names from the root, such as `['voices', 'list']`. */
      readonly path: readonly string[];
      /** Everything but the path: flags before and after it, and arguments. */
      readonly words: readonly string[];
    };

/**
 * Finds the command that is meant. Only global flags can stand before it.
 * @throws Failure (usage) for a word that names no command
 */
export function findInvocation(argv: readonly string[], tree: readonly CommandNode[]): Invocation {
  const first = nextWord(argv);
  const words = first.before;
  if (first.word === undefined) return { kind: 'root', words };
  if (first.word === 'help') return findHelp(words, first.after, tree);
  const node = tree.find(({ name }) => name === first.word);
  if (node === undefined) throw unknownCommand(first.word, tree);
  if (!isBranch(node)) {
    return { kind: 'leaf', leaf: node, path: [node.name], words: [...words, ...first.after] };
  }
  return findVerb(node, words, first.after);
}

function findVerb(branch: Branch, before: readonly string[], rest: readonly string[]): Invocation {
  const second = nextWord(rest);
  const words = [...before, ...second.before];
  if (branch.itself !== undefined && !isVerb(branch, second)) {
    const leaf = { name: branch.name, summary: branch.summary, load: branch.itself };
    return { kind: 'leaf', leaf, path: [branch.name], words: [...before, ...rest] };
  }
  const fallback = branch.children.find(({ name }) => name === branch.fallback);
  if (second.word === undefined) {
    if (fallback === undefined || asksForHelp(words)) return { kind: 'branch', branch, words };
    return { kind: 'leaf', leaf: fallback, path: [branch.name, fallback.name], words };
  }
  const { word } = second;
  const leaf = branch.children.find(
    ({ aliases, name }) => name === word || aliases?.includes(word),
  );
  if (leaf !== undefined) {
    const path = [branch.name, leaf.name];
    return { kind: 'leaf', leaf, path, words: [...words, ...second.after] };
  }
  throw unknownCommand(second.word, branch.children, branch.name);
}

/** Behind a flag of the noun itself a word may be its value, and behind `--` it is text. */
function isVerb(branch: Branch, { before, word }: ReturnType<typeof nextWord>): boolean {
  const known = new Set(globalOptions().flatMap(({ long, short }) => [long, short]));
  const isBehindOwnFlag = before.some(
    (given) => given.startsWith('-') && !known.has(given.split('=', 1)[0]),
  );
  return !isBehindOwnFlag && branch.children.some(({ name }) => name === word);
}

/** `foley help tts` is `foley tts --help`; the topics of help itself are leaves of the tree. */
function findHelp(
  before: readonly string[],
  words: readonly string[],
  tree: readonly CommandNode[],
): Invocation {
  const { word } = nextWord(words);
  const topics = tree.filter((node) => isBranch(node)).find(({ name }) => name === 'help');
  const names = topics?.children.map(({ name }) => name) ?? [];
  if (topics !== undefined && word !== undefined) {
    if (names.includes(word)) return findVerb(topics, before, words);
    const [nearest] = closest(word, names, 1);
    if (nearest !== undefined && !tree.some(({ name }) => name === word)) {
      throw usageFailure(`no help topic "${word}"`, `Did you mean \`foley help ${nearest}\`?`);
    }
  }
  return findInvocation([...words.filter((given) => given !== '--help'), '--help'], tree);
}

function nextWord(argv: readonly string[]): {
  before: readonly string[];
  word: string | undefined;
  after: readonly string[];
} {
  const takesValue = new Set(
    globalOptions().flatMap((option) => (option.required ? [option.long, option.short] : [])),
  );
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? '';
    if (takesValue.has(word)) index += 1;
    else if (!word.startsWith('-') || word === '-') {
      return { before: argv.slice(0, index), word, after: argv.slice(index + 1) };
    }
  }
  return { before: argv, word: undefined, after: [] };
}

function namesOf(node: CommandNode): readonly string[] {
  return isBranch(node) ? [node.name] : [node.name, ...(node.aliases ?? [])];
}

function asksForHelp(words: readonly string[]): boolean {
  return words.includes('-h') || words.includes('--help');
}

function unknownCommand(word: string, nodes: readonly CommandNode[], parent?: string): Error {
  const path = parent === undefined ? 'foley' : `foley ${parent}`;
  const names = nodes.filter(isShown).flatMap(namesOf);
  const [nearest] = closest(word, names, 1);
  return usageFailure(
    `there is no command "${path === 'foley' ? word : `${parent} ${word}`}"`,
    nearest === undefined
      ? `${parent === undefined ? 'There are' : 'Its commands'}: ${names.join(', ')}. See \`${path} --help\`.`
      : `Did you mean \`${path} ${nearest}\`? See \`${path} --help\`.`,
  );
}
