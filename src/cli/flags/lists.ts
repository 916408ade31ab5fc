import { Option } from 'commander';
import { usageFailure } from '../../errors/failure.ts';
import { nearestHint } from '../../text/did-you-mean.ts';
import { filled } from './values.ts';

/** The flags of commands that print a list. */
export interface ListFlags {
  /** Names of the columns to print, in this order. */
  readonly columns?: readonly string[] | undefined;
  readonly jq?: string;
}

interface Titled {
  readonly title: string;
}

/** Creates the flag `--jq`. */
export function jqOption(): Option {
  return new Option('--jq <expression>', 'filter the JSON document with a jq expression')
    .argParser(filled('--jq'))
    .implies({ json: true });
}

/**
 * Creates the flags `--columns` and `--jq`.
 * @param columns all columns that the list can have
 */
export function listOptions(columns: readonly Titled[]): readonly Option[] {
  const words = columns.map((column) => columnName(column));
  const parse = (given: string): readonly string[] =>
    given.split(',').map((name) => checkedName(nameFrom(name), words));
  const chosen = new Option('--columns <names>', `columns and their order: ${words.join(', ')}`);
  return [chosen.argParser(Object.assign(parse, { words })).conflicts(['jq', 'json']), jqOption()];
}

/** Returns the name of a column for `--columns`: its title in lower case with hyphens, such as `longest-text`. */
export function columnName({ title }: Titled): string {
  return nameFrom(title);
}

/**
 * Returns the columns with the given names, in the order of the names.
 * @throws Failure of kind `usage` for a name that no column has
 */
export function namedColumns<Column extends Titled>(
  names: readonly string[],
  columns: readonly Column[],
): readonly Column[] {
  const words = columns.map((column) => columnName(column));
  return names.flatMap((name) => columns[words.indexOf(checkedName(name, words))] ?? []);
}

function nameFrom(given: string): string {
  return given.trim().toLowerCase().replaceAll(' ', '-');
}

function checkedName(name: string, words: readonly string[]): string {
  if (words.includes(name)) return name;
  throw usageFailure(
    `--columns has "${name}"; it takes ${words.join(', ')}`,
    nearestHint(name, words),
  );
}
