import { usageFailure } from '../errors/failure.ts';
import type { Random } from '../effects/random.ts';
import type { MediaInput } from './media-input.ts';
import type { OneTimeServer } from './one-time-server.ts';

/** Addresses that a service can fetch inputs from, in their order. */
export interface InputAddresses {
  readonly urls: readonly string[];
  /** The request that names them is sent again: each may be fetched once more. */
  renew(): void;
  /** Nothing is fetched any more. */
  close(): Promise<void>;
}

export interface AddressDeps {
  readonly target: 'embedded' | 'hosted';
  readonly random: Random;
  /** Brings a file to where a hosted service can fetch it; undefined when nothing is set up for that. */
  readonly upload: ((path: string) => Promise<string>) | undefined;
}

/**
 * Gives every input an address: a file is served to the embedded service, which is on this machine, and
 * uploaded for a hosted one (contract, section 8).
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
