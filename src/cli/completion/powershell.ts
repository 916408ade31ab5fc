import type { ValueSource } from '../value-sources.ts';
import type { Grammar, Place } from './grammar.ts';

/** The parts of the script for PowerShell that come from the command tree. */
export function powershellParts({ flagsWithValue, places }: Grammar): Record<string, string> {
  return {
    places: places.map((place) => placeEntry(place)).join('\n'),
    'flags with value': flagsWithValue.map((flag) => `    ${quoted(flag)}`).join('\n'),
  };
}

function placeEntry({ arguments: [argument], commands, flags, path }: Place): string {
  const pairs = (words: readonly (readonly [string, string])[]): string =>
    words.map(([word, about]) => `            , @(${quoted(word)}, ${quoted(about)})\n`).join('');
  const named = flags.flatMap(({ description, long, short, source }) =>
    [long, ...(short === undefined ? [] : [short])].map((name) => ({ description, name, source })),
  );
  const values = named.flatMap(({ name, source }) => {
    const text = sourceText(source);
    return text === undefined ? [] : [`            ${quoted(name)} = ${text}\n`];
  });
  return `    ${quoted(path)} = @{
        Commands = @(
${pairs(commands.map(({ description, word }) => [word, description]))}        )
        Flags = @(
${pairs(named.map(({ description, name }) => [name, description]))}        )
        Values = @{
${values.join('')}        }
        Argument = ${(argument === undefined ? undefined : sourceText(argument)) ?? '$null'}
    }`;
}

/** Files and folders are what PowerShell offers by itself where nothing else is. */
function sourceText(source: ValueSource): string | undefined {
  if (typeof source === 'string') return undefined;
  if ('known' in source) return `@{ Known = ${quoted(source.known)} }`;
  return `@{ Words = @(${source.words.map(quoted).join(', ')}) }`;
}

function quoted(text: string): string {
  // Typographic quotes end a string in PowerShell too.
  return `'${text.replaceAll(/['‘’‚‛]/g, '$&$&')}'`;
}
