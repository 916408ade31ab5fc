import type { Random } from '../../effects/random.ts';
import { sha256 } from '../../files/sha256.ts';

/**
 * The keys under which the parts are asked for. Made from the person's own, they are the same each time, so
 * that the same command again is billed for nothing twice; otherwise random.
 */
export function partKeys(
  count: number,
  own: string | undefined,
  random: Pick<Random, 'uuid'>,
): readonly string[] {
  return Array.from({ length: count }, (_, index) =>
    own === undefined ? random.uuid() : ownPartKey(own, index),
  );
}

/**
 * The key under which a part is asked for after a job failed or was lost under `key`. It follows from that, so
 * that it is the same one when the journal that says so is damaged.
 */
export function nextPartKey(key: string | undefined, random: Pick<Random, 'uuid'>): string {
  return key === undefined ? random.uuid() : sha256(`${key}\nagain`);
}

/** The id of one part under an id that the person chose, no longer than any id may be. */
export function ownPartKey(own: string, index: number): string {
  return sha256(`${own}\n${index}`);
}
