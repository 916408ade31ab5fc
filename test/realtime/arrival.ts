import { decode } from '@msgpack/msgpack';
import { checkMessage } from './check-message.ts';
import type { Place } from './check-message.ts';
import { fromWire, isMessage } from './wire-names.ts';
import type { Fields, Message } from './wire-names.ts';

/** An event of a WebSocket. */
export type Arrived =
  | {
      readonly kind: 'message';
      /** With v3 field names. */
      readonly message: Message;
      readonly wire: Fields;
      /** Violations of the message tables. */
      readonly faults: readonly string[];
    }
  | { readonly kind: 'unreadable'; readonly bytes: Buffer; readonly why: string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'ping' | 'pong' };

/** With its position among all messages of a connection in both directions, from 1. */
export type IncomingRequest = Arrived & { readonly number: number };

/** The end of a connection; `dropped` is one without a closing handshake. */
export type Ending =
  | { readonly kind: 'closed'; readonly code: number; readonly reason: string }
  | { readonly kind: 'dropped' };

const DROPPED = 1006;

/** Decodes a message, and checks it against the tables. */
export function readArrived(place: Place, data: unknown, isBinary: boolean): Arrived {
  const bytes = asBuffer(data);
  if (!isBinary) {
    return { kind: 'text', text: bytes.toString() };
  }
  let wire: unknown;
  try {
    // A Uint8Array and not a Buffer, so that the bytes of a message are Uint8Arrays too.
    wire = decode(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  } catch (error) {
    return { kind: 'unreadable', bytes, why: String(error) };
  }
  if (!isMessage(wire)) {
    return { kind: 'unreadable', bytes, why: 'not a map with an event' };
  }
  const message = { ...fromWire(place.version, wire), event: wire.event };
  return { kind: 'message', message, wire, faults: checkMessage(place, wire) };
}

/** Converts a close event of `ws`. */
export function endingOf(code: number, reason: Buffer): Ending {
  return code === DROPPED
    ? { kind: 'dropped' }
    : { kind: 'closed', code, reason: reason.toString() };
}

/** Describes an arrival in a few words. */
export function describeArrived(entry: Arrived): string {
  if (entry.kind === 'message') {
    return describeMessage(entry.message);
  }
  if (entry.kind === 'unreadable') {
    return `${entry.bytes.byteLength} unreadable bytes (${entry.why})`;
  }
  return entry.kind === 'text' ? `the text ${entry.text.slice(0, 80)}` : `a ${entry.kind}`;
}

export function describeMessage(message: Message): string {
  const { event, code, sequence, segmentId } = message;
  const told = [event, code, segmentId, sequence].filter((part) => part !== undefined);
  return told.map(String).join(' ');
}

/** Joins the audio of messages in the given order. */
export function audioIn(messages: readonly Message[]): Buffer {
  return Buffer.concat(
    messages.flatMap(({ event, audio }) =>
      event === 'audio' && audio instanceof Uint8Array ? [audio] : [],
    ),
  );
}

function asBuffer(data: unknown): Buffer {
  if (Array.isArray(data)) {
    return Buffer.concat(data.map((part: unknown) => asBuffer(part)));
  }
  if (data instanceof ArrayBuffer || Buffer.isBuffer(data)) {
    return Buffer.from(data as Buffer);
  }
  throw new Error('Neither bytes nor a list of them.');
}
