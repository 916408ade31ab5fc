import { CLIENT_MESSAGES } from './client-messages.ts';
import { SERVER_MESSAGES } from './server-messages.ts';

/** The protocols of section 4.10. */
export type Version = 'v2' | 'v3';
export type Mode = 'simple' | 'reliable';
export type Sender = 'client' | 'server';

/** What a field may hold. `id` is 1–128 characters; `count` is an integer from 0, `positive` from 1. */
export type Kind =
  | 'any'
  | 'boolean'
  | 'bytes'
  | 'count'
  | 'filled'
  | 'id'
  | 'integer'
  | 'list'
  | 'map'
  | 'number'
  | 'positive'
  | 'string';

/**
 * How sure the field is. `required` and `optional` are the spec's; `assumed` marks what the spec tells
 * without giving a name for it, so that a message is right without it, or with another name.
 */
export type Need = 'required' | 'optional' | 'assumed';

/** A field, under its name in v3; v2 has the same in snake_case, except for {@link V2_NAMES}. */
export interface Field {
  readonly name: string;
  readonly kind: Kind;
  readonly need: Need;
  /** Where the need holds; elsewhere the field is optional. Everywhere without it. */
  readonly mode?: Mode;
  /** Where the need holds; elsewhere the field is assumed. Both without it. */
  readonly version?: Version;
  readonly values?: readonly string[];
  /** The least and the greatest number, or length in characters. */
  readonly range?: readonly [number, number];
}

/** One message of the protocol: who sends it, where it belongs, what it carries. */
export interface MessageRow {
  readonly event: string;
  readonly sender: Sender;
  readonly modes: readonly Mode[];
  readonly fields: readonly Field[];
}

export const VERSIONS = ['v2', 'v3'] as const satisfies readonly Version[];
export const MODES = ['simple', 'reliable'] as const satisfies readonly Mode[];

/** Names of v2 that are not the snake_case of v3's. */
export const V2_NAMES: Readonly<Record<string, string>> = { modelId: 'model' };

export const SUBPROTOCOLS: Readonly<Record<Version, string>> = {
  v2: 'realtime.tts.msgpack.v2',
  v3: 'realtime.tts.msgpack.v3',
};

/** Section 8. */
export const LIMITS = {
  simpleInput: 10_000,
  textEvent: 2000,
  segment: 10_000,
  sessionUnits: 100_000,
  id: 128,
} as const;

/** The whole protocol: every message of both senders, as sections 4.10 and 6.2 have them. */
export const MESSAGES: readonly MessageRow[] = [...CLIENT_MESSAGES, ...SERVER_MESSAGES];

/** The row of an event, or undefined when no such message exists for this sender. */
export function messageRow(sender: Sender, event: string): MessageRow | undefined {
  return MESSAGES.find((row) => row.sender === sender && row.event === event);
}
