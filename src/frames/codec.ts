import { Decoder, encode } from '@msgpack/msgpack';
import { renameFields, v2FieldName, v3FieldName } from '../contract/realtime/field-names.ts';
import { FRAME_LIMITS } from '../contract/realtime/limits.ts';
import type { RealtimeProtocol } from '../contract/realtime/protocols.ts';
import { checkFrame, UnreadableFrame } from './check-frame.ts';

/** A message as its frame has it, with the names of v3: which fields it has is not yet looked at. */
export interface FrameMessage extends Readonly<Record<string, unknown>> {
  readonly event: string;
}

/** One for all frames: it keeps the names that it has seen. */
const decoder = new Decoder({
  maxStrLength: FRAME_LIMITS.stringBytes,
  maxBinLength: FRAME_LIMITS.binaryBytes,
  maxArrayLength: FRAME_LIMITS.arrayItems,
  maxMapLength: FRAME_LIMITS.mapEntries,
  maxExtLength: 0,
});

/**
 * Reads the message of a binary frame (spec section 4.10): a map of MessagePack with an `event`. The names
 * of v2 become those of v3, within maps and lists too. Binary fields are views into the frame.
 * @throws UnreadableFrame
 */
export function decodeFrame(bytes: Uint8Array, protocol: RealtimeProtocol): FrameMessage {
  const message = decodeFields(bytes, protocol);
  if (isFrameMessage(message)) return message;
  throw new UnreadableFrame('it has no event');
}

/** The same for a map that may have no `event`: it is readable, and no message. @throws UnreadableFrame */
export function decodeFields(bytes: Uint8Array, protocol: RealtimeProtocol): object {
  checkFrame(bytes);
  const fields = protocol === 'v2' ? renameFields(decoded(bytes), v3FieldName) : decoded(bytes);
  if (typeof fields === 'object' && fields !== null) return fields;
  throw new UnreadableFrame('it is no map');
}

/** The frame of a message; fields that are undefined are left out. */
export function encodeFrame(
  message: { readonly event: string },
  protocol: RealtimeProtocol,
): Uint8Array {
  const fields = protocol === 'v2' ? renameFields(message, v2FieldName) : message;
  return encode(fields, { ignoreUndefined: true, maxDepth: FRAME_LIMITS.depth });
}

function decoded(bytes: Uint8Array): unknown {
  try {
    return decoder.decode(bytes);
  } catch (error) {
    throw new UnreadableFrame('it is not MessagePack', { cause: error });
  }
}

export function isFrameMessage(fields: object): fields is FrameMessage {
  return 'event' in fields && typeof fields.event === 'string';
}
