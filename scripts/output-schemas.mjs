// The JSON Schemas of what commands print with --json, from the types of commands/outputs.ts.
import { createRequire } from 'node:module';
import path from 'node:path';
import {
  createFormatter,
  createParser,
  DEFAULT_CONFIG,
  SchemaGenerator,
} from 'ts-json-schema-generator';
import { loadTypeScript } from './load-typescript.mjs';
import { root } from './set-up.mjs';

// The generator needs the compiler of TypeScript 5, which it brings with it.
const require = createRequire(import.meta.resolve('ts-json-schema-generator'));
const typescript = require('typescript');

/** Writes the schemas of all commands, one line for each command and each definition. */
export async function outputSchemas() {
  const { DEFINITIONS } = await loadTypeScript('src/contract/endpoints.ts');
  const generator = schemaGenerator(path.join(root, 'commands/outputs.ts'));
  const outputs = generator.createSchema('Outputs');
  const { $schema: _, definitions: used, ...error } = generator.createSchema('ErrorDocument');
  const context = {
    definitions: { ...outputs.definitions, ...used, ErrorDocument: error },
    responses: new Map(DEFINITIONS.map(({ id, success }) => [id, success])),
  };
  const commands = Object.entries(outputs.properties).map(([name, schema]) => [
    name,
    split(expanded(schema, context), context),
  ]);
  const definitions = Object.entries(context.definitions)
    .filter(([name]) => !isGeneric(name))
    .map(([name, schema]) => [name, converted(schema, context)]);
  return `{"commands":{\n${lines(commands)}\n},"$defs":{\n${lines(definitions)}\n}}\n`;
}

const lines = (entries) =>
  entries.map((entry) => entry.map((part) => JSON.stringify(part)).join(':')).join(',\n');

/** Reads only the files of foley: no output has a type of a package. */
function schemaGenerator(file) {
  const options = {
    strict: true,
    exactOptionalPropertyTypes: true,
    lib: ['lib.es5.d.ts'],
    types: [],
    module: typescript.ModuleKind.Preserve,
    moduleResolution: typescript.ModuleResolutionKind.Bundler,
  };
  const host = typescript.createCompilerHost(options);
  host.resolveModuleNameLiterals = (names, importer) =>
    names.map(({ text }) => ({ resolvedModule: moduleAt(text, importer) }));
  const program = typescript.createProgram([file], options, host);
  const config = {
    ...DEFAULT_CONFIG,
    additionalProperties: false,
    sortProps: false,
    topRef: false,
  };
  return new SchemaGenerator(
    program,
    createParser(program, config),
    createFormatter(config),
    config,
  );
}

function moduleAt(name, importer) {
  if (!name.startsWith('.') || !name.endsWith('.ts')) return undefined;
  return { resolvedFileName: path.resolve(importer, '..', name), extension: '.ts' };
}

/** Separates the events of a command from its document. */
function split(schema, context) {
  const choices = schema.anyOf ?? [schema];
  const documents = choices.filter(({ properties = {} }) => !('$event' in properties));
  const events = choices.flatMap(({ properties = {} }) => properties.$event ?? []);
  return {
    ...(documents.length === 0
      ? {}
      : {
          output: converted(documents.length === choices.length ? schema : any(documents), context),
        }),
    ...(events.length === 0 ? {} : { event: converted(any(events), context) }),
  };
}

const any = (schemas) => (schemas.length === 1 ? schemas[0] : { anyOf: schemas });

// The name of a generic type contains positions in the source.
const isGeneric = (name) => name.includes('<');

function expanded(schema, { definitions }) {
  const name = referenceOf(schema);
  return name !== undefined && isGeneric(name) ? definitions[name] : schema;
}

function referenceOf({ $ref }) {
  return $ref === undefined ? undefined : decodeURIComponent($ref.replace('#/definitions/', ''));
}

/** Converts a part of a schema to JSON Schema 2020-12, and puts in the responses of the service. */
function converted(schema, context) {
  if (Array.isArray(schema)) return schema.map((one) => converted(one, context));
  if (typeof schema !== 'object' || schema === null) return schema;
  const name = referenceOf(schema);
  if (name !== undefined) {
    return isGeneric(name)
      ? converted(context.definitions[name], context)
      : { ...schema, $ref: `#/$defs/${name}` };
  }
  const { $response: response, ...added } = schema.properties ?? {};
  if (response !== undefined) {
    const ids = response.enum ?? [response.const];
    const schemas = ids.map((id) => opened(context.responses.get(id)));
    const own = Object.keys(added).length === 0 ? {} : { properties: converted(added, context) };
    return merged({ description: schema.description, ...any(schemas) }, own);
  }
  return Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, converted(value, context)]),
  );
}

/** Adds the fields of foley to the schema of a response. */
function merged(schema, added) {
  const entries = Object.entries(added).map(([key, value]) => {
    const isDeep = typeof value === 'object' && !Array.isArray(value) && key in schema;
    return [key, isDeep ? merged(schema[key], value) : value];
  });
  return Object.fromEntries([...Object.entries(schema), ...entries]);
}

/** The schema of a response, without what a hosted service may do otherwise: leave out fields, also as null, and add values. */
function opened(schema, isField = false) {
  const { anyOf, const: only, description, enum: words, items, properties, type } = schema;
  const known = words ?? (only === undefined ? undefined : [only]);
  return {
    ...(type === undefined ? {} : { type: isField && type !== 'null' ? [type, 'null'] : type }),
    ...(description === undefined ? {} : { description }),
    ...(known === undefined ? {} : { examples: known }),
    ...(items === undefined ? {} : { items: opened(items) }),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map((one) => opened(one, isField)) }),
    ...(properties === undefined
      ? {}
      : {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, value]) => [name, opened(value, true)]),
          ),
        }),
  };
}
