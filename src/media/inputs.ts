import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import path from 'node:path';
import { pipeline, Readable } from 'node:stream';
import type { RegularFile } from '../durable/regular-file.ts';
import { findRegularFile } from '../durable/regular-file.ts';
import type { Random } from '../system/random.ts';
import type { Failure } from '../errors/failure.ts';
import { usageFailure } from '../errors/failure.ts';
import type { System } from '../system/system.ts';

export interface InputAddresses {
  /** URLs from which the service can download the inputs; one URL for each input, in the same order. */
  readonly urls: readonly string[];
  /** Allows the service to download each local file once more. Called before a request is retried. */
  renew(): void;
  close(): Promise<void>;
}

interface AddressDeps {
  readonly target: 'embedded' | 'hosted';
  readonly random: Random;
  readonly upload: ((path: string) => Promise<string>) | undefined;
}

/**
 * Returns the URLs from which the service can download the inputs. For the embedded service, serves local files from a
 * loopback port. For a hosted service, uploads local files with the user's upload command.
 * @throws Failure of kind `usage` or `config`
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
  const server = await startOneTimeServer(deps.random);
  return {
    urls: inputs.map((input) => (input.kind === 'file' ? server.share(input.file) : input.given)),
    renew: () => server.renew(),
    close: () => server.close(),
  };
}

async function addressOf(input: MediaInput, { upload }: AddressDeps): Promise<string> {
  if (input.kind === 'address') return input.given;
  if (upload !== undefined) return upload(input.path);
  throw notFetchable(input);
}

/** Returns the failure for a local file that a hosted service cannot download, because there is no upload command. */
export function notFetchable(input: MediaInput): Failure {
  return usageFailure(
    `"${input.given}" is a local file, which a hosted service cannot fetch`,
    'Give a public URL, or set a command that uploads a file and prints its URL: ' +
      'foley config set upload.command COMMAND',
  );
}

/** An input video, audio file or image, given as a URL or a local file. The service downloads it. */
export type MediaInput =
  | { readonly kind: 'address'; readonly given: string }
  | {
      readonly kind: 'file';
      readonly given: string;
      /** The absolute path of the file. */
      readonly path: string;
      readonly file: RegularFile;
    };

/**
 * Parses a command-line argument that is a URL or a local file, and checks it. Sends no request.
 * @param flag name of the flag or argument, for error messages
 * @throws Failure of kind `usage` for an unsupported URL, an empty file, or a file that can be read only once, such as
 * a pipe
 */
export async function readMediaInput(
  given: string,
  flag: string,
  { cwd, system }: { readonly cwd: () => string; readonly system: System },
): Promise<MediaInput> {
  if (given.trim() === '') throw usageFailure(`${flag} is empty`, 'Give a URL or a file.');
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(given)) return readAddress(given, flag);
  const shown = `${flag} "${given}"`;
  const file = await findRegularFile(given, shown, system.files);
  if (file === undefined) {
    throw usageFailure(
      `${shown} is not a regular file`,
      'Save the data to a file first: foley may read it more than once.',
    );
  }
  if (file.byteLength === 0) throw usageFailure(`${shown} is empty`, 'Give a file with content.');
  return { kind: 'file', given, path: path.resolve(cwd(), given), file };
}

function readAddress(given: string, flag: string): MediaInput {
  const isOfTheWeb = /^https?:\/\//i.test(given) && URL.canParse(given);
  if (isOfTheWeb) return { kind: 'address', given };
  throw usageFailure(
    `${flag} "${given}" is neither an http or https URL nor a file`,
    'Give a URL, or the path of a file.',
  );
}

// Nobody can guess a URL with this many random bytes.
const SECRET_BYTES = 24;

/**
 * Starts a server on a free loopback port that serves files at random paths. Each file can be downloaded once, and once
 * more after each call of `renew`.
 */
export async function startOneTimeServer(random: Random) {
  const shared = new Map<string, { readonly file: RegularFile; isLeft: boolean }>();
  let origin = '';
  const server = createServer((request, response) => {
    const found = shared.get(request.url ?? '');
    // The Host header is checked to prevent DNS rebinding attacks by web pages.
    const isForUs = `http://${request.headers.host ?? ''}` === origin && request.method === 'GET';
    if (!isForUs || found?.isLeft !== true) return refuse(response);
    found.isLeft = false;
    return answer(found.file, request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const place = server.address();
  origin = `http://127.0.0.1:${typeof place === 'object' && place !== null ? place.port : 0}`;
  return {
    share(file: RegularFile): string {
      const target = `/${Buffer.from(random.bytes(SECRET_BYTES)).toString('base64url')}`;
      shared.set(target, { file, isLeft: true });
      return origin + target;
    },
    renew() {
      for (const one of shared.values()) one.isLeft = true;
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function refuse(response: ServerResponse): void {
  response.writeHead(404, { connection: 'close' }).end();
}

function answer(file: RegularFile, request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  response.writeHead(200, {
    'content-type': 'application/octet-stream',
    'content-length': file.byteLength,
    'cache-control': 'no-store',
    connection: 'close',
  });
  // If reading fails, the connection is closed, so that the service notices the incomplete file.
  pipeline(Readable.from(file.open()), response, () => response.destroy());
}
