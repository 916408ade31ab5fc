import { createHash, createHmac } from 'node:crypto';
import { sha256 } from '../../files/sha256.ts';

/** What an idempotency key stands for: one purchase of one text with its voice, model, format and controls. */
export interface KeyAbout {
  /**
   * Of the service; `embedded` for that of this machine, whose port changes. Of accounts nothing is in it: the
   * service keeps their keys apart, and what an account is called here may change while something is open.
   */
  readonly origin: string;
  /** Method and path. */
  readonly endpoint: string;
  /** SHA-256 of the body that is sent, as {@link bodyDigest} shortens it. */
  readonly body: string;
  /** Counts the times that it was bought on purpose, from 0. */
  readonly generation: number;
}

/** 128 bits of the SHA-256 of a request's body, in hexadecimal. */
export function bodyDigest(body: Uint8Array): string {
  return sha256(body).slice(0, 32);
}

/**
 * Derives the idempotency key of a purchase from its content alone: with the secret it is found again without
 * a journal and under any id, and nobody else can guess it.
 */
export function itemKey(secret: Uint8Array, about: KeyAbout): string {
  const { body, endpoint, generation, origin } = about;
  const identity = JSON.stringify([origin, endpoint, body, generation]);
  const mac = createHmac('sha256', secret).update(identity).digest('base64url');
  return `foley1-${mac.slice(0, 32)}`;
}

/** The secret of `--idempotency-namespace`: the same on every machine that is told the same word. */
export function namespaceSecret(namespace: string): Uint8Array {
  return createHash('sha256').update(`foley batch namespace\0${namespace}`).digest();
}
