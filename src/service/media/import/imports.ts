import {
  MEDIA_AUDIO_MAX_BYTES,
  MEDIA_IMAGE_MAX_BYTES,
  MEDIA_VIDEO_MAX_BYTES,
} from '../../../contract/limits.ts';
import type { MediaKind } from '../../../contract/lip-sync.ts';
import type { Clock } from '../../../effects/clock.ts';
import type { Random } from '../../../effects/random.ts';
import { Failure } from '../../../errors/failure.ts';
import { ServiceError, invalidRequest, storageFullError } from '../../service-error.ts';
import type { Store } from '../../store/open-store.ts';
import type { RunTask } from '../child/run-task.ts';
import type { InspectionOrder } from '../inspection/inspection.ts';
import { Inspection } from '../inspection/inspection.ts';
import type { MediaFolder } from '../media-files.ts';
import { isFolderNeeded } from '../media-files.ts';
import type { AddressPolicy } from './address-policy.ts';
import type { ImportSubject } from './import-failure.ts';
import { importFailure, inspectionFailure } from './import-failure.ts';

interface FetchOrder extends ImportSubject {
  readonly url: string;
  /** Name of the file in the folder. */
  readonly name: string;
}

interface FetchedFile {
  readonly path: string;
  readonly bytes: number;
}

/** The files of one job, while they are imported. */
export interface MediaArrival {
  /** Id of the folder and of the later job. */
  readonly id: string;
  /** Downloads a file. @throws ServiceError (docs/api/errors.md) */
  fetch(order: FetchOrder): Promise<FetchedFile>;
  /** Downloads a file and inspects the track that it needs. @throws ServiceError (docs/api/errors.md) */
  fetchTrack(order: FetchOrder & { readonly kind: 'audio' | 'video' }): Promise<Inspection>;
  /** Aborts the other downloads with this reason. */
  abandon(reason: unknown): void;
}

/** Imports files of users before a job is made or charged (docs/api/lip-sync.md and docs/api/errors.md). */
export interface Imports {
  /** Runs work with a new folder of imported files, and removes the folder unless it belongs to a job by then. */
  within<Result>(
    signal: AbortSignal,
    work: (arrival: MediaArrival) => Promise<Result>,
  ): Promise<Result>;
  /** Removes the folders of dead processes. */
  sweep(): Promise<void>;
  /** Aborts every import; none is charged yet. */
  close(): void;
}

interface ImportsDeps {
  readonly clock: Clock;
  readonly random: Random;
  readonly store: Store;
  readonly folder: MediaFolder;
  readonly policy: AddressPolicy;
  readonly run: RunTask;
}

/** How many files may be imported at once. */
const MOST_AT_ONCE = 16;
/** Longer than any import. */
const LEFT_AFTER_MS = 24 * 60 * 60 * 1_000;

const MAX_BYTES: Readonly<Record<MediaKind, number>> = {
  video: MEDIA_VIDEO_MAX_BYTES,
  audio: MEDIA_AUDIO_MAX_BYTES,
  image: MEDIA_IMAGE_MAX_BYTES,
};

export function createImports(deps: ImportsDeps): Imports {
  const { clock, folder, random, store } = deps;
  const closing = new AbortController();
  const openArrival = openSlots(deps);
  const removeUnneeded = async (id: string): Promise<void> => {
    if (store.read((db) => isFolderNeeded(db, id))) return;
    await folder.discard(id);
  };
  return {
    async within(signal, work) {
      const id = random.uuid();
      try {
        return await work(openArrival(id, [signal, closing.signal]));
      } finally {
        // `sweep` removes what cannot be removed now.
        await removeUnneeded(id).catch(() => undefined);
      }
    },
    async sweep() {
      for (const id of await folder.unchangedSince(clock.now() - LEFT_AFTER_MS)) {
        await removeUnneeded(id);
      }
    },
    close: () => closing.abort(closingError()),
  };
}

