import type { Option } from 'commander';
import { Command, CommanderError } from 'commander';
import { ENVIRONMENT } from '../contract/values.ts';
import type { Failure } from '../errors/failure.ts';
import { usageFailure } from '../errors/failure.ts';
import { closest } from '../text/did-you-mean.ts';
import { quoted } from '../text/display.ts';
import type { Branch, CommandDefinition, CommandInput, CommandNode, Leaf } from './command.ts';
import { isBranch, isShown, namesOf } from './command.ts';
import type { GlobalOptions } from './flags/global.ts';
import { globalOptions, helpOption } from './flags/global.ts';
import { unknownCommand, unknownFirstWord } from './unknown-command.ts';

const HELP_COLUMNS = 80;
const VERSION_OPTION = 'version';
const EXIT_CODES_HELP = 'Exit codes: see `foley help exit-codes`.';
const GLOBAL_FLAGS_HELP =
  '\nFlags of every command, such as --json and --quiet: see `foley help flags`.';

/** A parsed command line that only prints help or the version. */
export type Shown =
  | { readonly kind: 'help'; readonly text: string; readonly path: readonly string[] }
  | { readonly kind: 'version'; readonly json: boolean };

/** A parsed command line that runs a command. */
export interface Parsed extends CommandInput<object> {
  readonly kind: 'run';
  readonly globals: GlobalOptions;
}

/**
 * Parses the arguments of one command.
 * @throws Failure of kind `usage` for flags and arguments that the command does not accept
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
  const args = restoreDashText(command.args);
  const options = command.opts<{ readonly file?: string }>();
  return {
    kind: 'run',
    ...(namesStdin(command, words)
      ? { args: [], options: { ...options, file: '-' } }
      : { args, options }),
    globals: command.opts<GlobalOptions>(),
  };
}

function namesStdin(command: Command, words: readonly string[]): boolean {
  const { args, options } = command;
  const mayHaveFile =
    options.some((option) => option.attributeName() === 'file') &&
    command.getOptionValue('file') === undefined;
  return mayHaveFile && args.length === 1 && args[0] === '-' && !words.includes('--');
}

/** Creates a `commander` command with the flags of the definition and the global flags. */
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

/**
 * Parses a command line that names no command. Without arguments, returns the welcome text. With `--version`, returns
 * the version; otherwise the help.
 */
