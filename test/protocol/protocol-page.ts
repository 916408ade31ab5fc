import {
  CLIENT_MESSAGES,
  LegacyStartRequest,
  ProductStartRequest,
  StartRequest,
} from '../../src/contract/realtime/client-messages.ts';
import { CLOSE_CODES, REALTIME_ERRORS } from '../../src/contract/realtime/errors.ts';
import { v2FieldName } from '../../src/contract/realtime/protocols.ts';
import * as limits from '../../src/contract/realtime/limits.ts';
import { SERVER_MESSAGES } from '../../src/contract/realtime/server-messages.ts';
import { EXIT_CODES, streamErrorExit } from '../../src/contract/exit-codes.ts';

/** The tables of docs/protocol.md, by the name in their comment; written from the contract. */
const TABLES: Readonly<Record<string, () => string>> = {
  'client messages': () => messageTable(CLIENT_MESSAGES, OF_THE_CLIENT),
  'server messages': () => messageTable(SERVER_MESSAGES, OF_THE_SERVICE),
  'start request': startTable,
  'error codes': errorTable,
  'close codes': closeTable,
  limits: limitTable,
};

const PLACE = /(<!-- table: ([a-z ]+) -->)[^]*?(<!-- end -->)/g;

/** The page with its tables as the contract has them. */
export function withTables(page: string): string {
  return page.replaceAll(PLACE, (_all, begin: string, name: string, end: string) => {
    const write = TABLES[name];
    if (write === undefined) throw new Error(`docs/protocol.md: there is no table "${name}"`);
    return `${begin}\n${write()}\n${end}`;
  });
}

/** The names of the tables that a page has. */
export function tablesIn(page: string): readonly string[] {
  return [...page.matchAll(PLACE)].map(([, , name = '']) => name);
}

export const TABLE_NAMES = Object.keys(TABLES);

interface ObjectSchema {
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
}

type Messages = Readonly<Record<string, ObjectSchema>>;

/** What every message has is told once, in the text. */
const OF_THE_CLIENT: readonly string[] = ['event', 'eventId'];
const OF_THE_SERVICE: readonly string[] = [...OF_THE_CLIENT, 'traceId', 'timestamp', 'inReplyTo'];

function messageTable(
  { v2, v3 }: { readonly v2: Messages; readonly v3: Messages },
  inEvery: readonly string[],
): string {
  const fieldList = (
    { properties, required = [] }: ObjectSchema,
    named: (name: string) => string,
  ) =>
    Object.keys(properties)
      .filter((name) => !inEvery.includes(name))
      .map((name) => `\`${named(name)}\`${required.includes(name) ? '' : '?'}`)
      .join(', ');
  return table(
    ['event', 'v2', 'v3'],
    Object.entries(v3).map(([event, schema]) => [
      `\`${event}\``,
      fieldList(v2[event] ?? schema, v2FieldName),
      fieldList(schema, (name) => name),
    ]),
  );
}

function startTable(): string {
  const schemas: readonly ObjectSchema[] = [StartRequest, ProductStartRequest, LegacyStartRequest];
  const names = [...new Set(schemas.flatMap(({ properties }) => Object.keys(properties)))];
  const mark = ({ properties, required = [] }: ObjectSchema, name: string) => {
    if (!(name in properties)) return '';
    return [required.includes(name) ? 'required' : 'yes', range(properties[name])].join(' ').trim();
  };
  return table(
    ['v3', 'v2', 'in v3', 'in v2, `product_v1`', 'in v2, `legacy`'],
    names.map((name) => [
      `\`${name}\``,
      `\`${v2FieldName(name)}\``,
      ...schemas.map((schema) => mark(schema, name)),
    ]),
  );
}

function range(schema: unknown): string {
  const { minimum, maximum, maxLength } = Object(schema);
  if (minimum !== undefined) return `${minimum} to ${maximum}`;
  return maxLength === undefined ? '' : `up to ${maxLength} characters`;
}

function errorTable(): string {
  return table(
    ['code', 'category', 'retryable', 'terminal', 'exit'],
    Object.entries(REALTIME_ERRORS).map(([code, { category, retryable, terminal }]) => [
      `\`${code}\``,
      category,
      retryable ? 'yes' : 'no',
      terminal ? 'yes' : 'no',
      exitOf(streamErrorExit(code)),
    ]),
  );
}

function closeTable(): string {
  return table(
    ['code', 'meaning', 'another connection', 'exit, when nothing else says why'],
    Object.entries(CLOSE_CODES).map(([code, { meaning, retryable, exit }]) => [
      code,
      meaning,
      retryable ? 'yes' : 'no',
      exitOf(exit),
    ]),
  );
}

function limitTable(): string {
  return table(
    ['limit', 'value'],
    Object.entries(limits)
      .toSorted(([left], [right]) => (left < right ? -1 : 1))
      .flatMap(([name, value]) =>
        typeof value === 'number'
          ? [[`\`${name}\``, String(value)]]
          : Object.entries(value).map(([part, number]) => [`\`${name}.${part}\``, String(number)]),
      ),
  );
}

function exitOf(name: keyof typeof EXIT_CODES | undefined): string {
  return name === undefined ? '' : String(EXIT_CODES[name].code);
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  return [heads, heads.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}
