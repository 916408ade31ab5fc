import path from 'node:path';
import type { FileSystem } from '../system/file-system.ts';
import type { System } from '../system/system.ts';
import { readOwnText } from '../durable/own-files.ts';
import { display } from '../text/display.ts';
import type { KnownName } from './described-command.ts';

export interface RememberedName {
  readonly name: string;
  readonly about: string;
}

/** Names in a response, such as voice ids, which foley stores for shell completion. All are of the same kind. */
export interface SeenNames {
  readonly kind: KnownName;
  readonly names: readonly RememberedName[];
}

const MAX_NAMES = 500;

// Other names need quoting in a shell and are not completed.
const PLAIN_WORD = /^[\w.:@+][\w.:@+/-]{0,127}$/;

const ABOUT_COLUMNS = 60;

// All names with their descriptions, at four bytes a character.
const NAMES_BYTES = 512 * 1024;

/** Returns the stored names of one kind, newest first; no names if the file cannot be read. Sends no request. */
export async function recallNames(
  files: FileSystem,
  cache: string,
  kind: KnownName,
): Promise<RememberedName[]> {
  try {
    const lines = (await readOwnText(fileOf(cache, kind), NAMES_BYTES, files)).split('\n');
    return lines.flatMap((line) => {
      const [name = '', about = ''] = line.split('\t');
      return completableName(name, about);
    });
  } catch {
    return [];
  }
}

/** Stores names for shell completion. Ignores write errors, because the file is only a cache. */
export async function rememberNames(
  deps: System,
  cache: string,
  { kind, names }: SeenNames,
): Promise<void> {
  const seen = names.flatMap(({ about, name }) => completableName(name, about));
  if (seen.length === 0) return;
  const before = await recallNames(deps.files, cache, kind);
  const all = new Map([...before, ...seen].map((known) => [known.name, known]));
  const newest = [...new Set([...seen, ...before].map(({ name }) => name))].slice(0, MAX_NAMES);
  const lines = newest.map((name) => `${name}\t${all.get(name)?.about ?? ''}\n`);
  const { replaceFile } = await import('../durable/publish.ts');
  try {
    await deps.files.mkdir(path.dirname(fileOf(cache, kind)), { recursive: true });
    const data = Buffer.from(lines.join(''));
    await replaceFile(deps, { path: fileOf(cache, kind), data, mode: 0o600 });
  } catch {
    // The next command tries again.
  }
}

function fileOf(cache: string, kind: KnownName): string {
  return path.join(cache, 'names', `${kind}s.tsv`);
}

/**
 * Returns a list with this name and its description. Returns an empty list if a shell would need quotes around the
 * name.
 */
export function completableName(name: string, about: string): RememberedName[] {
  if (!PLAIN_WORD.test(name)) return [];
  return [{ name, about: display(about.replaceAll(/\s+/g, ' ').trim(), { max: ABOUT_COLUMNS }) }];
}
