import type { Endpoint } from '../../src/contract/endpoint.ts';
import { DEFINITIONS } from '../../src/contract/endpoints.ts';
import { SERVICE_ERRORS } from '../../src/contract/service-errors.ts';
import { contractNames, namedSchemas } from './contract-names.ts';
import { REALTIME_TABLES } from './realtime-tables.ts';

/** `<!-- generated: fields SpeechRequest Voice -->` … `<!-- /fields -->`: a table that the contract writes. */
const PLACE = /(<!-- (?:generated: )?([a-z-]+)([^>]*?) -->\n)[\s\S]*?(<!-- \/\2 -->)/g;

const WRITERS: Readonly<Record<string, (names: readonly string[]) => string>> = {
  endpoints: (ids) =>
    table(
      ['method', 'path', 'what it does'],
      ids.map((id) => endpointRow(id)),
    ),
  fields: (names) => names.map((name) => `### ${name}\n\n${fieldTable(name)}`).join('\n\n'),
  errors: () =>
    table(
      ['status', 'code'],
      Object.entries(SERVICE_ERRORS).map(([code, status]) => [String(status), `\`${code}\``]),
    ),
  limits: () =>
    table(
      ['limit', 'value'],
      contractNames().limits.map(({ name, value }) => [`\`${name}\``, value]),
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
  return page.replaceAll(PLACE, (_all, begin: string, kind: string, names: string, end: string) => {
    const write = WRITERS[kind];
    if (write === undefined) throw new Error(`There is no table "${kind}"`);
    return `${begin}\n${write(names.trim().split(/\s+/))}\n\n${end}`;
  });
}

/** Returns what the pages show: ids of endpoints and names of schemas. */
export function shownIn(page: string): readonly string[] {
  return [...page.matchAll(PLACE)].flatMap(([, , , names = '']) => names.trim().split(/\s+/));
}

function endpointRow(id: string): readonly string[] {
  const found: Endpoint | undefined = DEFINITIONS.find((endpoint) => endpoint.id === id);
  if (found === undefined) throw new Error(`the contract has no endpoint "${id}"`);
  return [
    found.method,
    `\`${found.path}\`${found.public === true ? ' (public)' : ''}`,
    found.summary,
  ];
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

function fieldTable(name: string): string {
  const schema: Schema | undefined = namedSchemas()[name];
  if (schema === undefined) throw new Error(`the contract has no schema "${name}"`);
  return table(['field', 'type', 'values', 'meaning'], rows(schema, ''));
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
  if ($id !== undefined || $ref !== undefined) return $id ?? $ref?.split('/').at(-1) ?? '';
  if (anyOf !== undefined) return [...new Set(anyOf.map((part) => typeName(part)))].join(' or ');
  if (items !== undefined) return `${typeName(items)}[]`;
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

function table(head: readonly string[], body: readonly (readonly string[])[]): string {
  return [line(head), line(head.map(() => '---')), ...body.map((row) => line(row))].join('\n');
}

function line(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
}
