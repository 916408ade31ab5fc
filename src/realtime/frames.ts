import { Decoder, encode } from '@msgpack/msgpack';
import { renameFields, v2FieldName, v3FieldName } from '../contract/realtime/protocols.ts';
import type { RealtimeProtocol } from '../contract/realtime/protocols.ts';
import { FRAME_LIMITS } from '../contract/realtime/limits.ts';

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
 * Reads the message of a binary frame (docs/api/realtime.md): a map of MessagePack with an `event`. The names
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

/** Why a frame is not read; the message says what is wrong with it. */
export class UnreadableFrame extends Error {
  override readonly name = 'UnreadableFrame';
}

/** The levels of a frame that are open: how many values each still has, and which are maps. */
interface Level {
  left: number;
  readonly isMap: boolean;
}

/**
 * Walks over a frame of MessagePack without building anything: one map with text for names, nothing
 * behind it, no extension types, and within `FRAME_LIMITS`. A decoder makes room for what a length
 * claims, and goes as deep as it is told; after this, what a frame can cost is bounded by its size.
 * @throws UnreadableFrame
 */
function checkFrame(bytes: Uint8Array): void {
  if (bytes.length > FRAME_LIMITS.frameBytes) throw new UnreadableFrame('it is too large');
  const reader = new HeadReader(bytes);
  const levels: Level[] = [];
  let level: Level = { left: 1, isMap: false };
  for (;;) {
    while (level.left === 0) {
      const outer = levels.pop();
      if (outer === undefined) return expectEnd(reader, bytes);
      level = outer;
    }
    const isName = level.isMap && level.left % 2 === 0;
    level.left -= 1;
    reader.next();
    if (isName && reader.kind !== 'text') throw new UnreadableFrame('a name in it is no text');
    if (levels.length === 0 && reader.kind !== 'map') throw new UnreadableFrame('it is no map');
    checkLength(reader, bytes);
    if (reader.kind === 'map' || reader.kind === 'list') {
      if (levels.length >= FRAME_LIMITS.depth) throw new UnreadableFrame('it is too deep');
      levels.push(level);
      const isMap = reader.kind === 'map';
      level = { left: isMap ? reader.length * 2 : reader.length, isMap };
    }
  }
}

function expectEnd(reader: HeadReader, bytes: Uint8Array): void {
  if (reader.at !== bytes.length) throw new UnreadableFrame('something comes behind the message');
}

const LONGEST = {
  text: FRAME_LIMITS.stringBytes,
  bytes: FRAME_LIMITS.binaryBytes,
  list: FRAME_LIMITS.arrayItems,
  map: FRAME_LIMITS.mapEntries,
  value: Infinity,
} as const;

function checkLength({ kind, length, at }: HeadReader, bytes: Uint8Array): void {
  if (kind === 'foreign') throw new UnreadableFrame('it has a type that is not allowed');
  if (length > LONGEST[kind]) throw new UnreadableFrame(`too long: its ${kind}`);
  if (at > bytes.length) throw new UnreadableFrame('it ends too early');
}

/** What a value of MessagePack is: `foreign` are extension types and the byte that is never used. */
type ValueKind = 'text' | 'bytes' | 'list' | 'map' | 'value' | 'foreign';

/** Kind and width of the length, for the heads from 0xc0 on; a negative width is that of the value itself. */
const HEADS: readonly (readonly [ValueKind, number])[] = [
  ...fill(0xc0, 0xc0, 'value', 0),
  ...fill(0xc1, 0xc1, 'foreign', 0),
  ...fill(0xc2, 0xc3, 'value', 0),
  ['bytes', 1],
  ['bytes', 2],
  ['bytes', 4],
  ...fill(0xc7, 0xc9, 'foreign', 0),
  ['value', -4],
  ['value', -8],
  ['value', -1],
  ['value', -2],
  ['value', -4],
  ['value', -8],
  ['value', -1],
  ['value', -2],
  ['value', -4],
  ['value', -8],
  ...fill(0xd4, 0xd8, 'foreign', 0),
  ['text', 1],
  ['text', 2],
  ['text', 4],
  ['list', 2],
  ['list', 4],
  ['map', 2],
  ['map', 4],
];

/** Goes from the head of one value to the head of the next, and over what lies between. */
class HeadReader {
  kind: ValueKind = 'value';
  /** Bytes of a text or of bytes; items of a list; entries of a map. */
  length = 0;
  /** Where the next head is: beyond the end when the frame is too short. */
  at = 0;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  next(): void {
    const head = this.#bytes[this.at];
    this.at += 1;
    if (head === undefined || head < 0x80 || head >= 0xe0) return this.#take('value', 0);
    if (head < 0x90) return this.#take('map', head & 0x0f);
    if (head < 0xa0) return this.#take('list', head & 0x0f);
    if (head < 0xc0) return this.#take('text', head & 0x1f);
    const [kind, width] = HEADS[head - 0xc0] ?? (['foreign', 0] as const);
    if (width > 0) return this.#take(kind, this.#number(width));
    this.at -= width;
    this.#take(kind, 0);
  }

  #take(kind: ValueKind, length: number): void {
    this.kind = kind;
    this.length = length;
    if (kind === 'text' || kind === 'bytes') this.at += length;
  }

  #number(width: number): number {
    let value = 0;
    for (let count = 0; count < width; count += 1) {
      value = value * 256 + (this.#bytes[this.at] ?? 0);
      this.at += 1;
    }
    return value;
  }
}

function fill(from: number, to: number, kind: ValueKind, width: number) {
  return Array.from({ length: to - from + 1 }, () => [kind, width] as const);
}