export function parseRoot(tree: readonly CommandNode[], words: readonly string[]): Shown {
  if (words.length === 0) return { kind: 'help', text: welcomeText(tree), path: [] };
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

/** Parses a command line that names a command group but no subcommand, such as `foley voices --help`. */
export function parseBranch(branch: Branch, words: readonly string[]): Shown {
  const command = listing(`foley ${branch.name}`, branch.children);
  return parseListing(command.description(`${branch.summary}.`), words);
}

function listing(name: string, nodes: readonly CommandNode[]): Command {
  const command = bareCommand(name).usage('<command> [flags]');
  for (const option of globalOptions()) command.addOption(option);
  for (const node of nodes.filter(isShown)) {
    const [, ...aliases] = namesOf(node);
    command.command(node.name).aliases(aliases).description(node.summary);
  }
  return command
    .configureHelp({ helpWidth: HELP_COLUMNS, visibleOptions: () => [] })
    .addHelpText('after', GLOBAL_FLAGS_HELP)
    .addHelpText('after', `See \`${name} <command> --help\` for the flags of a command.`);
}

function parseListing(command: Command, words: readonly string[]): Shown {
  command.action(() => {});
  return parse(command, words) ?? shownHelp(command);
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

function parse(command: Command, words: readonly string[], freeText = false): Shown | undefined {
  refuseRepeated(command);
  command.configureOutput({ writeErr: () => {}, writeOut: () => {} });
  try {
    command.parse(words, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === 'commander.helpDisplayed') return shownHelp(command);
    throw usageProblem(command, error, freeText);
  }
  const given = command.opts<GlobalOptions>();
  return VERSION_OPTION in given ? { kind: 'version', json: given.json === true } : undefined;
}

function shownHelp(command: Command): Shown {
  return { kind: 'help', text: helpOf(command), path: command.name().split(' ').slice(1) };
}

// commander would use the last value.
function refuseRepeated(command: Command): void {
  const single = command.options.filter((option) => option.required && !isRepeatable(option));
  for (const option of single) {
    const flag = option.long ?? option.flags;
    let first: string | undefined;
    command.on(`option:${option.name()}`, (value: string) => {
      if (first !== undefined) {
        // A URL may contain a password.
        const bothValues = `${first}${value}`.includes('://')
          ? ''
          : ` ("${first}", then "${value}")`;
        throw usageFailure(`${flag} is given more than once${bothValues}`, 'Give it one value.');
      }
      first = value;
    });
  }
}

/** Returns whether a flag may be repeated. The parser of such a flag has a second parameter for the earlier values. */
export function isRepeatable({ parseArg }: Option): boolean {
  return parseArg !== undefined && parseArg.length > 1;
}

/** Returns the help of a command as `--help` prints it: the examples precede the arguments and flags. */
export function helpOf(command: Command): string {
  const text = unorderedHelp(command);
  const examples = /^Examples:\n(?: .*\n)+\n/m.exec(text)?.[0] ?? '';
  const heading = /^(?:Arguments|Options):$/m.exec(text)?.[0];
  if (heading === undefined) return text;
  const rest = text.replace(examples, '');
  return rest.replace(heading, () => examples + heading);
}

/** Returns the help of a command in the order of the library `commander`, with the examples last. */
export function unorderedHelp(command: Command): string {
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
  if (error.code === 'commander.excessArguments') return excessArgument(command);
  const message = error.message.replace(/^error: /, '');
  const flag = /^unknown option '(.+?)(?:=.*)?'$/s.exec(message)?.[1];
  const known = command.options.flatMap(({ long, short }) => [long, short]).filter(isText);
  // All short flags are equally similar, so none is suggested.
  const isWord = flag?.startsWith('--') === true;
  const [nearest] = isWord ? closest(flag, known, 1) : [];
  const hints = [
    FLAGS_ELSEWHERE.get(flag ?? '') ??
      (nearest === undefined ? undefined : `Did you mean ${nearest}?`),
    flag !== undefined && freeText ? 'Text that begins with a dash goes after `--`.' : undefined,
    `See \`${command.name()} --help\`.`,
  ];
  // The value of an unknown flag may be a secret.
  const problem = flag === undefined ? message : `unknown option '${flag}'`;
  if (flag !== undefined && nearest === flag) {
    return usageFailure(`${flag} does not accept a value`, `See \`${command.name()} --help\`.`);
  }
  return usageFailure(problem, hints.filter(isText).join(' '));
}

function excessArgument(command: Command): Failure {
  const extra = command.args[command.registeredArguments.length] ?? '';
  const takesFile = command.options.some(({ long }) => long === '--file');
  const hints = [
    takesFile ? `For the text of a file, use -f ${quoted(extra)}.` : undefined,
    `See \`${command.name()} --help\`.`,
  ];
  return usageFailure(
    `too many arguments: "${extra}" is not expected`,
    hints.filter(isText).join(' '),
  );
}

// Flags that users expect on other commands too.
const FLAGS_ELSEWHERE: ReadonlyMap<string, string> = new Map([
  ['--pauses', '`foley tts`, `foley batch` and `foley text` have --pauses.'],
  ['--rate', 'Did you mean --speed?'],
  ['--columns', 'Commands that print a list have --columns.'],
  ['--jq', 'Commands that print a list, and `foley api`, have --jq. Others have --json.'],
]);

function isText(value: string | null | undefined): value is string {
  return typeof value === 'string';
}

const FIRST_COMMANDS = [
  ['foley tts "Hello from foley" -o hello.mp3', 'speak into a file'],
  ['foley tts "Hello from foley" --play', 'speak aloud'],
  ['foley voices list', 'see the voices'],
  ['foley doctor', 'check that everything works'],
] as const;

function welcomeText(tree: readonly CommandNode[]): string {
  const width = Math.max(...FIRST_COMMANDS.map(([line]) => line.length));
  return [
    'Usage: foley <command> [flags]',
    '',
    'Speech, voices and captions, with a complete offline service built in.',
    '',
    'Start with:',
    ...FIRST_COMMANDS.map(([line, what]) => `  ${line.padEnd(width)}   ${what}`),
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
    if (last === undefined || longer.length > HELP_COLUMNS - 4) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines;
}

// No process argument can contain this character.
const MARK = '\0';

/**
 * Marks arguments that begin with a dash and contain white space, such as "- and then it rained". The parser then
 * treats them as text instead of flags.
 */
export function guardDashText(
  words: readonly string[],
  options: readonly Option[],
): readonly string[] {
  const takesValue = flagsWithValue(options);
  const longs = new Set(options.map(({ long }) => long));
  const end = words.indexOf('--');
  return words.map((word, index) => {
    const isValue = index > 0 && takesValue.has(words[index - 1]);
    const isAfterFlags = end !== -1 && index > end;
    return !isValue && !isAfterFlags && isDashText(word, longs) ? MARK + word : word;
  });
}

function flagsWithValue(options: readonly Option[]): ReadonlySet<string | null | undefined> {
  return new Set(options.flatMap(({ required, long, short }) => (required ? [long, short] : [])));
}

function isDashText(word: string, longs: ReadonlySet<string | null | undefined>): boolean {
  if (!word.startsWith('-') || !/\s/.test(word)) return false;
  return !(word.includes('=') && longs.has(word.split('=', 1)[0]));
}

/** Removes the marks that `guardDashText` added to arguments. */
export function restoreDashText(words: readonly string[]): readonly string[] {
  return words.map((word) => (word.startsWith(MARK) ? word.slice(MARK.length) : word));
}

/** The command or command group that a command line selects, with the other arguments. */
export type Invocation =
  | { readonly kind: 'root'; readonly words: readonly string[] }
  | { readonly kind: 'branch'; readonly branch: Branch; readonly words: readonly string[] }
  | {
      readonly kind: 'leaf';
      readonly leaf: Leaf;
      /** The names of the command groups and the command, such as `['voices', 'list']`. */
      readonly path: readonly string[];
      /** All arguments except the words of the command path. */
      readonly words: readonly string[];
    };

/**
 * Finds the command that the arguments select. Only global flags may precede the command.
 * @throws Failure of kind `usage` for an unknown command
 */
export function findInvocation(argv: readonly string[], tree: readonly CommandNode[]): Invocation {
  const first = nextWord(argv);
  const words = first.before;
  if (first.word === undefined) return { kind: 'root', words };
  if (first.word === 'help') return findHelp(words, first.after, tree);
  const node = tree.find(({ name }) => name === first.word);
  if (node === undefined) {
    const flag = words.find(isOwnFlag);
    if (flag !== undefined) throw flagBeforeCommand(flag);
    throw unknownFirstWord(first.word, first.after, tree);
  }
  if (!isBranch(node)) {
    return { kind: 'leaf', leaf: node, path: [node.name], words: [...words, ...first.after] };
  }
  return findVerb(node, words, first.after);
}

function findVerb(branch: Branch, before: readonly string[], rest: readonly string[]): Invocation {
  const second = nextWord(rest);
  const words = [...before, ...second.before];
  const all = [...before, ...rest];
  if (branch.itself !== undefined && !isVerb(branch, second)) {
    const leaf = { name: branch.name, summary: branch.summary, load: branch.itself };
    return { kind: 'leaf', leaf, path: [branch.name], words: all };
  }
  const fallback = branch.children.find(({ name }) => name === branch.fallback);
  if (second.word === undefined) {
    const isHelp = words.includes('-h') || words.includes('--help');
    if (fallback === undefined || isHelp) return { kind: 'branch', branch, words };
    return { kind: 'leaf', leaf: fallback, path: [branch.name, fallback.name], words };
  }
  const { after, word } = second;
  const leaf = branch.children.find((child) => namesOf(child).includes(word));
  if (leaf === undefined && fallback !== undefined && second.before.some(isOwnFlag)) {
    // The word is probably the value of that flag: `foley voices --page 2`.
    return {
      kind: 'leaf',
      leaf: fallback,
      path: [branch.name, fallback.name],
      words: all,
    };
  }
  if (leaf === undefined) throw unknownCommand(word, branch.children, branch.name);
  return { kind: 'leaf', leaf, path: [branch.name, leaf.name], words: [...words, ...after] };
}

function isVerb(branch: Branch, { before, word }: ReturnType<typeof nextWord>): boolean {
  return !before.some(isOwnFlag) && branch.children.some(({ name }) => name === word);
}

function isOwnFlag(word: string): boolean {
  const known = globalOptions().flatMap(({ long, short }) => [long, short]);
  return word.startsWith('-') && !known.includes(word.split('=', 1)[0]);
}

function flagBeforeCommand(flag: string): Failure {
  const name = flag.split('=', 1).join('');
  return usageFailure(
    `${name} is given before the command`,
    `The command comes first, as in \`foley tts "Hello" -o hello.mp3\`. See \`foley --help\`.`,
  );
}

function findHelp(
  before: readonly string[],
  words: readonly string[],
  tree: readonly CommandNode[],
): Invocation {
  const { word } = nextWord(words);
  const topics = tree.filter((node) => isBranch(node)).find(({ name }) => name === 'help');
  const names = topics?.children.map(({ name }) => name) ?? [];
  const topic = ['man', 'schema'].find((name) => words.includes(`--${name}`));
  if (topics !== undefined && topic !== undefined) {
    const others = words.filter((given) => given !== `--${topic}`);
    return findVerb(topics, before, [topic, ...others]);
  }
  if (topics !== undefined && word !== undefined) {
    if (names.includes(word)) return findVerb(topics, before, words);
    if (!tree.some(({ name }) => name === word)) {
      const [nearest] = closest(word, names, 1);
      if (nearest === undefined) throw unknownCommand(word, tree);
      throw usageFailure(`unknown help topic "${word}"`, `Did you mean \`foley help ${nearest}\`?`);
    }
  }
  return findInvocation([...words.filter((given) => given !== '--help'), '--help'], tree);
}

function nextWord(argv: readonly string[]): {
  before: readonly string[];
  word: string | undefined;
  after: readonly string[];
} {
  const takesValue = flagsWithValue(globalOptions());
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index] ?? '';
    if (takesValue.has(word)) index += 1;
    else if (!word.startsWith('-') || word === '-') {
      return { before: argv.slice(0, index), word, after: argv.slice(index + 1) };
    }
  }
  return { before: argv, word: undefined, after: [] };
}
