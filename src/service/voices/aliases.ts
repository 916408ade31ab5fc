import type { Alias, AccountKey } from '../running-service.ts';
import type { Catalogue } from './catalogue.ts';

interface AliasDeps {
  readonly aliases?: readonly Alias[];
  readonly keys: readonly AccountKey[];
}

/**
 * Creates the table of aliases, which the endpoints for OpenAI clients accept. The id may be that of a speech model, of a
 * voice, or of a custom voice, which only its own account can then use.
 * @throws AliasError if a name is listed twice or is an id, or if an id is unknown
 */
export function createAliases({ aliases = [], keys }: AliasDeps, catalogue: Catalogue) {
  const accounts = new Set(keys.map(({ account }) => account));
  const hasVoice = (id: string): boolean =>
    [...accounts].some((account) => catalogue.of(account).voice(id) !== undefined);
  const isModel = (id: string): boolean => catalogue.model(id) !== undefined;
  const known = new Map<string, string>();
  const isKnown = (id: string): boolean => isModel(id) || hasVoice(id);
  const problemOf = ({ id, name }: Alias): string | undefined => {
    if (known.has(name)) return 'the name has two aliases';
    if (isKnown(name)) return `${name} is the id of a model or voice`;
    return isKnown(id) ? undefined : `no speech model or voice has the id ${id}`;
  };
  for (const { id, name } of aliases) {
    const problem = problemOf({ id, name });
    if (problem !== undefined) throw new AliasError({ id, name }, problem, idsOf(catalogue));
    known.set(name, id);
  }
  return {
    /** Returns the id of an alias; any other name unchanged. */
    idOf: (name: string): string => known.get(name) ?? name,
    models: aliases.filter(({ id }) => isModel(id)),
    voices: aliases.filter(({ id }) => !isModel(id)),
  };
}

function idsOf({ models, voices }: Catalogue): readonly string[] {
  return [...models, ...voices].map(({ id }) => id);
}

/** Thrown for an alias that cannot be used. */
export class AliasError extends Error {
  override readonly name = 'AliasError';
  readonly id: string;
  /** The ids of all models and public voices. */
  readonly known: readonly string[];

  constructor({ id, name }: Alias, problem: string, known: readonly string[]) {
    super(`the alias ${name}=${id} cannot be used: ${problem}`);
    this.id = id;
    this.known = known;
  }
}
