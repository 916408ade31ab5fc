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
  checkFrame(bytes);
  const message = protocol === 'v2' ? renameFields(decoded(bytes), v3FieldName) : decoded(bytes);
  if (isFrameMessage(message)) return message;
  throw new UnreadableFrame('it has no event');
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

function isFrameMessage(value: unknown): value is FrameMessage {
  return (
    typeof value === 'object' &&
    value !== null &&
    'event' in value &&
    typeof value.event === 'string'
  );
}
