import { Decoder, encode } from '@msgpack/msgpack';
import { renameFields, v2FieldName, v3FieldName } from '../contract/realtime/protocols.ts';
import type { RealtimeProtocol } from '../contract/realtime/protocols.ts';
import { FRAME_LIMITS } from '../contract/realtime/limits.ts';

/** A decoded WebSocket message with the field names of protocol v3. Only the field `event` is validated. */
export interface FrameMessage extends Readonly<Record<string, unknown>> {
  readonly event: string;
}

// One decoder for all frames, because it caches the keys of maps.
const decoder = new Decoder({
  maxStrLength: FRAME_LIMITS.stringBytes,
  maxBinLength: FRAME_LIMITS.binaryBytes,
  maxArrayLength: FRAME_LIMITS.arrayItems,
  maxMapLength: FRAME_LIMITS.mapEntries,
  maxExtLength: 0,
});

/**
 * Decodes a WebSocket frame, which must be a MessagePack map with an `event` field (docs/api/realtime.md). Renames
 * fields of protocol v2 to their v3 names. Binary fields share the memory of the frame.
 * @throws UnreadableFrame
 */
export function decodeFrame(bytes: Uint8Array, protocol: RealtimeProtocol): FrameMessage {
  const message = decodeFields(bytes, protocol);
  if (isFrameMessage(message)) return message;
  throw new UnreadableFrame('the frame has no event');
}

/**
 * Decodes a WebSocket frame like {@link decodeFrame}, but does not require an `event` field.
 * @throws UnreadableFrame
 */
export function decodeFields(bytes: Uint8Array, protocol: RealtimeProtocol): object {
  checkFrame(bytes);
  let fields: unknown;
  try {
    fields = decoder.decode(bytes);
  } catch (error) {
    throw new UnreadableFrame('the frame is not MessagePack', { cause: error });
  }
  if (protocol === 'v2') fields = renameFields(fields, v3FieldName);
  if (typeof fields === 'object' && fields !== null) return fields;
  throw new UnreadableFrame('the frame is not a map');
}

/** Encodes a message as a WebSocket frame. Leaves out undefined fields. */
export function encodeFrame(
  message: { readonly event: string },
  protocol: RealtimeProtocol,
): Uint8Array {
  const fields = protocol === 'v2' ? renameFields(message, v2FieldName) : message;
  return encode(fields, { ignoreUndefined: true, maxDepth: FRAME_LIMITS.depth });
}

/** Returns true if a decoded frame has an `event` field that is a string. */
export function isFrameMessage(fields: object): fields is FrameMessage {
  return 'event' in fields && typeof fields.event === 'string';
}

/** Thrown for an invalid WebSocket frame. The message says what is wrong with the frame. */
export class UnreadableFrame extends Error {
  override readonly name = 'UnreadableFrame';
}

// The decoder itself does not limit the depth, and allocates memory for the lengths that a frame claims.
function checkFrame(bytes: Uint8Array): void {
  if (bytes.length > FRAME_LIMITS.frameBytes) throw new UnreadableFrame('the frame is too large');
  if (readHead(bytes, 0).kind !== 'map') throw new UnreadableFrame('the frame is not a map');
  const end = skipValue(bytes, 0, 0);
  if (end !== bytes.length) throw new UnreadableFrame('the frame has bytes after its map');
}

function skipValue(bytes: Uint8Array, at: number, depth: number): number {
  const { kind, length, end } = readHead(bytes, at);
  if (kind === 'unsupported') throw new UnreadableFrame('the frame has an unsupported type');
  if (length > LONGEST[kind]) throw new UnreadableFrame(`the frame has a ${kind} that is too long`);
  if (end > bytes.length) throw new UnreadableFrame('the frame is cut off');
  if (kind !== 'map' && kind !== 'list') return end;
  if (depth >= FRAME_LIMITS.depth) throw new UnreadableFrame('the frame is nested too deeply');
  let next = end;
  for (let index = 0; index < length; index += 1) {
    if (kind === 'map') {
      const isText = readHead(bytes, next).kind === 'text';
      if (!isText) throw new UnreadableFrame('the frame has a key that is not text');
      next = skipValue(bytes, next, depth + 1);
    }
    next = skipValue(bytes, next, depth + 1);
  }
  return next;
}

const LONGEST = {
  text: FRAME_LIMITS.stringBytes,
  binary: FRAME_LIMITS.binaryBytes,
  list: FRAME_LIMITS.arrayItems,
  map: FRAME_LIMITS.mapEntries,
  scalar: 0,
} as const;

interface Head {
  readonly kind: keyof typeof LONGEST | 'unsupported';
  // Bytes of a text or of binary data, items of a list, or entries of a map.
  readonly length: number;
  // Index after a scalar, a text or binary data; for a list or map, the index of its first item or key.
  readonly end: number;
}

// The type byte and the length after it (MessagePack specification, "Formats").
function readHead(bytes: Uint8Array, at: number): Head {
  const byte = bytes[at] ?? 0;
  const start = at + 1;
  if (byte < 0x80 || byte >= 0xe0) return { kind: 'scalar', length: 0, end: start };
  if (byte < 0x90) return { kind: 'map', length: byte & 0x0f, end: start };
  if (byte < 0xa0) return { kind: 'list', length: byte & 0x0f, end: start };
  if (byte < 0xc0) return { kind: 'text', length: byte & 0x1f, end: start + (byte & 0x1f) };
  const { kind, width } = TYPES.get(byte) ?? { kind: 'unsupported', width: 0 };
  const end = start + width;
  if (kind === 'scalar' || kind === 'unsupported') return { kind, length: 0, end };
  const length = bytes.subarray(start, end).reduce((value, digit) => value * 256 + digit, 0);
  return { kind, length, end: kind === 'text' || kind === 'binary' ? end + length : end };
}

// By type byte, from 0xc0. `width` is the size in bytes of a scalar, or else of the length field.
const TYPES = new Map(
  (
    [
      ['scalar', 0xc0, [0]],
      ['scalar', 0xc2, [0, 0]],
      ['binary', 0xc4, [1, 2, 4]],
      ['scalar', 0xca, [4, 8, 1, 2, 4, 8, 1, 2, 4, 8]],
      ['text', 0xd9, [1, 2, 4]],
      ['list', 0xdc, [2, 4]],
      ['map', 0xde, [2, 4]],
    ] as const
  ).flatMap(([kind, first, widths]) =>
    widths.map((width, index) => [first + index, { kind, width }] as const),
  ),
);
