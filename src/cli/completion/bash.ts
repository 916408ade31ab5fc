import type { ValueSource } from '../value-sources.ts';
import type { Grammar, Place } from './grammar.ts';

/** The parts of the script for bash that come from the command tree. */
export function bashParts({ flagsWithValue, places }: Grammar): Record<string, string> {
  const words = places.map((place) => `    '${place.path}') echo '${wordsAt(place).join(' ')}' ;;`);
  return {
    words: words.join('\n'),
    'flag sources': places.flatMap(flagSources).join('\n'),
    'argument sources': places.flatMap(argumentSources).join('\n'),
    'flags with value': `    ${flagsWithValue.join(' | ')}) return 0 ;;`,
  };
}

function wordsAt({ commands, flags }: Place): string[] {
  return [
    ...commands.map(({ word }) => word),
    ...flags.flatMap(({ long, short }) => (short === undefined ? [long] : [long, short])),
  ];
}

function flagSources({ flags, path }: Place): string[] {
  return flags.flatMap(({ long, short, source }) => {
    const text = sourceText(source);
    const names = short === undefined ? [long] : [long, short];
    return text === undefined
      ? []
      : [`    ${names.map((name) => `'${path}:${name}'`).join(' | ')}) echo '${text}' ;;`];
  });
}

function argumentSources({ arguments: [first], path }: Place): string[] {
  const text = first === undefined ? undefined : sourceText(first);
  return text === undefined ? [] : [`    '${path}') echo '${text}' ;;`];
}

/** `words a b`, `known voice`, `files` or `folders`; undefined where nothing can be offered. */
function sourceText(source: ValueSource): string | undefined {
  if (source === 'files' || source === 'folders') return source;
  if (typeof source === 'string') return undefined;
  return 'known' in source ? `known ${source.known}` : `words ${source.words.join(' ')}`;
}
