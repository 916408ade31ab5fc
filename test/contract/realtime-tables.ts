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
    ['code', 'category', 'retry', 'connection'],
    ...Object.entries(REALTIME_ERRORS).map(([code, { category, retryable, terminal }]) => [
      `\`${code}\` error`,
      `category \`${category}\``,
      retryable ? 'can be retried' : 'cannot be retried',
      terminal ? 'closes the connection' : 'keeps the connection open',
    ]),
  ],
  'close-codes': () => [
    ['code', 'meaning', 'what the client does'],
    ...Object.entries(CLOSE_CODES).map(([code, { meaning, retryable }]) => [
      `close code ${code}`,
      meaning,
      retryable ? 'connect again' : 'do not connect again',
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
  const row = (message: string, schema: ObjectSchema, named: (name: string) => string) => {
    const { properties, required = [] } = schema;
    const names = Object.keys(properties).filter((name) => !inEvery.includes(name));
    const list = (isRequired: boolean) =>
      names
        .filter((name) => required.includes(name) === isRequired)
        .map((name) => `\`${named(name)}\``)
        .join(', ');
    return [message, prefixed('has', list(true)), prefixed('may have', list(false))];
  };
  return [
    ['message', 'required fields', 'optional fields'],
    ...Object.entries(v3).flatMap(([event, schema]) => {
      const other = v2[event] ?? schema;
      const names = [schema, other].map(({ properties }) => Object.keys(properties).join());
      if (names[0] === names[1]) return [row(`\`${event}\` message`, schema, (name) => name)];
      return [
        row(`\`${event}\` message of v3`, schema, (name) => name),
        row(`\`${event}\` message of v2`, other, v2FieldName),
      ];
    }),
  ];
}

function prefixed(verb: string, names: string): string {
  return names === '' ? '' : `${verb} ${names}`;
}

const START_REQUESTS: readonly (readonly [string, ObjectSchema])[] = [
  ['v3', StartRequest],
  ['v2 with profile `product_v1`', ProductStartRequest],
  ['v2 with profile `legacy`', LegacyStartRequest],
];

function startTable(): Table {
  const names = [
    ...new Set(START_REQUESTS.flatMap(([, { properties }]) => Object.keys(properties))),
  ];
  return [['field', 'meaning', 'use'], ...names.flatMap((name) => startRows(name))];
}

// One row for each meaning that the field has in some version.
function startRows(name: string): Table {
  const uses = START_REQUESTS.flatMap(([version, { properties, required = [] }]) => {
    if (!(name in properties)) return [];
    const meaning = String(Object(properties[name]).description);
    const word = required.includes(name) ? 'required' : 'optional';
    return [{ version, meaning, use: `${word}${range(properties[name])}` }];
  });
  const label = name === 'modelId' ? '`modelId` (v2: `model`)' : `\`${name}\``;
  return [...new Set(uses.map(({ meaning }) => meaning))].map((meaning) => {
    const ofMeaning = uses.filter((one) => one.meaning === meaning);
    const parts = [...new Set(ofMeaning.map(({ use }) => use))].map((use) => {
      const same = ofMeaning.filter((one) => one.use === use);
      return `${use} in ${versionNames(same.map(({ version }) => version))}`;
    });
    // The profile tells the two kinds of v2 apart, so the field is optional in v2 as a whole.
    return [label, meaning, name === 'parameterProfile' ? 'optional in v2' : parts.join(', ')];
  });
}

function versionNames(names: readonly string[]): string {
  if (names.length === START_REQUESTS.length) return 'v2 and v3';
  if (names.length > 1 && !names.includes('v3')) return 'v2';
  return names.join(', and in ');
}

function range(schema: unknown): string {
  const { minimum, maximum, maxLength } = Object(schema);
  if (minimum !== undefined) return ` (${minimum} to ${maximum})`;
  return maxLength === undefined ? '' : ` (at most ${maxLength} characters)`;
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
      return [
        [`exit ${exit}`, namedList('error code', ofErrors), namedList('close code', ofCloses)],
      ];
    }),
  ];
}

/** Returns for example `close codes 1011, 1012`; empty without codes. */
function namedList(noun: string, codes: readonly string[] = []): string {
  if (codes.length === 0) return '';
  return `${noun}${codes.length === 1 ? '' : 's'} ${codes.join(', ')}`;
}
