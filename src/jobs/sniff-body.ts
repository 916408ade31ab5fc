import type { SniffedFormat } from '../audio/sniff.ts';
import { SNIFF_BYTES_MAX, sniff } from '../audio/sniff.ts';

/** A body of which it was found out what it is, and the whole body again. */
export interface SniffedBody {
  /** Undefined for what is none of the known kinds. */
  readonly sniffed: SniffedFormat | undefined;
  readonly body: AsyncIterable<Uint8Array>;
}

/** What a body is, by its first bytes; no more of it is read than that takes. */
export async function sniffBody(body: AsyncIterable<Uint8Array>): Promise<SniffedBody> {
  const rest = body[Symbol.asyncIterator]();
  let leading = new Uint8Array();
  let found = sniff(leading);
  while (found.kind === 'more' && leading.length < SNIFF_BYTES_MAX) {
    const next = await rest.next();
    if (next.done === true) break;
    leading = new Uint8Array(Buffer.concat([leading, next.value]));
    found = sniff(leading);
  }
  return {
    sniffed: found.kind === 'known' ? found.format : undefined,
    body: {
      async *[Symbol.asyncIterator]() {
        if (leading.length > 0) yield leading;
        yield* { [Symbol.asyncIterator]: () => rest };
      },
    },
  };
}
