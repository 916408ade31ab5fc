import type { Duplex } from 'node:stream';

/** The opcodes of RFC 6455. */
export const OPCODES = {
  continuation: 0,
  text: 1,
  binary: 2,
  close: 8,
  ping: 9,
  pong: 10,
} as const;

interface FrameOptions {
  readonly opcode?: number;
  /** The last frame of its message; true without it. */
  readonly isFinal?: boolean;
  /** Clients must mask. The key is zero, so that the payload stays readable. */
  readonly isMasked?: boolean;
  /** A wrong payload length for the header. */
  readonly claimedLength?: number;
}

/** Encodes a frame of RFC 6455; the options may make it invalid. */
export function encodeFrame(payload: Uint8Array, options: FrameOptions = {}): Buffer {
  const { opcode = OPCODES.binary, isFinal = true, isMasked = false } = options;
  const length = options.claimedLength ?? payload.byteLength;
  const mask = isMasked ? 0x80 : 0;
  const start = Buffer.of((isFinal ? 0x80 : 0) | opcode, mask | lengthCode(length));
  const key = Buffer.alloc(isMasked ? 4 : 0);
  return Buffer.concat([start, lengthBytes(length), key, payload]);
}

/** Encodes empty fragments of a message that does not end. */
export function emptyFragments(count: number, isMasked: boolean): Buffer {
  const nothing = Buffer.alloc(0);
  const first = encodeFrame(nothing, { isFinal: false, isMasked });
  const next = encodeFrame(nothing, { opcode: OPCODES.continuation, isFinal: false, isMasked });
  return Buffer.concat([first, ...Array.from({ length: count - 1 }, () => next)]);
}

/** Encodes a message in fragments of at most `size` bytes. */
export function fragmented(payload: Uint8Array, size: number, isMasked: boolean): Buffer {
  const starts = Array.from({ length: Math.ceil(payload.byteLength / size) }, (_, n) => n * size);
  const frames = starts.map((start) =>
    encodeFrame(payload.subarray(start, start + size), {
      opcode: start === 0 ? OPCODES.binary : OPCODES.continuation,
      isFinal: start + size >= payload.byteLength,
      isMasked,
    }),
  );
  return Buffer.concat(frames);
}

const CHUNK = Buffer.alloc(65_536);

/**
 * Writes a frame of zeros as fast as the other side reads, without holding it in memory.
 * @returns whether the other side stayed connected
 */
export async function writeGiantFrame(
  socket: Duplex,
  length: number,
  isMasked: boolean,
): Promise<boolean> {
  let isOpen = await written(
    socket,
    encodeFrame(CHUNK.subarray(0, 0), { claimedLength: length, isMasked }),
  );
  for (let left = length; left > 0 && isOpen; left -= CHUNK.byteLength) {
    isOpen = await written(socket, CHUNK.subarray(0, Math.min(left, CHUNK.byteLength)));
  }
  return isOpen;
}

/** Resolves to whether the socket took the bytes before it ended. */
export async function written(socket: Duplex, bytes: Uint8Array): Promise<boolean> {
  return new Promise((resolve) => {
    if (socket.destroyed || !socket.writable) {
      resolve(false);
      return;
    }
    socket.once('close', () => resolve(false));
    socket.write(bytes, (error) => resolve(!(error instanceof Error)));
    socket.setMaxListeners(0);
  });
}

function lengthCode(length: number): number {
  return length < 126 ? length : length < 65_536 ? 126 : 127;
}

function lengthBytes(length: number): Buffer {
  if (length < 126) {
    return Buffer.alloc(0);
  }
  const bytes = Buffer.alloc(length < 65_536 ? 2 : 8);
  if (length < 65_536) {
    bytes.writeUInt16BE(length);
  } else {
    bytes.writeBigUInt64BE(BigInt(length));
  }
  return bytes;
}
