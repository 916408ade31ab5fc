import { createHash, createHmac } from 'node:crypto';
import path from 'node:path';
import { sha256 } from '../../durable/checksum.ts';
import { UNSUPPORTED, hasErrno, stateFailure } from '../../durable/file-failures.ts';
import type { FileDeps } from '../../durable/files.ts';
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

export interface SecretPlaces extends FileDeps {
  /** With the outputs: `.foley`, which is there. */
  readonly folder: string;
  /** In the state folder; made when it is needed. */
  readonly copyFolder: string;
  /** On the disk of `folder`, swept when its process is gone. */
  readonly temporaries: string;
}

export interface BatchSecret {
  readonly secret: Uint8Array;
  /** Whether there is a second one, for the day on which somebody removes the first. */
  readonly isCopied: boolean;
}

const NAME = 'secret';
const SECRET_BYTES = 32;

/**
 * The secret from which the keys of a folder's items are derived: the one that lies with the outputs, else
 * its copy, else a new one. It is on the disk when this resolves; of two that begin at once, one wins.
 * @throws Failure (state) when it cannot be kept, or is damaged and has no copy
 */
export async function openSecret(places: SecretPlaces): Promise<BatchSecret> {
  const file = path.join(places.folder, NAME);
  const copy = path.join(places.copyFolder, NAME);
  try {
    const there = await readSecret(file, places);
    const known =
      there === undefined || there.isDamaged ? await readSecret(copy, places) : undefined;
    const spare = known?.isDamaged === false ? known.secret : undefined;
    if (there?.isDamaged === true) {
      if (spare === undefined) throw damaged(file);
      return { secret: spare, isCopied: true };
    }
    const secret =
      there?.secret ?? (await keep(file, spare ?? newSecret(places), places.temporaries, places));
    return { secret, isCopied: await keepCopy(copy, secret, places) };
  } catch (error) {
    throw stateFailure('the secret of this batch', file, error);
  }
}

interface ReadSecret {
  readonly secret: Uint8Array;
  readonly isDamaged: boolean;
}

function newSecret({ random }: FileDeps): Uint8Array {
  return random.bytes(SECRET_BYTES);
}

/** Undefined when there is none. */
async function readSecret(file: string, { files }: FileDeps): Promise<ReadSecret | undefined> {
  try {
    const text = (await readOwnText(file, SMALL_FILE_BYTES, files)).trim();
    const isDamaged = !/^[0-9a-f]{64}$/.test(text);
    return { secret: Buffer.from(text, 'hex'), isDamaged };
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR')) return undefined;
    throw error;
  }
}

/** Gives the file the secret unless it has one by now, and says which it has. */
async function keep(
  file: string,
  secret: Uint8Array,
  temporaries: string,
  deps: FileDeps,
): Promise<Uint8Array> {
  const temporary = await createTemporary(temporaries, deps, 0o600);
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
      if (theirs === undefined || theirs.isDamaged) throw damaged(file);
      return theirs.secret;
    }
    if (!hasErrno(error, ...UNSUPPORTED, 'EACCES')) throw error;
    await deps.files.rename(temporary.path, file);
  } finally {
    await removeQuietly(temporary.path, deps);
  }
  await syncFolder(deps.files, path.dirname(file));
  return secret;
}

/** A copy that cannot be kept takes nothing away from the batch. */
async function keepCopy(copy: string, secret: Uint8Array, deps: FileDeps): Promise<boolean> {
  try {
    const there = await readSecret(copy, deps);
    if (there !== undefined && Buffer.compare(there.secret, secret) === 0) return true;
    await ensurePrivateFolder(path.dirname(copy), deps.files);
    // The outputs' own secret counts: a folder of the same name may have been another one.
    if (there !== undefined) await deps.files.unlink(copy);
    await keep(copy, secret, path.dirname(copy), deps);
    return true;
  } catch {
    return false;
  }
}

function damaged(file: string): Failure {
  return new Failure(`the secret of this batch at ${display(file)} is damaged`, {
    code: 'state',
    exit: 'state',
    hint: 'Without it foley cannot know what was paid for. Bring the file back from a backup, or remove the folder it is in to begin anew, which may cost again.',
  });
}
