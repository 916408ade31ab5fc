import {
  MEDIA_AUDIO_MAX_BYTES,
  MEDIA_IMAGE_MAX_BYTES,
  MEDIA_VIDEO_MAX_BYTES,
} from '../../../contract/limits.ts';
import type { MediaKind } from '../../../contract/lip-sync.ts';
import type { Output } from '../../../durable/output.ts';
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

/** A file that is to be fetched. */
interface FetchOrder extends ImportSubject {
  readonly url: string;
  /** What it is called in the folder. */
  readonly name: string;
}

interface FetchedFile {
  readonly path: string;
  readonly bytes: number;
}

/** Files that come in for one job that may be made of them. */
export interface MediaArrival {
  /** The id of the folder, and of the job that is made of it. */
  readonly id: string;
  /** @throws ServiceError of section 7.3 */
  fetch(order: FetchOrder): Promise<FetchedFile>;
  /** Fetches a file and says what is in it. @throws ServiceError of section 7.3 */
  fetchTrack(order: FetchOrder & { readonly kind: 'audio' | 'video' }): Promise<Inspection>;
  /** Ends whatever still comes in: it fails with this reason. */
  abandon(reason: unknown): void;
}

/** Brings files of users in before anything is made of them or charged (docs/api/lip-sync.md and docs/api/errors.md). */
export interface Imports {
  /**
   * Does something with files that come in. Their folder is removed afterwards, unless a job was made
   * of it.
   */
  within<Result>(
    signal: AbortSignal,
    work: (arrival: MediaArrival) => Promise<Result>,
  ): Promise<Result>;
  /** Removes what imports of processes that died left. */
  sweep(): Promise<void>;
  /** Lets nothing come in any more: nothing of it is charged yet. */
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

/** How many files may come in at once. */
const MOST_AT_ONCE = 16;
/** No import takes so long. */
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
        // What cannot be removed now is removed when it is found.
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

/** What is shared by all that come in: there is room for so many. */
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
        return await bringIn(deps, { id, url, order, signal });
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
        return inspectImported(deps.run, { ...order, path, signal });
      },
    };
  };
}

interface Storing {
  readonly id: string;
  readonly url: URL;
  readonly order: FetchOrder;
  readonly signal: AbortSignal;
}

/** @throws Failure when it cannot be written */
async function bringIn(
  deps: ImportsDeps,
  { id, url, order, signal }: Storing,
): Promise<FetchedFile> {
  const { name } = order;
  const { download } = await import('./download.ts');
  const output = await createFile(deps.folder, id, order);
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

/** @throws ServiceError 503 when it cannot be made, 507 on a full disk */
async function createFile(folder: MediaFolder, id: string, order: FetchOrder): Promise<Output> {
  try {
    return await folder.create(id, order.name);
  } catch (error) {
    throw notStored(order, error);
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

/** Reading half a gigabyte takes two seconds; what takes so long never ends. */
const DEADLINE_MS = 60_000;

interface Inspecting extends ImportSubject {
  readonly kind: 'audio' | 'video';
  readonly path: string;
  readonly signal: AbortSignal;
}

/**
 * Says what is in a file that came in, after a process of its own has read it.
 * @throws ServiceError 415, 413 or 422 for what is no good; 503 when it cannot be inspected now
 */
async function inspectImported(
  run: RunTask,
  { path, signal, ...subject }: Inspecting,
): Promise<Inspection> {
  const order: InspectionOrder = { path, needs: subject.kind };
  try {
    return await run('inspect', order, { result: Inspection, deadlineMs: DEADLINE_MS, signal });
  } catch (error) {
    throw inspectionFailure(error, subject);
  }
}

/**
 * The address in a field of a request.
 * @throws ServiceError 400 for anything but an http or https address without a name and a password
 */
function parseMediaUrl({
  field,
  url: given,
}: {
  readonly field: string;
  readonly url: string;
}): URL {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isPlain = url !== undefined && url.username === '' && url.password === '';
  if (isPlain && /^https?:$/.test(url.protocol)) return url;
  const message = `${field} is no address; allowed is an http or https URL without a name and a password`;
  throw invalidRequest([{ field, message }]);
}
