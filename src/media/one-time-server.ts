import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import { pipeline } from 'node:stream';
import { Readable } from 'node:stream';
import type { Random } from '../effects/random.ts';
import type { RegularFile } from '../durable/regular-file.ts';

/** So many random bytes are in an address that nobody else is to guess. */
const SECRET_BYTES = 24;

/** Files on this machine that a service on this machine may fetch, each once. */
export interface OneTimeServer {
  /** The address of a file. */
  share(file: RegularFile): string;
  /** Each may be fetched once more: the request that names them is sent again. */
  renew(): void;
  /** Ends every connection. */
  close(): Promise<void>;
}

interface Shared {
  readonly file: RegularFile;
  isLeft: boolean;
}

/** Serves files on a free port of loopback, under random addresses, until it is closed. */
export async function startOneTimeServer(random: Random): Promise<OneTimeServer> {
  const shared = new Map<string, Shared>();
  let origin = '';
  const server = createServer((request, response) => {
    const found = shared.get(request.url ?? '');
    // A page that a browser shows may ask under a name of its own for this address.
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
    share(file) {
      const path = `/${Buffer.from(random.bytes(SECRET_BYTES)).toString('base64url')}`;
      shared.set(path, { file, isLeft: true });
      return origin + path;
    },
    renew() {
      for (const one of shared.values()) one.isLeft = true;
    },
    close: () =>
      new Promise((resolve) => {
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
  // A file that cannot be read to its end breaks the answer off, which says so.
  pipeline(Readable.from(file.open()), response, () => response.destroy());
}
