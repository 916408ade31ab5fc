/** Kinds of names that foley remembers, so that a shell can complete them. */
export const KNOWN_NAMES = [
  'voice',
  'voice-name',
  'model',
  'job',
  'account',
  'setting',
  'engine',
] as const;

export type KnownName = (typeof KNOWN_NAMES)[number];

/** Where the words for a value come from: a list, the disk, what foley knows, or nowhere. */
export type ValueSource =
  | 'anything'
  | 'files'
  | 'folders'
  | 'nothing'
  | { readonly known: KnownName }
  | { readonly words: readonly string[]; readonly about?: readonly string[] };

/** Flags whose value is a name that foley may know. */
const KNOWN_BY_FLAG: Readonly<Record<string, KnownName>> = {
  '--account': 'account',
  '--model': 'model',
  '--voice': 'voice',
  '--voice-name': 'voice-name',
};

/** Arguments that are such names, by the command they belong to. */
const KNOWN_BY_COMMAND: Readonly<Record<string, KnownName>> = {
  'config get': 'setting',
  'config set': 'setting',
  'config unset': 'setting',
  'engine remove': 'engine',
  'jobs download': 'job',
  'jobs get': 'job',
  'jobs wait': 'job',
  'models get': 'model',
  'voices delete': 'voice',
  'voices get': 'voice',
  'voices preview': 'voice',
};

const ON_DISK: Readonly<Record<string, 'files' | 'folders'>> = {
  dir: 'folders',
  file: 'files',
  folder: 'folders',
  path: 'files',
};

/** Where the value of a flag comes from; `value` is the name that its help gives it. */
export function flagSource(
  long: string,
  value: string,
  words: readonly string[] | undefined,
): ValueSource {
  if (words !== undefined) return { words };
  const known = KNOWN_BY_FLAG[long];
  return known === undefined ? (ON_DISK[value] ?? 'anything') : { known };
}

/** Where an argument comes from. Only the first one of a command is ever a known name. */
export function argumentSource(path: readonly string[], name: string): ValueSource {
  const known = name === 'value' ? undefined : KNOWN_BY_COMMAND[path.join(' ')];
  return known === undefined ? (ON_DISK[name] ?? 'anything') : { known };
}
