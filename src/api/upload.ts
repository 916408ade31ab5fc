import { Readable } from 'node:stream';
import type { Failure } from '../errors/failure.ts';
import { usageFailure } from '../errors/failure.ts';
import type { StreamedBody } from './request.ts';

/** A body on its way. */
export interface Upload {
  readonly bytes: Readable;
  /** Why it could not be read to its end; the connection is given up for it. */
  readonly failure: unknown;
}

/** Opens a body for one attempt; it is read as fast as the connection takes it. */
export function startUpload(body: StreamedBody): Upload {
  let failure: unknown;
  async function* counted(): AsyncGenerator<Uint8Array, void, undefined> {
    let sent = 0;
    try {
      for await (const chunk of body.open()) {
        sent += chunk.length;
        if (sent > body.byteLength) throw changed();
        yield chunk;
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
  };
}

/** Its length was announced; what is shorter or longer would be taken for something else. */
function changed(): Failure {
  return usageFailure(
    'a file changed while it was sent, so that it was not sent whole',
    'Run the command again when nothing writes to it.',
  );
}
