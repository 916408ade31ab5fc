/** A JSON Schema. */
export interface Schema {
  readonly [keyword: string]: unknown;
}

/** The schemas of all commands, as the build ships them. */
export interface OutputSchemas {
  readonly commands: Readonly<
    Record<string, { readonly output?: Schema; readonly event?: Schema } | undefined>
  >;
  readonly $defs: Readonly<Record<string, Schema>>;
}

/** Reads the schemas of what commands print with `--json`. */
export async function readOutputSchemas(): Promise<OutputSchemas> {
  const { readFile } = await import('node:fs/promises');
  return JSON.parse(await readFile(new URL('../../dist/schemas.json', import.meta.url), 'utf8'));
}

/**
 * Returns the JSON Schema of every document that a command prints with `--json`: its output, its events and its error.
 * Their definitions are `Output`, `Event` and `ErrorDocument`.
 * @param name the command, such as `voices list`
 * @returns undefined for a name that is no command
 */
export function commandSchema(
  { $defs, commands }: OutputSchemas,
  name: string,
): Schema | undefined {
  const command = commands[name];
  if (command === undefined) return undefined;
  const own = {
    ...(command.output === undefined ? {} : { Output: command.output }),
    ...(command.event === undefined ? {} : { Event: command.event }),
  };
  const roots = [...Object.keys(own), 'ErrorDocument'];
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: `foley ${name} --json`,
    description:
      'What the command prints with --json: Output is the document on stdout, an Event is one line, and ErrorDocument is the last line on stderr of a command that fails.',
    anyOf: roots.map((root) => ({ $ref: PREFIX + root })),
    $defs: { ...own, ...usedDefinitions([own, ERROR], $defs) },
  };
}

const PREFIX = '#/$defs/';
const ERROR = { $ref: `${PREFIX}ErrorDocument` };

/** Returns the definitions that the parts of a schema refer to. */
export function usedDefinitions(
  parts: readonly Schema[],
  $defs: OutputSchemas['$defs'],
): OutputSchemas['$defs'] {
  const used = new Map<string, Schema>();
  collect(parts, $defs, used);
  return Object.fromEntries(used);
}

/** Returns the object types that a schema allows, without references. */
export function objectTypes(
  schema: Schema,
  $defs: OutputSchemas['$defs'],
): readonly ObjectSchema[] {
  const { $ref, anyOf } = schema;
  if (typeof $ref === 'string') {
    const definition = $defs[$ref.slice(PREFIX.length)];
    return definition === undefined ? [] : objectTypes(definition, $defs);
  }
  if (Array.isArray(anyOf)) return anyOf.flatMap((one: Schema) => objectTypes(one, $defs));
  return schema['type'] === 'object' ? [schema] : [];
}

/** The schema of an object. */
export interface ObjectSchema extends Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

// Adds the definitions that a part of a schema refers to.
function collect(part: unknown, $defs: OutputSchemas['$defs'], used: Map<string, Schema>): void {
  if (typeof part !== 'object' || part === null) return;
  for (const [key, value] of Object.entries(part)) {
    if (key !== '$ref' || typeof value !== 'string') collect(value, $defs, used);
    else {
      // A reference may continue into the definition.
      const [name = ''] = value.slice(PREFIX.length).split('/');
      const definition = $defs[name];
      if (definition === undefined || used.has(name)) continue;
      used.set(name, definition);
      collect(definition, $defs, used);
    }
  }
}
