import {
  MEDIA_AUDIO_MAX_BYTES,
  MEDIA_IMAGE_MAX_BYTES,
  MEDIA_VIDEO_MAX_BYTES,
} from '../../../contract/limits.ts';
import type { InputKind } from '../../../contract/lip-sync.ts';
import type { Clock } from '../../../system/clock.ts';
import type { Random } from '../../../system/random.ts';
import { Failure } from '../../../errors/failure.ts';
import { ServiceError, invalidRequest, storageFullError } from '../../service-error.ts';
import type { Store } from '../../store/open-store.ts';
import type { RunTask } from '../child/run-task.ts';
import type { InspectionOrder } from '../inspection/inspection.ts';
import { Inspection } from '../inspection/inspection.ts';
import { isFolderNeeded } from '../media-files.ts';
import type { MediaSources } from '../media-jobs.ts';
import type { AddressPolicy } from './address-policy.ts';
import { createAddressPolicy } from './address-policy.ts';
import type { ImportSubject } from './import-failure.ts';
import { importFailure, inspectionFailure } from './import-failure.ts';

interface ImportsDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly store: Store;
  readonly media: MediaSources;
}

interface FetchOrder extends ImportSubject {
  readonly url: string;
  /** Name of the stored file, in the folder of the job. */
  readonly name: string;
}

export interface MediaImport {
  /** Id of the job that will use the files. The folder of the files has the same name. */
  readonly id: string;
  /** Downloads a file and returns its path. @throws ServiceError when the import fails (docs/api/errors.md) */
  fetch(order: FetchOrder): Promise<string>;
  /**
   * Downloads a file and inspects its audio or video track.
   * @throws ServiceError when the import fails (docs/api/errors.md)
   */
  fetchTrack(order: FetchOrder & { readonly kind: 'audio' | 'video' }): Promise<Inspection>;
}

const MOST_AT_ONCE = 16;
// Longer than any import takes.
const STALE_AFTER_MS = 24 * 60 * 60 * 1_000;
const INSPECTION_DEADLINE_MS = 60_000;

const MAX_BYTES: Readonly<Record<InputKind, number>> = {
  video: MEDIA_VIDEO_MAX_BYTES,
  audio: MEDIA_AUDIO_MAX_BYTES,
  image: MEDIA_IMAGE_MAX_BYTES,
};

/** Imports users' files before a job is accepted or charged (docs/api/lip-sync.md and docs/api/errors.md). */
export class Imports {
  readonly #deps: ImportsDeps;
  readonly #policy: AddressPolicy;
  readonly #closing = new AbortController();
  #running = 0;

  constructor(deps: ImportsDeps) {
    this.#deps = deps;
    this.#policy = createAddressPolicy(deps.media);
  }

  /** Runs `work` with a new folder for imported files, then removes the folder unless a job uses it. */
  async within<Result>(
    signal: AbortSignal,
    work: (arrival: MediaImport) => Promise<Result>,
  ): Promise<Result> {
    const id = this.#deps.random.uuid();
    const either = AbortSignal.any([signal, this.#closing.signal]);
    const fetch = (order: FetchOrder): Promise<string> => this.#fetch(id, order, either);
    try {
      return await work({
        id,
        fetch,
        fetchTrack: async (order) =>
          inspect(this.#deps.media.run, order, await fetch(order), either),
      });
    } finally {
      // `sweep` deletes the folder later.
      await this.#removeUnneeded(id).catch(() => undefined);
    }
  }

  /** Removes folders that a crashed process left behind. */
  async sweep(): Promise<void> {
    const { clock, media } = this.#deps;
    for (const id of await media.folder.unchangedSince(clock.now() - STALE_AFTER_MS)) {
      await this.#removeUnneeded(id);
    }
  }

  close(): void {
    const headers = { 'Retry-After': '1' };
    const message = 'The service is closing';
    this.#closing.abort(new ServiceError('ERR_SERVICE_UNAVAILABLE', message, { headers }));
  }

  async #fetch(id: string, order: FetchOrder, signal: AbortSignal): Promise<string> {
    const url = parseMediaUrl(order);
    if (this.#running >= MOST_AT_ONCE)
      throw unavailable(order, 'cannot be imported now: too many imports are running');
    this.#running += 1;
    try {
      return await this.#store(id, order, url, signal);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      throw notStored(order, error);
    } finally {
      this.#running -= 1;
    }
  }

  async #store(id: string, order: FetchOrder, url: URL, signal: AbortSignal): Promise<string> {
    const { clock, media } = this.#deps;
    const { download } = await import('./download.ts');
    const output = await media.folder.create(id, order.name).catch((error: unknown) => {
      throw notStored(order, error);
    });
    try {
      const maxBytes = MAX_BYTES[order.kind];
      const write = (piece: Uint8Array): Promise<void> => output.write(piece);
      const deps = { clock, policy: this.#policy };
      await download(deps, { subject: order, url, maxBytes, write, signal });
      await output.publish();
      return media.folder.pathOf(id, order.name);
    } catch (error) {
      await output.abandon();
      throw error;
    }
  }

  async #removeUnneeded(id: string): Promise<void> {
    const { media, store } = this.#deps;
    if (!store.read((db) => isFolderNeeded(db, id))) await media.folder.discard(id);
  }
}

function notStored(subject: ImportSubject, cause: unknown): ServiceError {
  const full = storageFullError(cause);
  if (full === undefined) return unavailable(subject, 'cannot be stored now', cause);
  const { code } = full;
  const what = 'cannot be stored: the disk of the service is full';
  return importFailure(subject, { code, what, cause });
}

function unavailable(subject: ImportSubject, what: string, cause?: unknown): ServiceError {
  return importFailure(subject, {
    code: 'ERR_MEDIA_IMPORT_UNAVAILABLE',
    what,
    retryable: true,
    cause,
  });
}

async function inspect(
  run: RunTask,
  subject: ImportSubject & { readonly kind: 'audio' | 'video' },
  path: string,
  signal: AbortSignal,
): Promise<Inspection> {
  const order: InspectionOrder = { path, needs: subject.kind };
  const options = { result: Inspection, deadlineMs: INSPECTION_DEADLINE_MS, signal };
  try {
    return await run('inspect', order, options);
  } catch (error) {
    throw inspectionFailure(error, subject);
  }
}

function parseMediaUrl({ field, url: given }: FetchOrder): URL {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isPlain = url !== undefined && url.username === '' && url.password === '';
  if (isPlain && /^https?:$/.test(url.protocol)) return url;
  const message = `${field} is not a valid URL: use an http or https URL without a user name and a password`;
  throw invalidRequest([{ field, message }]);
}
