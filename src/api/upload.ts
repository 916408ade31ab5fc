import { Readable } from 'node:stream';
import type { Failure } from '../errors/failure.ts';
import { usageFailure } from '../errors/failure.ts';
import type { StreamedBody } from './request.ts';
import { TransportError } from './transport-error.ts';

/** A body on its way. */
export interface Upload {
  readonly bytes: Readable;
  /** Why it could not be read to its end; the connection is given up for it. */
  readonly failure: unknown;
  /** What went wrong with the request, told with what is known of the body. */
  explain(error: unknown): unknown;
}

/**
 * Opens a body for one attempt; it is read as fast as the connection takes it.
 * @param onTaken told when the connection has taken another piece
 */
export function startUpload(body: StreamedBody, onTaken: () => void = ignore): Upload {
  let failure: unknown;
  let isWhole = body.byteLength === 0;
  async function* counted(): AsyncGenerator<Uint8Array, void, undefined> {
    let sent = 0;
    try {
      for await (const chunk of body.open()) {
        sent += chunk.length;
        if (sent > body.byteLength) throw changed();
        // Until its last piece was asked for, the service cannot have the whole of it.
        isWhole = sent === body.byteLength;
        yield chunk;
        onTaken();
      }
      if (sent < body.byteLength) throw changed();
    } catch (error) {
      failure = error;
      throw error;
    }
  }
  return {
    bytes: Readable.from(counted(), { objectMode: false }),
    get failure() {
      return failure;
    },
    // What could not be read explains more than the connection that broke for it.
    explain: (error) => failure ?? (isWhole ? error : cutUpload(error)),
  };
}

function ignore(): void {}

/** A request that never came whole to the service was not done. */
function cutUpload(error: unknown): unknown {
  if (!(error instanceof TransportError)) return error;
  const { fault, host } = error;
  if (fault === 'reset') return new TransportError('upload_reset', host, error.cause);
  if (fault === 'timeout') return new TransportError('upload_timeout', host, error.cause);
  return error;
}

/** Its length was announced; what is shorter or longer would be taken for something else. */
function changed(): Failure {
  return usageFailure(
    'a file changed while it was sent, so that it was not sent whole',
    'Run the command again when nothing writes to it.',
  );
}
