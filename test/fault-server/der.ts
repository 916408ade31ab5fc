/** The little of ASN.1's DER encoding that a certificate needs. */

export function sequence(...parts: Buffer[]): Buffer {
  return element(0x30, Buffer.concat(parts));
}

export function set(...parts: Buffer[]): Buffer {
  return element(0x31, Buffer.concat(parts));
}

/** A positive integer, from its bytes. */
export function integer(bytes: Buffer): Buffer {
  const [first = 0] = bytes;
  return element(0x02, first >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes);
}

export function boolean(value: boolean): Buffer {
  return element(0x01, Buffer.from([value ? 0xff : 0]));
}

/** An object identifier such as `2.5.4.3`. */
export function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return element(0x06, Buffer.from([first * 40 + second, ...rest.flatMap((arc) => base128(arc))]));
}

export function text(value: string): Buffer {
  return element(0x0c, Buffer.from(value));
}

/** Seconds precision, for the years up to 2049. */
export function time(value: Date): Buffer {
  const digits = value.toISOString().replaceAll(/[-:T]/g, '').slice(2, 14);
  return element(0x17, Buffer.from(`${digits}Z`));
}

export function bitString(bytes: Buffer): Buffer {
  return element(0x03, Buffer.concat([Buffer.from([0]), bytes]));
}

export function octetString(bytes: Buffer): Buffer {
  return element(0x04, bytes);
}

/** A tag of its context: `[number]`. */
export function tagged(number: number, bytes: Buffer, isConstructed: boolean): Buffer {
  return element((isConstructed ? 0xa0 : 0x80) | number, bytes);
}

function element(tag: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([tag, ...length(content.length)]), content]);
}

function length(count: number): number[] {
  if (count < 0x80) {
    return [count];
  }
  return count < 0x100 ? [0x81, count] : [0x82, count >> 8, count & 0xff];
}

function base128(arc: number): number[] {
  const high = arc >> 7;
  return high === 0 ? [arc & 0x7f] : [...base128(high).map((byte) => byte | 0x80), arc & 0x7f];
}
