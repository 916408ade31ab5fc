import { describe, expect, test } from 'vitest';
import { checkMessage } from './check-message.ts';
import { REQUEST_FIELDS } from './client-messages.ts';
import { MESSAGES, VERSIONS } from './messages.ts';
import type { Kind } from './check-message.ts';
import type { Field, MessageRow, Mode, Version } from './messages.ts';
import { connectRealtime } from './raw-client.ts';
import { fail, send, serve } from './script.ts';
import type { Step } from './script.ts';
import { startScriptedServer } from './scripted-server.ts';
import { FINISH_REASONS, REQUEST_STATES, V2_ERROR_CODES } from './server-messages.ts';
import { allNames, fromWire, isFields, toWire, wireName } from './wire-names.ts';
import type { Fields } from './wire-names.ts';

const EXAMPLES: Readonly<Record<Kind, unknown>> = {
  any: 'anything',
  boolean: true,
  bytes: Uint8Array.of(1, 2, 3),
  count: 0,
  filled: 'x',
  id: 'x'.repeat(128),
  integer: 50,
  list: [],
  map: {},
  number: 0.5,
  positive: 1,
  string: 'x',
};

/** Invalid values for each kind of field. */
const WRONG: Readonly<Record<Kind, readonly unknown[]>> = {
  any: [],
  boolean: ['true', 1, null],
  bytes: ['AQID', [1, 2, 3]],
  count: [-1, 1.5, '1'],
  filled: ['', 1, null],
  id: ['', 'x'.repeat(129), 7],
  integer: [1.5, '1', null],
  list: [{}, 'x'],
  map: [[], 'x', null],
  number: ['1', Number.NaN, null],
  positive: [0, 1.5, '1'],
  string: [1, null],
};

const REQUEST = { voiceId: 'voice-1', modelId: 'model-1' };
const LINES = MESSAGES.flatMap((row) =>
  VERSIONS.flatMap((version) => row.modes.map((mode) => ({ row, version, mode, ...row }))),
);

describe.each(LINES)('$event of $sender, $version, $mode', ({ row, version, mode }) => {
  const place = { version, sender: row.sender, mode } as const;
  const full = fullMessage(row, version, mode);

  test('is valid with all fields, and with all required ones', () => {
    expect(checkMessage(place, full)).toStrictEqual([]);
    for (const field of row.fields) {
      const name = wireName(version, field.name);
      const { [name]: _left, ...rest } = full;
      const isRequired =
        field.need === 'required' &&
        (field.mode ?? mode) === mode &&
        (field.version ?? version) === version;
      expect([name, checkMessage(place, rest).length > 0]).toStrictEqual([name, isRequired]);
    }
  });

  test('is invalid with an invalid value', () => {
    for (const field of row.fields.filter(({ need }) => need !== 'assumed')) {
      for (const value of WRONG[field.kind]) {
        const message = { ...full, [wireName(version, field.name)]: value };
        const isWrong = checkMessage(place, message).length > 0;
        expect([field.name, value, isWrong]).toStrictEqual([field.name, value, true]);
      }
    }
  });

  test('is invalid with the field names of the other version', () => {
    const other = toWire(version === 'v2' ? 'v3' : 'v2', fromWire(version, full));
    const differs = Object.keys(other).join() !== Object.keys(full).join();
    expect(checkMessage(place, { event: row.event, ...other }).length > 0).toBe(differs);
  });
});

test('field names survive encoding and decoding', () => {
  const message = fullMessage(rowOf('start'), 'v3', 'reliable');
  const wire = toWire('v2', { ...message, request: REQUEST });
  expect(wire).toMatchObject({
    request_id: EXAMPLES.id,
    request: { voice_id: 'voice-1', model: 'model-1' },
  });
  expect(allNames(wire).filter((name) => /[A-Z]/.test(name))).toStrictEqual([]);
  expect(fromWire('v2', wire)).toStrictEqual({ ...message, request: REQUEST });
});

test.each(VERSIONS)('%s: start.request is validated', (version) => {
  const place = { version, sender: 'client' } as const;
  const start = (request: Fields) => toWire(version, { event: 'start', request });
  expect(checkMessage(place, start(fullRequest(version)))).toStrictEqual([]);
  const wrong = [
    { chunkLength: 49 },
    { chunkLength: 1001 },
    { language: 'x'.repeat(33) },
    { speed: 2.1 },
  ];
  for (const fields of [...wrong, { format: 'flac' }, { voice: 'x' }, { voiceId: undefined }]) {
    expect(checkMessage(place, start({ ...REQUEST, ...fields }))).toHaveLength(1);
  }
  const isV2 = version === 'v2';
  expect(checkMessage(place, start({ ...REQUEST, pitch: 1 }))).toHaveLength(isV2 ? 0 : 1);
});

