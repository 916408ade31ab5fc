import { FRAME_LIMITS } from '../contract/realtime/limits.ts';
import { HeadReader } from './head-reader.ts';

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
export function checkFrame(bytes: Uint8Array): void {
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
