import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Check } from 'typebox/schema';
import {
  CLIENT_MESSAGES,
  LegacyStartRequest,
} from '../../src/contract/realtime/client-messages.ts';
import { CLOSE_CODES, closeCodeInfo, REALTIME_ERRORS } from '../../src/contract/realtime/errors.ts';
import { v2FieldName, v3FieldName } from '../../src/contract/realtime/protocols.ts';
import { SERVER_MESSAGES } from '../../src/contract/realtime/server-messages.ts';
import { streamErrorExit } from '../../src/contract/exit-codes.ts';

const MESSAGES = [CLIENT_MESSAGES, SERVER_MESSAGES].flatMap((of) => [of.v2, of.v3]);
const NAMES = MESSAGES.flatMap((of) => Object.values(of)).flatMap((schema) => namesIn(schema));

test('every field comes back from its name in v2', () => {
  expect(NAMES.length).toBeGreaterThan(100);
  for (const name of NAMES) expect(v3FieldName(v2FieldName(name))).toBe(name);
  expect([...new Set(NAMES)].filter((name) => !/^[a-z0-9_]+$/.test(v2FieldName(name)))).toEqual([]);
});

test('no name has anything to do with a name of every object', () => {
  fc.assert(
    fc.property(fc.constantFrom(...Object.getOwnPropertyNames(Object.prototype)), (name) => {
      expect(v2FieldName(name)).toBeTypeOf('string');
      expect(v3FieldName(name)).toBeTypeOf('string');
    }),
  );
});

test('every message is called what its event says', () => {
  for (const messages of MESSAGES) {
    for (const [name, { properties }] of Object.entries(messages)) {
      expect(properties.event).toMatchObject({ const: name });
    }
  }
});

test('every code ends the command line in some way, and no code is known to one table only', () => {
  for (const code of Object.keys(REALTIME_ERRORS)) expect(streamErrorExit(code)).toBeDefined();
  expect(streamErrorExit('server_draining')).toBeUndefined();
});

test('only 1012, 1013 and the loss of the line are worth another connection', () => {
  const retried = Object.keys(CLOSE_CODES).filter((code) => closeCodeInfo(Number(code))?.retryable);
  expect(retried).toEqual(['1006', '1012', '1013']);
  expect(closeCodeInfo(4_000)).toBeUndefined();
});

describe('the schemas', () => {
  const request = { voiceId: 'v', modelId: 'm' };
  test.each<readonly [string, boolean, unknown]>([
    ['a simple start', true, { event: 'start', request }],
    [
      'a start that runs again',
      true,
      { event: 'start', requestId: 'r', retryFailed: true, request },
    ],
    ['a start without a voice', false, { event: 'start', request: { modelId: 'm' } }],
    ['a request id of 129', false, { event: 'start', requestId: 'r'.repeat(129), request }],
    [
      'a language of 33',
      false,
      { event: 'start', request: { ...request, language: 'x'.repeat(33) } },
    ],
    ['a chunk of 49', false, { event: 'start', request: { ...request, chunkLength: 49 } }],
    ['a chunk of 1000', true, { event: 'start', request: { ...request, chunkLength: 1_000 } }],
    ['text of 2000', true, { event: 'text', eventId: 'e', sequence: 1, text: '😀'.repeat(2_000) }],
    ['text of 2001', false, { event: 'text', eventId: 'e', sequence: 1, text: '😀'.repeat(2_001) }],
    ['text before the first', false, { event: 'text', eventId: 'e', sequence: 0, text: 'a' }],
    ['input of 10001', false, { event: 'input', text: 'a'.repeat(10_001) }],
    ['empty input', false, { event: 'input', text: '' }],
    ['a flush without a segment', false, { event: 'flush', eventId: 'e' }],
    ['a bare ping', true, { event: 'ping' }],
    ['a stop', true, { event: 'stop', eventId: 'e' }],
    ['a ticket', true, { event: 'auth', token: 't' }],
  ])('say of %s: %s', (_what, isValid, message) => {
    const { event } = message as { readonly event: keyof typeof CLIENT_MESSAGES.v3 };
    expect(Check(CLIENT_MESSAGES.v3[event], message)).toBe(isValid);
    expect(Check(CLIENT_MESSAGES.v2[event], message)).toBe(isValid);
  });

  test('have the legacy profile refuse what it does not know, and be louder or softer otherwise', () => {
    expect(Check(LegacyStartRequest, { ...request, volume: 10 })).toBe(true);
    expect(Check(LegacyStartRequest, { ...request, volume: -1 })).toBe(false);
    expect(Check(LegacyStartRequest, { ...request, textNormalization: true })).toBe(false);
  });
});

function namesIn(schema: unknown): readonly string[] {
  const { properties, items, anyOf } = Object(schema);
  const inner = [...Object.values(properties ?? {}), items, ...(anyOf ?? [])];
  return [
    ...Object.keys(properties ?? {}),
    ...inner.flatMap((one) => (one === undefined ? [] : namesIn(one))),
  ];
}
