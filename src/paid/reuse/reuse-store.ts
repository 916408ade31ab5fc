import { constants } from 'node:fs';
import path from 'node:path';
import type { AudioResponse, SpeechOrder } from '../../api/resources/speech.ts';
import { speechBody } from '../../api/resources/speech.ts';
import type { ServiceAddress } from '../../api/request.ts';
import type { AudioVerdict } from '../../audio/reader.ts';
import { SPEECH_SURFACES } from '../../contract/speech-surfaces.ts';
import type { SpeechSurface, SurfaceName } from '../../contract/speech-surfaces.ts';
import { formatRanges, parseRanges } from '../../contract/unspoken.ts';
import { checksumOf, sha256 } from '../../durable/checksum.ts';
import { hasErrno } from '../../durable/file-failures.ts';
import type { System } from '../../system/system.ts';
import {
  createTemporary,
  FileWriter,
  removeQuietly,
  retryWhileBusy,
  syncFile,
  syncFolder,
} from '../../durable/files.ts';
import { ensurePrivateFolder, openOwnFile } from '../../durable/own-files.ts';
import type { FileHandle } from '../../system/file-system.ts';
import { limitFolder } from './reuse-folder.ts';
import type { StoredMetadata } from './stored-audio.ts';
import { chunksOf, encodeMetadata, isIntact, readMetadata } from './stored-audio.ts';

/** A request for speech. Two requests with equal fields buy the same audio. */
export interface BoughtSpeech {
  readonly surface: SurfaceName;
  readonly order: SpeechOrder;
  /** Whether the audio must have word times; default no. */
  readonly needsWords?: boolean | undefined;
}

export interface ReuseOptions {
  readonly system: System;
  readonly folder: string;
  /** Maximum size of the store in bytes. */
  readonly maxBytes: number;
  readonly address: ServiceAddress;
  /** Called once, with the reason why audio cannot be stored or read. */
  readonly warn: (sentence: string) => void;
}

/** The audio that one account bought from one service (`--reuse`). Its methods never throw. */
export class ReuseStore {
  readonly #options: ReuseOptions;
  readonly #service: string;
  #limiting: Promise<void> = Promise.resolve();
  // Bytes that this command may still store before it measures the folder again.
  #unmeasured = 0;
  #hasWarned = false;

  constructor(options: ReuseOptions) {
    this.#options = options;
    const { baseUrl, kind } = options.address;
    // The port of the embedded service changes with each command.
    this.#service = kind === 'embedded' ? kind : baseUrl.href.replace(/\/+$/, '');
  }

  /** Returns whether `find` would return audio. */
  async has(speech: BoughtSpeech): Promise<boolean> {
    const audio = await this.find(speech);
    audio?.discard();
    return audio !== undefined;
  }

