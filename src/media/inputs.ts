import path from 'node:path';
import type { RegularFile } from '../durable/regular-file.ts';
import { findRegularFile } from '../durable/regular-file.ts';
import type { FileSystem } from '../effects/file-system.ts';
import type { Random } from '../effects/random.ts';
import { usageFailure } from '../errors/failure.ts';
import type { OneTimeServer } from './one-time-server.ts';

/** Addresses that a service can fetch inputs from, in their order. */
export interface InputAddresses {
  readonly urls: readonly string[];
  /** The request that names them is sent again: each may be fetched once more. */
  renew(): void;
  /** Nothing is fetched any more. */
  close(): Promise<void>;
}

interface AddressDeps {
  readonly target: 'embedded' | 'hosted';
  readonly random: Random;
  /** Brings a file to where a hosted service can fetch it; undefined when nothing is set up for that. */
  readonly upload: ((path: string) => Promise<string>) | undefined;
}

/**
 * Gives every input an address: a file is served to the embedded service, which is on this machine, and
 * uploaded for a hosted one.
 * @throws Failure (usage, config)
 */
export async function openAddresses(
  inputs: readonly MediaInput[],
  deps: AddressDeps,
): Promise<InputAddresses> {
  const isLocal = deps.target === 'embedded' && inputs.some(({ kind }) => kind === 'file');
  if (!isLocal) {
    const urls: string[] = [];
    for (const input of inputs) urls.push(await addressOf(input, deps));
    return { urls, renew: () => {}, close: async () => {} };
  }
  const { startOneTimeServer } = await import('./one-time-server.ts');
  return served(inputs, await startOneTimeServer(deps.random));
}

function served(inputs: readonly MediaInput[], server: OneTimeServer): InputAddresses {
  return {
    urls: inputs.map((input) => (input.kind === 'file' ? server.share(input.file) : input.given)),
    renew: () => server.renew(),
    close: () => server.close(),
  };
}

async function addressOf(input: MediaInput, { upload }: AddressDeps): Promise<string> {
  if (input.kind === 'address') return input.given;
  if (upload !== undefined) return upload(input.path);
  throw usageFailure(
    `"${input.given}" is a file, which a hosted service cannot fetch`,
    'Give a URL that it can reach, or set up a command that uploads a file and prints its URL: ' +
      'foley config set upload.command COMMAND',
  );
}

/** A video, a sound or a picture that the service is to fetch. */
export type MediaInput =
  | { readonly kind: 'address'; readonly given: string }
  | {
      readonly kind: 'file';
      readonly given: string;
      /** Absolute. */
      readonly path: string;
      readonly file: RegularFile;
    };

/**
 * What a person gave as a URL or a FILE, checked before anything is sent.
 * @param flag the flag or argument that names it, for messages
 * @throws Failure (usage) for an address that is not one of the web, and a file that cannot be read again
 */
export async function readMediaInput(
  given: string,
  flag: string,
  { cwd, files }: { readonly cwd: () => string; readonly files: FileSystem },
): Promise<MediaInput> {
  if (given.trim() === '') throw usageFailure(`${flag} is empty`, 'Give a URL or a file.');
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(given)) return readAddress(given, flag);
  const shown = `${flag} "${given}"`;
  const file = await findRegularFile(given, shown, files);
  if (file === undefined) {
    throw usageFailure(
      `${shown} is not a regular file, and may have to be read more than once`,
      'Save it to a file first.',
    );
  }
  if (file.byteLength === 0) throw usageFailure(`${shown} is empty`);
  return { kind: 'file', given, path: path.resolve(cwd(), given), file };
}

function readAddress(given: string, flag: string): MediaInput {
  const isOfTheWeb = /^https?:\/\//i.test(given) && URL.canParse(given);
  if (isOfTheWeb) return { kind: 'address', given };
  throw usageFailure(
    `${flag} is "${given}"; it takes an http or https URL, or a file`,
    'Name a file by its path.',
  );
}
