/** A box of an MP4 file (ISO/IEC 14496-12), without its head. */
export interface Box {
  readonly type: string;
  readonly body: Buffer;
}

export const BOX_HEAD_BYTES = 8;

/** Returns the boxes in a box. Their lengths have 32 bits. */
export function boxesIn(bytes: Buffer): readonly Box[] {
  const boxes: Box[] = [];
  for (let at = 0; at + BOX_HEAD_BYTES <= bytes.length; at += bytes.readUInt32BE(at)) {
    const type = bytes.toString('latin1', at + 4, at + BOX_HEAD_BYTES);
    boxes.push({ type, body: bytes.subarray(at + BOX_HEAD_BYTES, at + bytes.readUInt32BE(at)) });
  }
  return boxes;
}

/** Returns a box with its head. */
export function box(type: string, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([u32(BOX_HEAD_BYTES + body.length), Buffer.from(type, 'latin1'), body]);
}

/** Returns the head of a box whose length has 64 bits. */
export function largeBoxHead(type: string, boxBytes: number): Buffer {
  return Buffer.concat([u32(1), Buffer.from(type, 'latin1'), u64(boxBytes)]);
}

export function u16(...values: readonly number[]): Buffer {
  return Buffer.from(Uint16Array.from(values).buffer).swap16();
}

export function u32(...values: readonly number[]): Buffer {
  return u32Array(values);
}

/** Like `u32`, for lists that are too long for arguments. */
export function u32Array(values: readonly number[]): Buffer {
  return Buffer.from(Uint32Array.from(values).buffer).swap32();
}

export function u64(value: number): Buffer {
  return u32(Math.floor(value / 2 ** 32), value % 2 ** 32);
}
