import type { Endpoint } from '../../src/contract/endpoint.ts';
import { DEFINITIONS } from '../../src/contract/endpoints.ts';
import { v2FieldName } from '../../src/contract/realtime/protocols.ts';
import { SERVICE_ERRORS } from '../../src/contract/service-errors.ts';
import { MODELS } from '../../src/service/voices/model-catalogue.ts';
import PAGES from './api-pages.json' with { type: 'json' };
import { contractNames, namedSchemas } from './contract-names.ts';
import { REALTIME_TABLES } from './realtime-tables.ts';

/** `<!-- fields SpeechRequest -->` … `<!-- /fields -->`: a table that the contract writes. */
const PLACE = /(<!-- ([a-z-]+)([^>]*?) -->\n)[\s\S]*?(<!-- \/\2 -->)/g;

/** The ids of the endpoints in each `<!-- endpoints NAME -->`. */
const ENDPOINT_TABLES: Readonly<Record<string, readonly string[]>> = PAGES.endpoints;

interface Base {
  /** Name of the schema whose fields are not repeated. */
  readonly of: string;
  /** The page that shows that schema, if it is another page. */
  readonly page?: string;
  /** The field that contains the fields of that schema. */
  readonly under?: string;
}

/** Schemas that repeat the fields of another schema. Their tables show only the fields that differ. */
const BASES: Readonly<Record<string, Base>> = PAGES.bases;

/** Schemas of v2 with the fields of a v3 schema, in snake_case. */
const IN_SNAKE_CASE: Readonly<Record<string, string>> = PAGES.inSnakeCase;

const WRITERS: Readonly<Record<string, (name: string) => string>> = {
  endpoints: (name) =>
    table(
      ['method', 'path', 'what it does'],
      endpointsIn(name).map((id) => endpointRow(id)),
    ),
  fields: (name) => `### ${name}\n\n${fieldText(name)}`,
  errors: () =>
    table(
      ['status', 'code'],
      Object.entries(SERVICE_ERRORS).map(([code, status]) => [String(status), `\`${code}\``]),
    ),
  limits: () =>
    table(
      ['limit', 'value'],
      contractNames().limits.flatMap(({ name, value }) => limitRows(name, value)),
    ),
  models: () =>
    table(
      ['model', 'longest text', 'formats', 'price'],
      MODELS.map(({ id, maxTextLength, outputFormats, creditsPerCharacter }) => [
        id,
        `up to ${maxTextLength} characters`,
        outputFormats.join(', '),
        `${creditsPerCharacter} ${creditsPerCharacter === 1 ? 'credit' : 'credits'} per character`,
      ]),
    ),
  ...Object.fromEntries(
    Object.entries(REALTIME_TABLES).map(([name, write]) => [
      name,
      () => {
        const [head = [], ...body] = write();
        return table(head, body);
      },
    ]),
  ),
};

/**
 * Returns a page with its tables written anew from the contract.
 * @throws Error for a table, an endpoint or a schema that does not exist
 */
export function withContractTables(page: string): string {
  return page.replaceAll(PLACE, (_all, begin: string, kind: string, name: string, end: string) => {
    const write = WRITERS[kind];
    if (write === undefined) throw new Error(`There is no table "${kind}"`);
    return `${begin}\n${write(name.trim())}\n\n${end}`;
  });
}

/** Returns what the pages show: ids of endpoints and names of schemas. */
export function shownIn(page: string): readonly string[] {
  return [...page.matchAll(PLACE)].flatMap(([, , kind, given = '']) => {
    const name = given.trim();
    return kind === 'endpoints' ? endpointsIn(name) : [name];
  });
}

function endpointsIn(name: string): readonly string[] {
  const ids = ENDPOINT_TABLES[name];
  if (ids === undefined) throw new Error(`There is no table of endpoints "${name}"`);
  return ids;
}

function endpointRow(id: string): readonly string[] {
  const found: Endpoint | undefined = DEFINITIONS.find((endpoint) => endpoint.id === id);
  if (found === undefined) throw new Error(`the contract has no endpoint "${id}"`);
  return [
    found.method,
    `\`${found.path}\`${found.public === true ? ' (no API key)' : ''}`,
    found.summary,
  ];
}

// `frameBytes 4194304, depth 16` becomes one row for each number.
function limitRows(name: string, value: string): readonly (readonly string[])[] {
  const parts = [...value.matchAll(/([a-z]+) (\d+)(?:, |$)/gi)];
  if (parts.length === 0) return [[`\`${name}\``, value]];
  return parts.map(([, part = '', number = '']) => [`\`${name}.${part}\``, number]);
}

