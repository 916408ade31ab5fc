import path from 'node:path';
import type { ApiClient } from '../api/client.ts';
import { IntentJournal } from '../paid/intents.ts';
import type { Spool } from '../durable/spool.ts';
import { createSpool } from '../durable/spool.ts';
import { system } from '../system/system.ts';
import type { Correction } from '../audio/reader.ts';
import type { RequestRecorder } from '../paid/billed-request.ts';
import { publicError } from './call.ts';
import type { ClientOptions } from './client-types.ts';

/** An API client, with the options of `createClient`. */
export interface ClientSession {
  readonly api: ApiClient;
  readonly options: ClientOptions;
  /** Aborted when the client is closed. */
  readonly closed: AbortSignal;
}

/** The journal that records a billed call, and the spool that saves audio that cannot be delivered. */
export interface BilledTools {
  readonly journal: RequestRecorder;
  readonly spool: () => Promise<Spool>;
  readonly notice: (line: string) => void;
}

/** Runs a library call that sends no billed request. Converts a Failure to a `FoleyError`. @throws {FoleyError} */
export async function runFree<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw publicError(error);
  }
}

/**
 * Runs a library call that sends a billed request. Records the request if the client has a journal folder.
 * @throws {FoleyError} if the call fails; contains the idempotency key of the last billed request
 */
export async function runBilled<T>(
  { options: { journal: folder } }: ClientSession,
  work: (tools: BilledTools) => Promise<T>,
): Promise<T> {
  let key: string | undefined;
  const journal =
    folder === undefined ? undefined : new IntentJournal(system, path.join(folder, 'journal'));
  const recorder = journal ?? RECORDS_NOTHING;
  try {
    return await work({
      journal: {
        begin(about, body) {
          key = about.idempotencyKey ?? undefined;
          return recorder.begin(about, body);
        },
        closeRepeated: (done) => recorder.closeRepeated(done),
      },
      async spool() {
        if (folder === undefined) throw new Error('a client without a journal has no spool');
        return createSpool(system, path.join(folder, 'spool'));
      },
      notice: () => undefined,
    });
  } catch (error) {
    throw publicError(error, key);
  } finally {
    await journal?.close();
  }
}

const nothing = (): Promise<void> => Promise.resolve();

const RECORDS_NOTHING: RequestRecorder = {
  begin: () => Promise.resolve({ id: '', state: 'sent', advance: nothing, markAs: nothing }),
  closeRepeated: nothing,
};

/**
 * Joins the chunks of an audio file, and applies corrections, such as the final length in the header. Each correction
 * overwrites the bytes at its position.
 */
export function joinFile(
  chunks: readonly Uint8Array[],
  corrections: readonly Correction[],
): Uint8Array {
  const file = new Uint8Array(Buffer.concat(chunks));
  for (const { bytes, position } of corrections) file.set(bytes, position);
  return file;
}