describe.each(VERSIONS)('over the wire: %s', (version) => {
  test('every client message arrives unchanged', async () => {
    const steps: Step[] = [serve({ isLeftOpen: true })];
    for (const mode of ['simple', 'reliable'] as const) {
      const server = await startScriptedServer({ connections: [{ steps }] });
      const client = await connectRealtime({ version, baseUrl: server.baseUrl, key: server.key });
      const rows = MESSAGES.filter((row) => row.sender === 'client' && row.modes.includes(mode));
      const first = ['start', 'text', 'flush', 'input'];
      const ordered = rows.toSorted((one, other) => rank(first, one) - rank(first, other));
      ordered.forEach((row) => client.sendExactly(fullMessage(row, version, mode, row.event)));
      const connection = await server.connected();
      await connection.receivedMessage(ordered.at(-1)?.event ?? '');
      const sent = client.sent.map(({ wire }) => (isFields(wire) ? fromWire(version, wire) : {}));
      expect(connection.messages).toStrictEqual(sent);
    }
  });

  test('every server message arrives unchanged, with its position', async () => {
    const rows = MESSAGES.filter(({ sender }) => sender === 'server');
    const steps = rows.map((row): Step => {
      const { event, ...fields } = fromWire(version, fullMessage(row, version, 'reliable'));
      return send(String(event), fields);
    });
    const server = await startScriptedServer({
      connections: [{ steps: [...steps, ...fail('internal_error', 1011)] }],
    });
    const client = await connectRealtime({ version, baseUrl: server.baseUrl, key: server.key });
    const messages = await client.until('pong');
    await client.expect('error', { code: 'internal_error' });
    expect(await client.ended()).toMatchObject({ kind: 'closed', code: 1011 });
    const [connection] = server.connections;
    expect(messages).toStrictEqual(connection?.sent.slice(0, -1));
    expect(client.journal.map(({ number }) => number)).toStrictEqual(
      rows.map((_, n) => n + 1).concat(rows.length + 1),
    );
  });
});

test('exactly the values of the spec are known', () => {
  expect([REQUEST_STATES.length, FINISH_REASONS.length, V2_ERROR_CODES.length]).toStrictEqual([
    4, 4, 22,
  ]);
  const place = { version: 'v2', sender: 'server' } as const;
  const error = fullMessage(rowOf('error'), 'v2', 'simple');
  expect(checkMessage(place, { ...error, code: 'of_nobody' })).toHaveLength(1);
  expect(
    checkMessage({ ...place, version: 'v3' }, fromWire('v2', { ...error, code: 'of_nobody' })),
  ).toStrictEqual([]);
});

test('dependencies between fields are checked', () => {
  const place = { version: 'v3', sender: 'server' } as const;
  const status = { ...fullMessage(rowOf('request_status'), 'v3', 'simple'), resultAvailable: true };
  expect(checkMessage(place, status)).toStrictEqual([]);
  expect(checkMessage(place, { ...status, segments: undefined })).toHaveLength(1);
  const audio = { ...fullMessage(rowOf('audio'), 'v3', 'simple'), format: 'pcm' };
  expect(checkMessage(place, audio)).toHaveLength(3);
  expect(checkMessage(place, { ...audio, sampleRate: 1, channels: 1, bitDepth: 8 })).toStrictEqual(
    [],
  );
});

function rank(first: readonly string[], { event }: MessageRow): number {
  const at = first.indexOf(event);
  return at === -1 ? first.length : at;
}

function rowOf(event: string): MessageRow {
  const row = MESSAGES.find((one) => one.event === event);
  if (row === undefined) {
    throw new Error(`There is no ${event}.`);
  }
  return row;
}

/** Returns a message with every field of its row. */
function fullMessage(row: MessageRow, version: Version, mode: Mode, eventId = 'x'): Fields {
  const fields = row.fields.map((field) => [field.name, example(field)]);
  const special = {
    ...(row.fields.some(({ name }) => name === 'eventId') ? { eventId } : {}),
    ...(row.event === 'start' ? { request: fullRequest(version) } : {}),
    ...(row.fields.some(({ name }) => name === 'mode') ? { mode } : {}),
    ...(row.event === 'request_status' ? { resultAvailable: false } : {}),
    ...(row.event === 'error' ? { code: V2_ERROR_CODES[0], terminal: false } : {}),
  };
  const all: Fields = { ...Object.fromEntries(fields), ...special };
  return { event: row.event, ...toWire(version, all) };
}

function fullRequest(version: Version): Fields {
  return Object.fromEntries(REQUEST_FIELDS[version].map((field) => [field.name, example(field)]));
}

function example({ kind, values }: Field): unknown {
  return values?.[0] ?? EXAMPLES[kind];
}
