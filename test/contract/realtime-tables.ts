import {
  CLIENT_MESSAGES,
  LegacyStartRequest,
  ProductStartRequest,
  StartRequest,
} from '../../src/contract/realtime/client-messages.ts';
import { CLOSE_CODES, REALTIME_ERRORS } from '../../src/contract/realtime/errors.ts';
import { v2FieldName } from '../../src/contract/realtime/protocols.ts';
import { SERVER_MESSAGES } from '../../src/contract/realtime/server-messages.ts';
import { EXIT_CODES, streamErrorExit } from '../../src/contract/exit-codes.ts';

/** The heads and the rows of a table. */
type Table = readonly (readonly string[])[];

/** The tables of realtime speech in docs/api/realtime.md and docs/protocol.md, by the name in their comment. */
export const REALTIME_TABLES: Readonly<Record<string, () => Table>> = {
  'client-messages': () => messageTable(CLIENT_MESSAGES, OF_THE_CLIENT),
  'server-messages': () => messageTable(SERVER_MESSAGES, OF_THE_SERVICE),
  'start-request': startTable,
  'realtime-errors': () => [
    ['code', 'category', 'retryable', 'terminal'],
    ...Object.entries(REALTIME_ERRORS).map(([code, { category, retryable, terminal }]) => [
      `\`${code}\``,
      category,
      retryable ? 'can be retried' : 'cannot be retried',
      terminal ? 'closes the connection' : 'keeps the connection open',
    ]),
  ],
  'close-codes': () => [
    ['code', 'meaning', 'connect again'],
    ...Object.entries(CLOSE_CODES).map(([code, { meaning, retryable }]) => [
      code,
      meaning,
      yesOrNo(retryable),
    ]),
  ],
  'realtime-exits': exitTable,
};

interface ObjectSchema {
  readonly properties: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
}

type Messages = Readonly<Record<string, ObjectSchema>>;

/** Fields of every message, which the text around the table names. */
const OF_THE_CLIENT: readonly string[] = ['event', 'eventId'];
const OF_THE_SERVICE: readonly string[] = [...OF_THE_CLIENT, 'traceId', 'timestamp', 'inReplyTo'];

function messageTable(
  { v2, v3 }: { readonly v2: Messages; readonly v3: Messages },
  inEvery: readonly string[],
): Table {
  const fieldList = (
    { properties, required = [] }: ObjectSchema,
    named: (name: string) => string,
  ) =>
    Object.keys(properties)
      .filter((name) => !inEvery.includes(name))
      .map((name) => `\`${named(name)}\`${required.includes(name) ? '' : '?'}`)
      .join(', ');
  return [
    ['event', 'v2', 'v3'],
    ...Object.entries(v3).map(([event, schema]) => [
      `\`${event}\``,
      fieldList(v2[event] ?? schema, v2FieldName),
      fieldList(schema, (name) => name),
    ]),
  ];
}

function startTable(): Table {
  const schemas: readonly ObjectSchema[] = [StartRequest, ProductStartRequest, LegacyStartRequest];
  const names = [...new Set(schemas.flatMap(({ properties }) => Object.keys(properties)))];
  const mark = ({ properties, required = [] }: ObjectSchema, name: string) => {
    if (!(name in properties)) return '';
    const allowed = range(properties[name]);
    const word = required.includes(name) ? 'required' : 'optional';
    return allowed === '' ? word : `${word}: ${allowed}`;
  };
  return [
    ['v3', 'v2', 'in v3', 'in v2, `product_v1`', 'in v2, `legacy`'],
    ...names.map((name) => [
      `\`${name}\``,
      `\`${v2FieldName(name)}\``,
      ...schemas.map((schema) => mark(schema, name)),
    ]),
  ];
}

function range(schema: unknown): string {
  const { minimum, maximum, maxLength } = Object(schema);
  if (minimum !== undefined) return `${minimum} to ${maximum}`;
  return maxLength === undefined ? '' : `up to ${maxLength} characters`;
}

/** The exit codes of the command line, with the errors and the close codes that lead to each. */
function exitTable(): Table {
  const errors = Object.keys(REALTIME_ERRORS).map((code) => [streamErrorExit(code), code] as const);
  const closes = Object.entries(CLOSE_CODES).map(([code, { exit }]) => [exit, code] as const);
  return [
    ['exit', 'errors', 'close codes'],
    ...Object.entries(EXIT_CODES).flatMap(([name, { code: exit }]) => {
      const [ofErrors, ofCloses] = [errors, closes].map((all) =>
        all.filter(([one]) => one === name).map(([, code]) => `\`${code}\``),
      );
      if (ofErrors?.length === 0 && ofCloses?.length === 0) return [];
      return [[`exit ${exit}`, ofErrors?.join(', ') ?? '', ofCloses?.join(', ') ?? '']];
    }),
  ];
}

function yesOrNo(value: boolean): string {
  return value ? 'yes' : 'no';
}
