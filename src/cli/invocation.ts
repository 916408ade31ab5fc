import { usageFailure } from '../errors/failure.ts';
import { closest } from '../text/did-you-mean.ts';
import type { Branch, CommandNode, Leaf } from './command.ts';
import { isBranch, isShown } from './command.ts';
import { globalOptions } from './flags/global.ts';

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
      throw usageFailure(
        `there is no help on "${word}"`,
        `Did you mean \`foley help ${nearest}\`?`,
      );
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
