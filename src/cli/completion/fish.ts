import type { DescribedFlag } from '../described-command.ts';
import type { ValueSource } from '../value-sources.ts';
import type { Grammar, OfferedWord, Place } from './grammar.ts';

/** The parts of the script for fish that come from the command tree. */
export function fishParts({ flagsWithValue, places }: Grammar): Record<string, string> {
  const paths = places.map(({ path }) => path).filter((path) => path !== '');
  return {
    'flags with value': flagsWithValue.join(' '),
    paths: paths.map(quoted).join(' '),
    completions: places.flatMap((place) => linesOf(place)).join('\n'),
  };
}

function linesOf(place: Place): string[] {
  const at = `complete -c foley -n ${quoted(`__foley_at ${quoted(place.path)}`)}`;
  return [
    ...place.commands.map((command) => `${at} ${commandWords(command)}`),
    ...place.flags.map((flag) => `${at} ${flagWords(flag)}`),
    ...place.arguments.slice(0, 1).flatMap((source) => {
      const words = sourceWords(source);
      return words === '' ? [] : [`${at} ${words}`];
    }),
  ];
}

function commandWords({ description, word }: OfferedWord): string {
  return `-a ${quoted(word)} -d ${quoted(description)}`;
}

function flagWords({ description, long, short, source, value }: DescribedFlag): string {
  const names = short === undefined ? '' : `-s ${short.slice(1)} `;
  const takes = value === undefined ? '' : ` ${valueWords(source)}`;
  return `${names}-l ${long.slice(2)}${takes} -d ${quoted(description)}`;
}

/** That a flag takes a value, and what to offer for it: files only where it is one. */
function valueWords(source: ValueSource): string {
  return source === 'files' ? '-r -F' : `-x ${sourceWords(source)}`.trimEnd();
}

/** What to offer of one source; empty where there is nothing. */
function sourceWords(source: ValueSource): string {
  if (source === 'files') return '-F';
  if (source === 'folders') return `-a '(__fish_complete_directories)'`;
  if (typeof source === 'string') return '';
  if ('known' in source) return `-a '(__foley_known ${source.known})'`;
  return `-a ${quoted(source.words.join(' '))}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
}