interface Schema {
  readonly type?: string | readonly string[];
  readonly $ref?: string;
  readonly $id?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

function schemaOf(name: string): Schema {
  const schema: Schema | undefined = namedSchemas()[name];
  if (schema === undefined) throw new Error(`the contract has no schema "${name}"`);
  return schema;
}

function fieldText(name: string): string {
  const original = IN_SNAKE_CASE[name];
  if (original !== undefined) return snakeCaseText(name, original);
  const all = rows(schemaOf(name), '');
  const base = BASES[name];
  return base === undefined ? fieldTable(all) : differences(name, all, base);
}

function fieldTable(body: readonly (readonly string[])[]): string {
  return table(['field', 'type', 'values', 'meaning'], body);
}

function differences(name: string, all: readonly (readonly string[])[], base: Base): string {
  const repeated = rows(schemaOf(base.of), base.under === undefined ? '' : `${base.under}.`);
  const known = new Set(repeated.map((row) => row.join('|')));
  const fields = new Set(all.map(([field = '']) => plainName(field)));
  const missing = repeated
    .map(([field = '']) => plainName(field))
    .filter((one) => !fields.has(one));
  const other = base.page === undefined ? '' : `(${base.page}#${base.of.toLowerCase()})`;
  const source = other === '' ? `\`${base.of}\`` : `[\`${base.of}\`]${other}`;
  const holder = base.under === undefined ? `\`${name}\`` : `\`${base.under}\` of \`${name}\``;
  const except =
    missing.length === 0 ? '' : ` except ${missing.join(', ').replace(/, (?=[^,]*$)/, ' and ')}`;
  return [
    `${holder} has the fields of ${source}${except}. The table shows only added or changed fields.`,
    fieldTable(all.filter((row) => !known.has(row.join('|')))),
  ].join('\n\n');
}

function plainName(field: string): string {
  return field.replace(' (optional)', '');
}

function snakeCaseText(name: string, original: string): string {
  const [names, originals] = [name, original].map((one) => fieldNames(schemaOf(one)));
  const expected = originals?.map((field) => v2FieldName(field));
  if (names?.join() !== expected?.join()) throw new Error(`${name} differs from ${original}`);
  const example = names?.find((field) => field.includes('_')) ?? '';
  return `\`${name}\` has the fields of \`${original}\` in snake_case, such as \`${example}\`.`;
}

// The names of all fields, also within named schemas.
function fieldNames(schema: Schema): readonly string[] {
  const { properties = {} } = schema.$ref === undefined ? schema : schemaOf(refName(schema));
  return Object.entries(properties).flatMap(([name, field]) => [
    name,
    ...fieldNames(field.items ?? field),
  ]);
}

function refName({ $ref = '' }: Schema): string {
  return $ref.split('/').at(-1) ?? '';
}

function rows(schema: Schema, prefix: string): readonly (readonly string[])[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const optional = schema.required?.includes(name) === true ? '' : ' (optional)';
    const row = [
      `\`${prefix}${name}\`${optional}`,
      typeName(field),
      values(field),
      field.description ?? '',
    ];
    const inside = field.items ?? field;
    const isNamed = inside.$id !== undefined || inside.$ref !== undefined;
    return isNamed ? [row] : [row, ...rows(inside, `${prefix}${name}${field.items ? '[]' : ''}.`)];
  });
}

function typeName(schema: Schema): string {
  const { type, enum: options, anyOf, items, $id, $ref } = schema;
  if ($id !== undefined || $ref !== undefined) return $id ?? refName(schema);
  if (anyOf !== undefined) return [...new Set(anyOf.map((part) => typeName(part)))].join(' or ');
  if (items !== undefined) {
    const item = typeName(items);
    return item.includes(' or ') ? `(${item})[]` : `${item}[]`;
  }
  if (options !== undefined) return 'string';
  return typeof type === 'string' ? type : (type ?? ['any']).join(' or ');
}

function values(schema: Schema): string {
  const { enum: options, default: initial, minimum, maximum, minLength, maxLength } = schema;
  const { minItems, maxItems } = schema;
  return [
    options?.map((option) => `\`${String(option)}\``).join(', '),
    span(minimum, maximum, ''),
    span(minLength, maxLength, ' characters'),
    span(minItems, maxItems, ' items'),
    initial === undefined ? undefined : `default \`${JSON.stringify(initial)}\``,
  ]
    .filter((part) => part !== undefined && part !== '')
    .join(', ');
}

function span(least: number | undefined, most: number | undefined, unit: string): string {
  if (least === undefined && most === undefined) return '';
  if (most === undefined) return `at least ${least}${least === 1 ? unit.replace(/s$/, '') : unit}`;
  return least === undefined ? `at most ${most}${unit}` : `${least} to ${most}${unit}`;
}

/** Returns a Markdown table. */
export function table(head: readonly string[], body: readonly (readonly string[])[]): string {
  return [line(head), line(head.map(() => '---')), ...body.map((row) => line(row))].join('\n');
}

function line(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
}