  /**
   * Returns the stored audio of an equal request. The caller must read its body or call `discard`. Returns undefined if
   * there is none, or if its file was changed; that file is removed.
   */
  async find(speech: BoughtSpeech): Promise<AudioResponse | undefined> {
    const file = this.#fileOf(speech);
    let handle: FileHandle | undefined;
    try {
      handle = await openOwnFile(file, constants.O_RDONLY, this.#options.system.files);
      const metadata = await readMetadata(handle);
      if (metadata === undefined || !(await isIntact(handle))) {
        await handle.close();
        await removeQuietly(this.#options.system, file);
        return undefined;
      }
      if (speech.needsWords === true && metadata.outcome === null) {
        await handle.close();
        return undefined;
      }
      // The modification time is the time of the last use.
      const now = new Date(this.#options.system.clock.now());
      await handle.utimes(now, now).catch(() => undefined);
      return responseOf(metadata, handle);
    } catch (error) {
      await handle?.close().catch(() => undefined);
      if (!hasErrno(error, 'ENOENT')) this.#warn('cannot read stored audio', error);
      return undefined;
    }
  }

  /**
   * Returns a copy of the audio of a response that is being received. The copy is stored when the audio is verified.
   * @param bill the request that was billed; by default, the one of the response
   */
  copyOf(
    speech: BoughtSpeech,
    response: AudioResponse,
    bill: Pick<AudioResponse, 'creditsUsed' | 'requestId'> = response,
  ): AudioCopy {
    return new AudioCopy(this.#options, {
      file: this.#fileOf(speech),
      metadata: ({ bytes, durationMs, format }) => ({
        version: 1,
        at: new Date(this.#options.system.clock.now()).toISOString(),
        service: this.#service,
        format,
        bytes,
        durationMs: durationMs === undefined ? null : Math.round(durationMs),
        creditsUsed: bill.creditsUsed ?? null,
        requestId: bill.requestId,
        ignoredParameters: response.ignoredParameters,
        unspoken: formatRanges(response.unspoken ?? []),
        pcm: response.pcm ?? null,
        outcome: response.outcome ?? null,
      }),
      onStored: (bytes) => this.#limit(bytes),
      onFailure: (error) => this.#warn('cannot store audio', error),
    });
  }

  #fileOf({ order, surface }: BoughtSpeech): string {
    const { apiKey, kind } = this.#options.address;
    const definition: SpeechSurface = SPEECH_SURFACES[surface];
    const model = definition.modelHeader === undefined ? undefined : order.modelId;
    const account = kind === 'embedded' ? undefined : apiKey;
    const identity = [this.#service, account, surface, model, speechBody(order, definition)];
    return path.join(this.#options.folder, sha256(canonicalJson(identity)));
  }

  // Measures the folder after the first audio, and again after a sixteenth of the maximum: other commands may store
  // audio at the same time.
  #limit(bytes: number): Promise<void> {
    this.#unmeasured -= bytes;
    if (this.#unmeasured > 0) return this.#limiting;
    this.#limiting = this.#limitAfter(this.#limiting);
    return this.#limiting;
  }

  async #limitAfter(before: Promise<void>): Promise<void> {
    await before;
    const { folder, maxBytes, system } = this.#options;
    try {
      const size = await limitFolder(system, folder, maxBytes);
      this.#unmeasured = Math.min(maxBytes / 16, maxBytes - size);
    } catch (error) {
      this.#warn('cannot limit the stored audio', error);
    }
  }

  #warn(problem: string, error: unknown): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    const reason = error instanceof Error ? error.message : String(error);
    this.#options.warn(`foley: --reuse ${problem} in ${this.#options.folder}: ${reason}`);
  }
}

interface CopyOptions {
  readonly file: string;
  readonly metadata: (verdict: AudioVerdict) => StoredMetadata;
  readonly onStored: (bytes: number) => Promise<void>;
  readonly onFailure: (error: unknown) => void;
}

/** A copy of audio that arrives. After a failure it stores nothing. Its methods never throw. */
export class AudioCopy {
  readonly #store: ReuseOptions;
  readonly #options: CopyOptions;
  #open: Promise<OpenCopy> | undefined;
  #hasEnded = false;

  constructor(store: ReuseOptions, options: CopyOptions) {
    this.#store = store;
    this.#options = options;
  }

  /** Adds a chunk. The caller may change the chunk after the call. */
  async write(chunk: Uint8Array): Promise<void> {
    if (this.#hasEnded) return;
    // Copied before the first wait.
    const bytes = Buffer.from(chunk);
    await this.#attempt(async () => {
      const { writer } = await (this.#open ??= this.#create());
      if (writer.bytes + bytes.length > this.#store.maxBytes) return this.abandon();
      await writer.write(bytes);
    });
  }

  /** Stores the complete audio. The file gets its name when all of it is on the disk. */
  async save(verdict: AudioVerdict): Promise<void> {
    await this.#attempt(async () => {
      const copy = await this.#open;
      if (this.#hasEnded || copy === undefined) return;
      const { handle, writer } = copy;
      await writer.flush();
      for (const { bytes, position } of verdict.corrections) {
        await handle.write(bytes, 0, bytes.length, position);
      }
      await writer.write(encodeMetadata(this.#options.metadata(verdict)));
      await writer.flush();
      const digest = await checksumOf(handle, 'sha256', this.#store.system.files);
      await writer.write(Buffer.from(digest, 'hex'));
      await writer.flush();
      if (writer.bytes > this.#store.maxBytes) return this.abandon();
      await syncFile(handle);
      await handle.close();
      await retryWhileBusy(this.#store.system, () =>
        this.#store.system.files.rename(copy.path, this.#options.file),
      );
      this.#hasEnded = true;
      await syncFolder(this.#store.system.files, this.#store.folder);
      await this.#options.onStored(writer.bytes);
    });
  }

  /** Removes an unfinished copy. */
  async abandon(): Promise<void> {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    const copy = await this.#open?.catch(() => undefined);
    if (copy === undefined) return;
    copy.writer.stop();
    await copy.writer.flush().catch(() => undefined);
    await copy.handle.close().catch(() => undefined);
    await removeQuietly(this.#store.system, copy.path);
  }

  async #create(): Promise<OpenCopy> {
    await ensurePrivateFolder(this.#store.folder, this.#store.system.files);
    const temporary = await createTemporary(this.#store.system, this.#store.folder, 0o600);
    const { file: handle, path: at } = temporary;
    return { path: at, handle, writer: new FileWriter(handle) };
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!this.#hasEnded) this.#options.onFailure(error);
      await this.abandon();
    }
  }
}

interface OpenCopy {
  readonly path: string;
  readonly handle: FileHandle;
  readonly writer: FileWriter;
}

function responseOf(metadata: StoredMetadata, handle: FileHandle): AudioResponse {
  const { bytes, creditsUsed, ignoredParameters, outcome, pcm, requestId, unspoken } = metadata;
  const close = (): Promise<void> => handle.close().catch(() => undefined);
  return {
    body: {
      async *[Symbol.asyncIterator]() {
        try {
          yield* chunksOf(handle, bytes);
        } finally {
          await close();
        }
      },
    },
    contentType: `audio/${metadata.format}`,
    contentLength: bytes,
    pcm: pcm ?? undefined,
    framing: 'length',
    requestId,
    creditsUsed: 0,
    quotaRemaining: undefined,
    ignoredParameters,
    unspoken: parseRanges(unspoken) ?? [],
    ...(outcome === null ? {} : { outcome }),
    reused: { creditsSaved: creditsUsed ?? undefined },
    discard: () => void close(),
  };
}

// The order of the fields of a body depends on the command.
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}
