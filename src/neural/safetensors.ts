/** A tensor in a safetensors file. */
export interface Tensor {
  readonly shape: readonly number[];
  readonly isFloat: boolean;
  /** Position of its first byte in `Tensors.bytes`. */
  readonly offset: number;
}

export interface Tensors {
  readonly byName: ReadonlyMap<string, Tensor>;
  /** The texts that the file has beside its tensors, by name. */
  readonly metadata: ReadonlyMap<string, string>;
  readonly bytes: Uint8Array;
}

const LENGTH_BYTES = 8;

/**
 * Reads a file in the format safetensors: the length of the header, the header in JSON, and the numbers. Supports floats
 * of 32 bits and integers of 8 bits.
 * @throws TypeError when the file has another format
 */
export function readSafetensors(file: Uint8Array): Tensors {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const headerEnd = LENGTH_BYTES + Number(view.getBigUint64(0, true));
  const text = new TextDecoder().decode(file.subarray(LENGTH_BYTES, headerEnd));
  const header: unknown = JSON.parse(text);
  if (typeof header !== 'object' || header === null) throw new TypeError('No safetensors header.');
  const byName = new Map<string, Tensor>();
  const metadata = new Map<string, string>();
  for (const [name, entry] of Object.entries(header)) {
    if (name !== '__metadata__') byName.set(name, tensorOf(name, entry));
    else for (const [key, value] of Object.entries(entry)) metadata.set(key, String(value));
  }
  return { byName, metadata, bytes: file.subarray(headerEnd) };
}

function tensorOf(name: string, entry: unknown): Tensor {
  if (!isEntry(entry) || (entry.dtype !== 'F32' && entry.dtype !== 'I8')) {
    throw new TypeError(`The tensor ${name} has an unsupported type.`);
  }
  return { shape: entry.shape, isFloat: entry.dtype === 'F32', offset: entry.data_offsets[0] };
}

function isEntry(entry: unknown): entry is {
  readonly dtype: unknown;
  readonly shape: readonly number[];
  readonly data_offsets: readonly [number, number];
} {
  if (typeof entry !== 'object' || entry === null) return false;
  return (
    'dtype' in entry &&
    'shape' in entry &&
    'data_offsets' in entry &&
    Array.isArray(entry.shape) &&
    Array.isArray(entry.data_offsets)
  );
}
