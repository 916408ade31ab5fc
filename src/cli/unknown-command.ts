import { automaticName } from '../durable/names.ts';
import type { Failure } from '../errors/failure.ts';
import { usageFailure } from '../errors/failure.ts';
import { closest } from '../text/did-you-mean.ts';
import { quoted } from '../text/display.ts';
import { documentFormat } from '../text/formats/text-formats.ts';
import type { CommandNode } from './command.ts';
import { isBranch, isShown, namesOf } from './command.ts';

/** Names that other programs, and people, give to a command of foley. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['say', 'tts'],
  ['speak', 'tts'],
  ['read', 'tts'],
  ['synthesize', 'tts'],
  ['text-to-speech', 'tts'],
  ['install', 'engine add'],
  ['version', '--version'],
]);

/**
 * Creates the failure for a first word that is no command. The hint is the line to type instead: with the command that
 * was probably meant, or with `foley tts` for a text in the place of a command.
 */
export function unknownFirstWord(
  word: string,
  after: readonly string[],
  tree: readonly CommandNode[],
): Failure {
  const problem = `unknown command "${word}"`;
  const didYouMean = (lines: readonly string[]): Failure => {
    const shown = lines.map((line) => `\`${line}\``).join(' or ');
    return usageFailure(problem, `Did you mean ${shown}? See \`foley --help\`.`);
  };
  const names = tree.filter(isShown).map(({ name }) => name);
  const known = [...names, ...OTHER_NAMES.keys()];
  const lower = word.toLowerCase();
  if (known.includes(lower)) return didYouMean([commandLine(lower, after)]);
  const verbs = commandsWithVerb(lower, tree);
  if (verbs.length > 0) return didYouMean(verbs.slice(0, MOST_SUGGESTIONS));
  // A word with a capital, such as "Hello", is the beginning of a text.
  const isName = /^[a-z-]+$/.test(word);
  const [nearest] = isName ? closest(word, known, 1) : [];
  if (nearest !== undefined) return didYouMean([commandLine(nearest, after)]);
  const isFile = /^\S+\.[a-z0-9]+$/i.test(word) && !isTextFile(word);
  const speech = isFile ? '' : `To speak this text, use \`${speechLine([word, ...after])}\`. `;
  const help = isName
    ? `Commands: ${names.join(', ')}. See \`foley --help\`.`
    : 'See `foley --help` for the commands.';
  return usageFailure(problem, speech + help);
}

const MOST_SUGGESTIONS = 3;

/** Creates the failure for a word that is no subcommand of `parent`, or that is no command where no text is expected. */
export function unknownCommand(
  word: string,
  nodes: readonly CommandNode[],
  parent?: string,
): Failure {
  const path = parent === undefined ? 'foley' : `foley ${parent}`;
  const names = nodes.filter(isShown).flatMap(namesOf);
  const [nearest] = closest(word, names, 1);
  const hint =
    nearest === undefined
      ? `Commands: ${names.join(', ')}.`
      : `Did you mean \`${path} ${nearest}\`?`;
  const given = parent === undefined ? word : `${parent} ${word}`;
  return usageFailure(`unknown command "${given}"`, `${hint} See \`${path} --help\`.`);
}

function commandLine(name: string, after: readonly string[]): string {
  const command = OTHER_NAMES.get(name) ?? name;
  if (command === 'tts') return speechLine(after);
  // A URL may contain a password, and the value of a field a secret.
  const shown = after.some((word) => /:\/\/|=/.test(word)) ? [] : after;
  return ['foley', command, ...shown.map((word) => quoted(word))].join(' ');
}

/** Returns the line that speaks the words before the first flag: the text, or the file with this name. */
function speechLine(words: readonly string[]): string {
  const firstFlag = words.findIndex((word) => word.startsWith('-'));
  const flags = firstFlag === -1 ? [] : words.slice(firstFlag).map((word) => quoted(word));
  const text = words.slice(0, words.length - flags.length).join(' ');
  if (text === '' && flags.length > 0) return ['foley tts', ...flags].join(' ');
  const isFile = /^\S+$/.test(text) && isTextFile(text);
  const source = isFile ? `-f ${quoted(text)}` : quotedText(text === '' ? EXAMPLE : text);
  const name = isFile ? text.replace(/^.*[/\\]|\.\w+$/g, '') : text || EXAMPLE;
  const output = flags.length > 0 ? flags : ['-o', automaticName(name, 'mp3')];
  return ['foley tts', source, ...output].join(' ');
}

const EXAMPLE = 'Hello';

function isTextFile(name: string): boolean {
  return /\.te?xt$/i.test(name) || documentFormat('auto', name) !== undefined;
}

/** Quotes a text for every shell if possible: the shells of Windows do not know single quotation marks. */
function quotedText(text: string): string {
  return /["$`\\!]/.test(text) ? quoted(text) : `"${text}"`;
}

/** Returns the command lines with a subcommand of this name. */
function commandsWithVerb(word: string, tree: readonly CommandNode[]): readonly string[] {
  return tree
    .filter((node) => isBranch(node))
    .filter(({ children }) => children.some((child) => namesOf(child).includes(word)))
    .map(({ name }) => `foley ${name} ${word}`);
}