/** Returns a function that opens an arrival; all share the limit of downloads at once. */
function openSlots(
  deps: ImportsDeps,
): (id: string, signals: readonly AbortSignal[]) => MediaArrival {
  let running = 0;
  return (id, signals) => {
    const abandoned = new AbortController();
    const signal = AbortSignal.any([...signals, abandoned.signal]);
    const fetch = async (order: FetchOrder): Promise<FetchedFile> => {
      const url = parseMediaUrl(order);
      if (running >= MOST_AT_ONCE) throw unavailable(order, 'has to wait for others that come in');
      running += 1;
      try {
        return await storeFile(deps, id, { ...order, url }, signal);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        throw notStored(order, error);
      } finally {
        running -= 1;
      }
    };
    return {
      id,
      fetch,
      abandon: (reason) => abandoned.abort(reason),
      async fetchTrack(order) {
        const { path } = await fetch(order);
        return inspectImported(deps.run, order, path, signal);
      },
    };
  };
}

/** Downloads a file into the folder with this id. @throws Failure when it cannot be written */
async function storeFile(
  deps: ImportsDeps,
  id: string,
  order: ImportSubject & { readonly name: string; readonly url: URL },
  signal: AbortSignal,
): Promise<FetchedFile> {
  const { name, url } = order;
  const { download } = await import('./download.ts');
  const output = await deps.folder.create(id, order.name).catch((error: unknown) => {
    throw notStored(order, error);
  });
  try {
    const maxBytes = MAX_BYTES[order.kind];
    const write = (piece: Uint8Array): Promise<void> => output.write(piece);
    const bytes = await download(deps, { subject: order, url, maxBytes, write, signal });
    await output.publish();
    return { path: deps.folder.pathOf(id, name), bytes };
  } catch (error) {
    await output.abandon();
    throw error;
  }
}

function notStored(subject: ImportSubject, cause: unknown): ServiceError {
  const full = storageFullError(cause);
  if (full === undefined) return unavailable(subject, 'cannot be stored now', cause);
  const { code } = full;
  const what = 'cannot be stored: the disk of the service is full';
  return importFailure(subject, { code, what, stage: 'download', retryable: false, cause });
}

function unavailable(subject: ImportSubject, what: string, cause?: unknown): ServiceError {
  return importFailure(subject, {
    code: 'ERR_MEDIA_IMPORT_UNAVAILABLE',
    what,
    stage: 'download',
    retryable: true,
    headers: { 'Retry-After': '1' },
    cause,
  });
}

function closingError(): ServiceError {
  return new ServiceError('ERR_SERVICE_UNAVAILABLE', 'The service is closing', {
    headers: { 'Retry-After': '1' },
  });
}

/** Reading half a gigabyte takes two seconds. */
const DEADLINE_MS = 60_000;

/**
 * Inspects an imported file in a process of its own.
 * @throws ServiceError 413, 415 or 422 for an unusable file; 503 when it cannot be inspected now
 */
async function inspectImported(
  run: RunTask,
  subject: ImportSubject & { readonly kind: 'audio' | 'video' },
  path: string,
  signal: AbortSignal,
): Promise<Inspection> {
  const order: InspectionOrder = { path, needs: subject.kind };
  try {
    return await run('inspect', order, { result: Inspection, deadlineMs: DEADLINE_MS, signal });
  } catch (error) {
    throw inspectionFailure(error, subject);
  }
}

/** Parses the URL in a field of a request. @throws ServiceError 400 unless it is http or https without credentials */
function parseMediaUrl({ field, url: given }: FetchOrder): URL {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isPlain = url !== undefined && url.username === '' && url.password === '';
  if (isPlain && /^https?:$/.test(url.protocol)) return url;
  const message = `${field} is no address; allowed is an http or https URL without a name and a password`;
  throw invalidRequest([{ field, message }]);
}
