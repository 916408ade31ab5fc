import { readFileSync } from 'node:fs';
import path from 'node:path';
import { findHome, resolvePaths } from '../../config/paths.ts';
import type {
  DescribedFlag,
  KnownName,
  ValueSource,
  Grammar,
  OfferedWord,
} from '../described-command.ts';

type Host = Pick<NodeJS.Process, 'env' | 'platform'>;

/**
 * Returns the output of `foley __complete WORD... CURRENT`, which the completion scripts run. Each candidate is one
 * line: the word, a tab and a description. If the output is `files` or `folders`, the shell completes paths. Sends no
 * request and never fails.
 */
export async function complete(words: readonly string[], host: Host): Promise<string> {
  try {
    const file = path.join(import.meta.dirname, 'completion.json');
    const grammar: Grammar = JSON.parse(readFileSync(file, 'utf8'));
    return await candidates(grammar, words, (kind) => namesOf(kind, host));
  } catch {
    return '';
  }
}

async function candidates(
  grammar: Grammar,
  words: readonly string[],
  recall: (kind: KnownName) => Promise<readonly OfferedWord[]>,
): Promise<string> {
  // PowerShell drops empty words, and sends a space instead.
  const current = (words.at(-1) ?? '').trim();
  const line = parseWords(grammar, words.slice(0, -1));
  const [, assigned, begun = ''] = /^(--[^=]+)=(.*)$/s.exec(line.isAfterFlags ? '' : current) ?? [];
  const flag = assigned === undefined ? line.pending : flagNamed(grammar, line.place, assigned);
  const valueOf = async (source: ValueSource, prefix: string, before = ''): Promise<string> => {
    if (source === 'files' || source === 'folders') return `${source}\n`;
    if (typeof source === 'string') return '';
    if ('known' in source) return candidateLines(await recall(source.known), prefix, before);
    const last = source.isList === true ? prefix.lastIndexOf(',') + 1 : 0;
    return candidateLines(wordsOf(source), prefix.slice(last), before + prefix.slice(0, last));
  };
  if (assigned !== undefined) return valueOf(flag?.source ?? 'nothing', begun, `${assigned}=`);
  if (flag !== undefined) return valueOf(flag.source, current);
  const place = grammar.places[line.place];
  if (current.startsWith('-') && !line.isAfterFlags) {
    return candidateLines(flagWords(flagsAt(grammar, line.place), line.given), current);
  }
  const sources = place?.arguments ?? [];
  const source = sources[Math.min(line.operands, sources.length - 1)] ?? 'nothing';
  const isFirst = line.operands === 0 && !line.isAfterFlags;
  return `${isFirst ? candidateLines(place?.commands ?? [], current) : ''}${await valueOf(source, current)}`;
}

function candidateLines(found: readonly OfferedWord[], prefix: string, before = ''): string {
  return found
    .filter(([word]) => word.startsWith(prefix))
    .map(([word, about]) => `${before}${word}\t${about.replaceAll(/\s+/g, ' ')}\n`)
    .join('');
}

interface Line {
  /** The command whose arguments are being completed, such as `jobs wait`. */
  readonly place: string;
  /** Number of the command's arguments before the current word. */
  readonly operands: number;
  /** The flag whose value is being completed, if any. */
  readonly pending: DescribedFlag | undefined;
  readonly given: ReadonlySet<string>;
  /** Whether `--` precedes the current word. */
  readonly isAfterFlags: boolean;
}

function parseWords(grammar: Grammar, words: readonly string[]): Line {
  const given = new Set<string>();
  let place = '';
  let operands = 0;
  let pending: DescribedFlag | undefined;
  let isAfterFlags = false;
  for (const word of words) {
    const next = place === '' ? word : `${place} ${word}`;
    if (pending !== undefined) pending = undefined;
    else if (isAfterFlags) operands += 1;
    else if (word === '--') isAfterFlags = true;
    else if (word.startsWith('-') && word !== '-') {
      const flag = flagNamed(grammar, place, word);
      given.add(flag?.long ?? word.replace(/=.*$/s, ''));
      pending = flag?.value === undefined ? undefined : flag;
    } else if (operands === 0 && Object.hasOwn(grammar.places, next)) place = next;
    else operands += 1;
  }
  return { place, operands, pending, given, isAfterFlags };
}

function flagsAt({ globalFlags, places }: Grammar, place: string): readonly DescribedFlag[] {
  return [...(places[place]?.flags ?? []), ...globalFlags];
}

function flagNamed(grammar: Grammar, place: string, name: string): DescribedFlag | undefined {
  const isIt = ({ long, short }: DescribedFlag): boolean => long === name || short === name;
  return (
    flagsAt(grammar, place).find(isIt) ??
    Object.values(grammar.places)
      .flatMap(({ flags }) => flags)
      .find(isIt)
  );
}

function flagWords(flags: readonly DescribedFlag[], given: ReadonlySet<string>): OfferedWord[] {
  return flags
    .filter(({ description, long }) => !given.has(long) || /may be repeated/.test(description))
    .flatMap(({ description, long, short }) =>
      [long, ...(short === undefined ? [] : [short])].map((name): OfferedWord => [
        name,
        description,
      ]),
    );
}

function wordsOf({ about, words }: Extract<ValueSource, { words: unknown }>): OfferedWord[] {
  return words.map((word, index) => [word, about?.[index] ?? '']);
}

async function namesOf(kind: KnownName, { env, platform }: Host): Promise<readonly OfferedWord[]> {
  const paths = resolvePaths({ env, platform, homeDirectory: findHome() });
  const { systemFiles } = await import('../../system/file-system.ts');
  if (kind === 'account') {
    const { readAccounts } = await import('../../config/accounts.ts');
    const { all } = await readAccounts(systemFiles, paths.accountsFile);
    return [...all].map(([name, { baseUrl }]) => [name, baseUrl]);
  }
  if (kind === 'engine') {
    const { loadEngineRegistrations, registrationsFile } =
      await import('../../engines/registrations.ts');
    const added = await loadEngineRegistrations(systemFiles, registrationsFile(paths.engines));
    return added.map(({ name, version }) => [name, version]);
  }
  const { completableName, recallNames } = await import('../known-names.ts');
  const isByName = kind === 'voice-name';
  const known = await recallNames(systemFiles, paths.cache, isByName ? 'voice' : kind);
  const shown = isByName ? known.flatMap(({ about, name }) => completableName(about, name)) : known;
  return shown.map(({ about, name }) => [name, about]);
}
