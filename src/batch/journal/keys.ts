import { createHash, createHmac } from 'node:crypto';
import path from 'node:path';
import type { BilledCallOptions } from '../../api/request.ts';
import { endpoint } from '../../api/request.ts';
import type { EndpointId } from '../../contract/generated/endpoints.ts';
import { sha256 } from '../../durable/checksum.ts';
import { UNSUPPORTED, hasErrno, stateFailure } from '../../durable/file-failures.ts';
import type { System } from '../../system/system.ts';
import {
  removeQuietly,
  syncFile,
  syncFolder,
  writeAll,
  createTemporary,
} from '../../durable/files.ts';
import { ensurePrivateFolder, readOwnText, SMALL_FILE_BYTES } from '../../durable/own-files.ts';
import { Failure } from '../../errors/failure.ts';
import { display } from '../../text/display.ts';
import type { ItemStatus } from './journal.ts';

export interface KeyAbout {
  /**
   * URL of the service, or `embedded` for the embedded service, whose port changes. The name of an account is not used,
   * because the user can rename an account while a batch is unfinished.
   */
  readonly origin: string;
  readonly endpoint: string;
  readonly body: string;
  readonly generation: number;
}

/** Returns the first 128 bits of a request body's SHA-256, in hexadecimal. */
export function bodyDigest(body: Uint8Array): string {
  return sha256(body).slice(0, 32);
}

/** Derives the idempotency key of a request. The same parameters always give the same key. */
export function itemKey(secret: Uint8Array, about: KeyAbout): string {
  const { body, generation, origin } = about;
  const identity = JSON.stringify([origin, about.endpoint, body, generation]);
  const mac = createHmac('sha256', secret).update(identity).digest('base64url');
  return `foley1-${mac.slice(0, 32)}`;
}

/** Derives the idempotency key of a request from the digest of its body and its generation. */
export type KeyOf = (body: string, generation: number) => string;

/** Returns the function that derives the idempotency keys of a batch for its requests to an endpoint. */
export function itemKeys(
  id: EndpointId,
  { folder, origin }: { readonly folder: { readonly secret: Uint8Array }; readonly origin: string },
): KeyOf {
  const { method, target } = endpoint(id);
  return (body, generation) =>
    itemKey(folder.secret, { origin, endpoint: `${method} ${target}`, body, generation });
}

/**
 * Returns the idempotency key of a planned request, and how to replace the key if the service refunded the request: by
 * the key of the next generation.
 * @param record writes the status with the new key to the journal, before the request is sent again
 */
export function renewableKey(
  status: ItemStatus,
  keyOf: KeyOf,
  record: (renewed: ItemStatus) => Promise<void>,
): BilledCallOptions {
  const { about, body } = status;
  const generation = status.generation + 1;
  return {
    idempotencyKey: {
      value: about?.key ?? keyOf(body, status.generation),
      madeByTool: true,
      next: () => keyOf(body, generation),
    },
    async onNewKey(key) {
      const renewed = about && { ...about, key };
      await record({ ...status, generation, state: 'planned', facts: {}, about: renewed });
    },
  };
}

/**
 * Derives the secret of a batch from the value of `--idempotency-namespace`. The secret is the same on every machine.
 */
export function namespaceSecret(namespace: string): Uint8Array {
  return createHash('sha256').update(`foley batch namespace\0${namespace}`).digest();
}

interface SecretPlaces {
  readonly system: System;
  // The folder `.foley` in the output folder; must exist.
  readonly folder: string;
  // Folder for the copy of the secret, inside the state folder; created when needed.
  readonly copyFolder: string;
  readonly temporaries: string;
}

export interface BatchSecret {
  readonly secret: Uint8Array;
  readonly isCopied: boolean;
}

const NAME = 'secret';
const SECRET_BYTES = 32;

/**
 * Returns the secret from which the idempotency keys of a batch are derived. This is the stored secret, else its copy,
 * else a new random secret. Resolves when the secret is on disk.
 * @throws Failure of kind `state` if the secret cannot be stored, or if it is damaged and has no usable copy
 */
export async function openSecret(places: SecretPlaces): Promise<BatchSecret> {
  const file = path.join(places.folder, NAME);
  const copy = path.join(places.copyFolder, NAME);
  try {
    let secret = await readSecret(file, places.system);
    if (secret === undefined || secret === 'damaged') {
      const spare = await readSecret(copy, places.system);
      const isUsable = spare !== undefined && spare !== 'damaged';
      if (secret === 'damaged') {
        if (!isUsable) throw damaged(file);
        return { secret: spare, isCopied: true };
      }
      const chosen = isUsable ? spare : places.system.random.bytes(SECRET_BYTES);
      secret = await store(file, chosen, places.temporaries, places.system);
    }
    return { secret, isCopied: await storeCopy(copy, secret, places.system) };
  } catch (error) {
    throw stateFailure('the batch secret file', file, error);
  }
}

async function readSecret(
  file: string,
  { files }: System,
): Promise<Uint8Array | 'damaged' | undefined> {
  try {
    const text = (await readOwnText(file, SMALL_FILE_BYTES, files)).trim();
    return /^[0-9a-f]{64}$/.test(text) ? Buffer.from(text, 'hex') : 'damaged';
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}

async function store(
  file: string,
  secret: Uint8Array,
  temporaries: string,
  deps: System,
): Promise<Uint8Array> {
  const temporary = await createTemporary(deps, temporaries, 0o600);
  try {
    await writeAll(temporary.file, Buffer.from(`${Buffer.from(secret).toString('hex')}\n`));
    await syncFile(temporary.file);
  } finally {
    await temporary.file.close();
  }
  try {
    await deps.files.link(temporary.path, file);
  } catch (error) {
    if (hasErrno(error, 'EEXIST')) {
      const theirs = await readSecret(file, deps);
      if (theirs === undefined || theirs === 'damaged') throw damaged(file);
      return theirs;
    }
    if (!hasErrno(error, ...UNSUPPORTED, 'EACCES')) throw error;
    await deps.files.rename(temporary.path, file);
  } finally {
    await removeQuietly(deps, temporary.path);
  }
  await syncFolder(deps.files, path.dirname(file));
  return secret;
}

async function storeCopy(copy: string, secret: Uint8Array, deps: System): Promise<boolean> {
  try {
    const stored = await readSecret(copy, deps);
    const isSame = stored instanceof Uint8Array && Buffer.compare(stored, secret) === 0;
    if (isSame) return true;
    await ensurePrivateFolder(path.dirname(copy), deps.files);
    // The secret in the output folder wins: an earlier folder of the same name may have had another secret.
    if (stored !== undefined) await deps.files.unlink(copy);
    await store(copy, secret, path.dirname(copy), deps);
    return true;
  } catch {
    return false;
  }
}

function damaged(file: string): Failure {
  return new Failure(`the batch secret file ${display(file)} is damaged`, {
    code: 'state',
    exit: 'state',
    hint: 'foley needs this file to find out which items were billed. Restore the file from a backup. Or remove the folder of the file to start over; items may then be billed again.',
  });
}
