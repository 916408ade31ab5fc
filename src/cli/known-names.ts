import path from 'node:path';
import type { FileSystem } from '../effects/file-system.ts';
import type { FileDeps } from '../durable/files.ts';
import { readOwnText } from '../durable/own-files.ts';
import { display } from '../text/display.ts';
import type { KnownName } from './described-command.ts';

/** A name that a service told, and what a person knows it by. */
export interface RememberedName {
  readonly name: string;
  readonly about: string;
}

/** Names of one kind that a result of a service had. */
export interface SeenNames {
  readonly kind: KnownName;
  readonly names: readonly RememberedName[];
}

/** How many names of a kind are kept: the newest. */
const NAMES_KEPT = 500;

/** What a shell can take as one plain word; any other name is not offered. */
const PLAIN_WORD = /^[\w.:@+][\w.:@+/-]{0,127}$/;

const ABOUT_COLUMNS = 60;

/** Room for every name with its text, each character written with four bytes. */
const NAMES_BYTES = 512 * 1024;

/**
 * The names of one kind that were seen last, newest first; none when there is no list, or when it
 * cannot be read. No service is asked.
 */
export async function recallNames(
  files: FileSystem,
  cache: string,
  kind: KnownName,
): Promise<RememberedName[]> {
  try {
    const lines = (await readOwnText(fileOf(cache, kind), NAMES_BYTES, files)).split('\n');
    return lines.flatMap((line) => {
      const [name = '', about = ''] = line.split('\t');
      return offerable(name, about);
    });
  } catch {
    return [];
  }
}

/** Keeps names for the completion of shells. A cache: where it cannot be written, nothing is lost. */
export async function rememberNames(
  deps: FileDeps,
  cache: string,
  { kind, names }: SeenNames,
): Promise<void> {
  const seen = names.flatMap(({ about, name }) => offerable(name, about));
  if (seen.length === 0) return;
  const before = await recallNames(deps.files, cache, kind);
  const all = new Map([...before, ...seen].map((known) => [known.name, known]));
  const newest = [...new Set([...seen, ...before].map(({ name }) => name))].slice(0, NAMES_KEPT);
  const lines = newest.map((name) => `${name}\t${all.get(name)?.about ?? ''}\n`);
  const { replaceFile } = await import('../durable/publish.ts');
  try {
    await deps.files.mkdir(path.dirname(fileOf(cache, kind)), { recursive: true });
    const data = Buffer.from(lines.join(''));
    await replaceFile({ ...deps, path: fileOf(cache, kind), data, mode: 0o600 });
  } catch {
    // The next list is another chance.
  }
}

function fileOf(cache: string, kind: KnownName): string {
  return path.join(cache, 'names', `${kind}s.tsv`);
}

/** A name with what is known of it, if a shell can take it as one plain word; else nothing. */
export function offerable(name: string, about: string): RememberedName[] {
  if (!PLAIN_WORD.test(name)) return [];
  return [{ name, about: display(about.replaceAll(/\s+/g, ' ').trim(), { max: ABOUT_COLUMNS }) }];
}
