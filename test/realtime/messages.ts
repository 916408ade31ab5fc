import type { Kind } from './check-message.ts';
import { CLIENT_MESSAGES } from './client-messages.ts';
import { SERVER_MESSAGES } from './server-messages.ts';

/** The protocols of section 4.10. */
export type Version = 'v2' | 'v3';
export type Mode = 'simple' | 'reliable';
export type Sender = 'client' | 'server';

/** `assumed`: the spec describes the field without a name, so that a message is valid without it or with another name. */
export type Need = 'required' | 'optional' | 'assumed';

/** A field with its v3 name; v2 has it in snake_case, except for {@link V2_NAMES}. */
export interface Field {
  readonly name: string;
  readonly kind: Kind;
  readonly need: Need;
  /** The mode that requires the field, which is optional in the other; default both. */
  readonly mode?: Mode;
  /** The version whose spec names the field, which is assumed in the other; default both. */
  readonly version?: Version;
  readonly values?: readonly string[];
  /** The smallest and largest number, or length in characters. */
  readonly range?: readonly [number, number];
}

/** A message of the protocol: its sender, phase and fields. */
export interface MessageRow {
  readonly event: string;
  readonly sender: Sender;
  readonly modes: readonly Mode[];
  readonly fields: readonly Field[];
}

export const VERSIONS = ['v2', 'v3'] as const satisfies readonly Version[];
export const MODES = ['simple', 'reliable'] as const satisfies readonly Mode[];

/** v2 names that are not the snake_case form of the v3 name. */
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

/** Every message of both senders (sections 4.10 and 6.2). */
export const MESSAGES: readonly MessageRow[] = [...CLIENT_MESSAGES, ...SERVER_MESSAGES];

/** Returns the row of an event; undefined if this sender has no such message. */
export function messageRow(sender: Sender, event: string): MessageRow | undefined {
  return MESSAGES.find((row) => row.sender === sender && row.event === event);
}
