import { constants } from 'node:fs';
import type { FileHandle } from '../system/file-system.ts';
import path from 'node:path';
import type { ApiClient } from '../api/client.ts';
import { isCut, repeatAfterCuts, startsAt } from '../api/download.ts';
import { reviseFailure } from '../api/failures.ts';
import type { ApiResponse } from '../api/response.ts';
import { badResponse, readBytes } from '../api/response.ts';
import { TransportError } from '../api/transport/transport-error.ts';
import type { Checksum } from '../durable/checksum.ts';
import { checksumOf, createChecksum } from '../durable/checksum.ts';
import { hasErrno, outputFailure } from '../durable/file-failures.ts';
import type { System } from '../system/system.ts';
import {
  FileWriter,
  removeQuietly,
  retryWhileBusy,
  syncFile,
  syncFolder,
  writeAll,
} from '../durable/files.ts';
import { requireSpace } from '../durable/free-space.ts';
import { ensurePrivateFolder, openOwnFile, readOwnText } from '../durable/own-files.ts';
import { Failure, usageFailure } from '../errors/failure.ts';
import { counted, display } from '../text/display.ts';
import { readSmallSource, SMALL_BYTES } from './small-source.ts';

/** A file on the publisher's server. */
export interface PublishedFile {
  /** Path relative to the models folder, such as `kokoro/voices/af_heart.bin`. */
  readonly path: string;
  readonly url: string;
}

/** A file of a voice or a speech model. Its checksum is a SHA-256, or an MD5 if the publisher gives no SHA-256. */
export interface ModelFile extends PublishedFile {
  readonly bytes: number;
  readonly sha256?: string | undefined;
  readonly md5?: string | undefined;
}

/**
 * The source from which foley gets model files: the publishers' servers, a mirror of these servers, or a local folder.
 */
export type ModelSource =
  | { readonly kind: 'servers' }
  | { readonly kind: 'mirror'; readonly url: URL }
  | { readonly kind: 'folder'; readonly path: string };

export interface ModelDeps {
  readonly system: System;
  /** The models folder, which has a subfolder for each engine. */
  readonly modelsFolder: string;
  readonly source: ModelSource;
  readonly signal: AbortSignal;
  /** Returns the HTTP client. Not called if the source is a folder. */
  readonly client: () => Promise<ApiClient>;
  /** Called for each chunk that arrives. @param bytes number of bytes stored so far, over all files of this call */
  readonly onProgress: (bytes: number) => void;
}

/** Returns the files that are missing from the models folder or have a wrong size or checksum. */
export async function missingFiles(
  wanted: readonly ModelFile[],
  { system: { files }, modelsFolder }: ModelDeps,
): Promise<readonly ModelFile[]> {
  const missing: ModelFile[] = [];
  for (const file of wanted) {
    if (!(await isStored(file, path.join(modelsFolder, file.path), files))) missing.push(file);
  }
  return missing;
}

async function isStored(file: ModelFile, name: string, files: System['files']): Promise<boolean> {
  try {
    if ((await files.lstat(name)).size !== file.bytes) return false;
    const kind = file.sha256 === undefined ? 'md5' : 'sha256';
    return (await checksumOf(name, kind, files)) === file[kind];
  } catch (error) {
    if (hasErrno(error, 'ENOENT', 'ENOTDIR', 'EISDIR')) return false;
    throw outputFailure(name, error, 'opening', VARIABLE);
  }
}

// Named in hints about the place of the files.
const VARIABLE = 'XDG_DATA_HOME';

/**
 * Stores files in the models folder, each under its final name only after its checksum is verified. After an
 * interruption, the next call resumes the download.
 * @throws Failure: `output` if the disk is full or the files cannot be written, `usage` if the source folder lacks a
 *   file, `bad_answer` for a wrong checksum (the file is deleted), or a failure of the client
 * @param storedBytes number of bytes that earlier calls stored; `onProgress` counts on from there
 */
export async function storeFiles(
  wanted: readonly ModelFile[],
  deps: ModelDeps,
  storedBytes = 0,
): Promise<void> {
  const { files } = deps.system;
  const { modelsFolder, source } = deps;
  const folders = await (source.kind === 'folder' ? locateFiles(wanted, source.path, files) : []);
  const partials = await Promise.all(wanted.map((file) => partialBytes(file, deps)));
  const bytes = wanted.reduce((sum, file, at) => sum + file.bytes - (partials[at] ?? 0), 0);
  await requireSpace(modelsFolder, bytes, { files, what: 'the voices need', variable: VARIABLE });
  let stored = storedBytes;
  for (const [at, file] of wanted.entries()) {
    await storeFile(file, folders[at], deps, stored);
    stored += file.bytes;
  }
}

/**
 * Reads a small file, such as a catalogue or a license, that the user must see before an installation.
 * @throws Failure like {@link storeFiles}
 */
export async function readSmallFile(
  file: PublishedFile,
  { client, system: { files }, signal, source }: ModelDeps,
): Promise<Uint8Array> {
  if (source.kind === 'folder') {
    const [located = ''] = await locateFiles([file], source.path, files);
    return readSmallSource(located, files);
  }
  const url = sourceUrl(file, source);
  try {
    const request = { method: 'GET', target: url, billed: false, retry: 'safe', signal } as const;
    const response = await (await client()).send({ ...request, accept: '*/*', public: true });
    return await readBytes(response, SMALL_BYTES);
  } catch (error) {
    throw error instanceof Failure ? explained(error, url, path.basename(file.path), 0) : error;
  }
}

// In `folder`, the files may have their full paths, their paths without the engine's folder, or only their names.
async function locateFiles(
  wanted: readonly PublishedFile[],
  folder: string,
  files: System['files'],
): Promise<readonly string[]> {
  const found = await Promise.all(
    wanted.map(async (file) => {
      const inEngine = file.path.slice(file.path.indexOf('/') + 1);
      for (const name of [file.path, inEngine, path.basename(file.path)]) {
        const candidate = path.join(folder, name);
        const stats = await files.stat(candidate).catch(() => undefined);
        if (stats?.isFile() === true) return candidate;
      }
      return undefined;
    }),
  );
  const absent = wanted.filter((_, at) => found[at] === undefined).map((file) => file.path);
  if (absent.length === 0) return found.filter((name) => name !== undefined);
  const [missingFile, ...more] = absent;
  const others = more.length === 0 ? '' : ` and ${counted(more.length, 'other file')}`;
  throw usageFailure(
    `--from ${display(folder)} has no ${missingFile}${others}`,
    `Put these files there: ${absent.join(', ')}`,
  );
}

async function partialBytes(
  file: ModelFile,
  { system: { files }, modelsFolder }: ModelDeps,
): Promise<number> {
  const stats = await files.lstat(partialName(modelsFolder, file)).catch(() => undefined);
  return Math.min(stats?.size ?? 0, file.bytes);
}

function partialName(modelsFolder: string, file: ModelFile): string {
  return path.join(modelsFolder, `${file.path}.part`);
}

async function storeFile(
  file: ModelFile,
  located: string | undefined,
  deps: ModelDeps,
  storedBytes: number,
): Promise<void> {
  const { modelsFolder } = deps;
  const target = path.join(modelsFolder, file.path);
  const partial = new PartialFile(partialName(modelsFolder, file), file, deps, storedBytes);
  try {
    await ensurePrivateFolder(path.dirname(target), deps.system.files);
    await partial.open();
    if (located === undefined) await downloadFile(file, partial, deps);
    else await copyFile(located, partial, deps);
    await partial.publish(target);
  } catch (error) {
    throw error instanceof Failure || deps.signal.aborted
      ? error
      : outputFailure(target, error, 'writing', VARIABLE);
  } finally {
    await partial.close();
  }
}

async function copyFile(from: string, partial: PartialFile, deps: ModelDeps): Promise<void> {
  await partial.restart();
  const source = await deps.system.files.open(from, 'r').catch((error: unknown) => {
    throw usageFailure(`cannot read ${display(from)}: ${String(error)}`);
  });
  try {
    for (;;) {
      deps.signal.throwIfAborted();
      const buffer = Buffer.alloc(READ_BYTES);
      const { bytesRead } = await source.read(buffer, 0, buffer.length);
      if (bytesRead === 0) break;
      if (!(await partial.append(buffer.subarray(0, bytesRead)))) break;
    }
  } finally {
    await source.close();
  }
  if (!(await partial.isRight())) throw await rejected(partial, display(from));
}

const READ_BYTES = 1 << 20;

async function downloadFile(file: ModelFile, partial: PartialFile, deps: ModelDeps): Promise<void> {
  const url = sourceUrl(file, deps.source);
  try {
    await completeDownload(url, partial, deps);
    if (await partial.isRight()) return;
    // The earlier part may be damaged, or of another version of the file.
    if (partial.isResumed) {
      await partial.restart();
      await completeDownload(url, partial, deps);
      if (await partial.isRight()) return;
    }
  } catch (error) {
    throw error instanceof Failure ? explained(error, url, partial.name, partial.bytes) : error;
  }
  throw await rejected(partial, url.host);
}

function sourceUrl(file: PublishedFile, source: ModelSource): URL {
  if (source.kind !== 'mirror') return new URL(file.url);
  const url = new URL(source.url);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${file.path}`;
  return url;
}

async function completeDownload(url: URL, partial: PartialFile, deps: ModelDeps): Promise<void> {
  const client = await deps.client();
  const attempt = async () => {
    if (!partial.isFull) await downloadRest(client, url, partial, deps.signal);
  };
  const position = () => partial.bytes;
  await repeatAfterCuts(attempt, client.retry, { signal: deps.signal, position });
}

async function downloadRest(
  client: ApiClient,
  url: URL,
  partial: PartialFile,
  signal: AbortSignal,
): Promise<void> {
  const start = partial.bytes;
  const response = await requestRest(client, url, partial, signal);
  const { headers, status } = response;
  const isRest = status === 206 && startsAt(response, start, partial.size);
  const announced = isRest ? undefined : response.contentLength;
  if (status === 206 ? !isRest : announced !== undefined && announced !== partial.size) {
    response.discard();
    throw badResponse(
      status === 206
        ? `the response has the wrong range (${headers.get('content-range') ?? 'none'})`
        : `the file has ${announced} bytes, not ${partial.size}`,
      response,
    );
  }
  if (isRest) partial.isResumed = start > 0;
  else await partial.restart();
  await partial.setVersion(strongTag(response), url);
  try {
    for await (const chunk of response.body) {
      if (!(await partial.append(chunk))) return;
    }
  } finally {
    await partial.flush();
  }
  if (partial.isFull) return;
  const missing = partial.size - partial.bytes;
  // A response that ended without an error, but too early.
  const cause = new TransportError('cut', url.host);
  throw new Failure(`the download ended ${missing} bytes early`, { ...BAD_ANSWER, cause });
}

const BAD_ANSWER = { code: 'bad_answer', exit: 'badAnswer' } as const;

async function requestRest(
  client: ApiClient,
  url: URL,
  partial: PartialFile,
  signal: AbortSignal,
): Promise<ApiResponse> {
  const version = await partial.version(url);
  const ifRange = version === undefined ? {} : { 'if-range': version };
  const range = partial.bytes === 0 ? {} : { range: `bytes=${partial.bytes}-`, ...ifRange };
  const request = { method: 'GET', target: url, billed: false, retry: 'safe', signal } as const;
  try {
    const response = await client.send({ ...request, accept: '*/*', public: true, headers: range });
    const isWrong = response.status === 206 && !startsAt(response, partial.bytes, partial.size);
    if (!isWrong || partial.bytes === 0) return response;
    response.discard();
  } catch (error) {
    if (!(error instanceof Failure) || error.status !== 416 || partial.bytes === 0) throw error;
  }
  await partial.restart();
  return requestRest(client, url, partial, signal);
}

// A weak tag does not guarantee identical bytes.
function strongTag({ headers }: ApiResponse): string | undefined {
  const tag = headers.get('etag');
  return tag?.startsWith('"') === true ? tag : undefined;
}

async function rejected(partial: PartialFile, from: string): Promise<Failure> {
  const { fault, name } = partial;
  await partial.discard();
  return new Failure(`${name} from ${from} is not the expected file: ${fault}`, {
    ...BAD_ANSWER,
    hint: 'foley deleted its copy of the file. Check the source (--from), and run the command again.',
  });
}

function explained(error: Failure, url: URL, name: string, storedBytes: number): Failure {
  const { retryAfter, status = 0 } = error;
  const isWrongSource = error.exit === 'badAnswer' && !isCut(error);
  const resumes = storedBytes === 0 ? '' : ' It resumes the download.';
  const when = retryAfter === undefined ? 'later' : `in ${counted(retryAfter, 'second')}`;
  const isBusy = status === 429 || status >= 500;
  const again = isBusy
    ? `Run the command again ${when}.`
    : 'Check the network, and run the command again.';
  const hint = isWrongSource
    ? `Check that ${url.origin} is the right source, or name another one with --from.`
    : `${again}${resumes} With --from, foley takes the files from a mirror or a folder.`;
  const reason = status < 400 ? error.message : `status ${status}`;
  const message = `cannot download ${name} from ${url.host}: ${reason}`;
  return reviseFailure(error, { message, hint, requestId: undefined, status: undefined });
}

// The checksums are computed while the file grows.
class PartialFile {
  bytes = 0;
  // Whether the content comes from more than one response.
  isResumed = false;
  readonly #path: string;
  readonly #file: ModelFile;
  readonly #deps: ModelDeps;
  // Number of bytes of the files before this one.
  readonly #storedBefore: number;
  #handle: FileHandle | undefined;
  #writer: FileWriter | undefined;
  #sums: { readonly sha256: Checksum; readonly md5: Checksum } = newSums();

  constructor(name: string, file: ModelFile, deps: ModelDeps, storedBefore: number) {
    this.#path = name;
    this.#file = file;
    this.#deps = deps;
    this.#storedBefore = storedBefore;
  }

  get name(): string {
    return path.basename(this.#file.path);
  }

  get size(): number {
    return this.#file.bytes;
  }

  get isFull(): boolean {
    return this.bytes === this.size;
  }

  get fault(): string {
    const { bytes, md5, sha256 } = this.#file;
    if (this.bytes > bytes) return `it is longer than ${bytes} bytes`;
    if (this.bytes < bytes) return `it has ${this.bytes} bytes, not ${bytes}`;
    return sha256 === undefined
      ? `its MD5 is ${this.#sums.md5.value()}, not ${md5}`
      : `its SHA-256 is ${this.#sums.sha256.value()}, not ${sha256}`;
  }

  async open(): Promise<void> {
    const flags = constants.O_RDWR | constants.O_CREAT | constants.O_APPEND;
    const handle = await openOwnFile(this.#path, flags, this.#deps.system.files);
    this.#handle = handle;
    this.#writer = new FileWriter(handle);
    if ((await handle.stat()).size > this.size) return this.restart();
    const buffer = Buffer.alloc(READ_BYTES);
    for (;;) {
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, this.bytes);
      if (bytesRead === 0) break;
      this.#count(buffer.subarray(0, bytesRead));
    }
    this.isResumed = this.bytes > 0;
  }

  // An ETag is valid for one URL only.
  async version(url: URL): Promise<string | undefined> {
    const { files } = this.#deps.system;
    const text = await readOwnText(this.#versionFile, MOST_VERSION_BYTES, files).catch(() => '');
    const [tag, from] = text.split('\n');
    return from === url.href ? tag : undefined;
  }

  async setVersion(tag: string | undefined, url: URL): Promise<void> {
    if (tag === (await this.version(url))) return;
    await removeQuietly(this.#deps.system, this.#versionFile);
    if (tag === undefined) return;
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC;
    const handle = await openOwnFile(this.#versionFile, flags, this.#deps.system.files);
    await writeAll(handle, Buffer.from(`${tag}\n${url.href}`)).finally(() => handle.close());
  }

  // Returns false, and writes nothing, if the file would become too long.
  async append(chunk: Uint8Array): Promise<boolean> {
    this.#count(chunk);
    if (this.bytes > this.size) return false;
    await this.#writer?.write(chunk);
    this.#deps.onProgress(this.#storedBefore + this.bytes);
    return true;
  }

  async restart(): Promise<void> {
    await this.flush();
    await this.#handle?.truncate(0);
    this.bytes = 0;
    this.isResumed = false;
    this.#sums = newSums();
  }

  async flush(): Promise<void> {
    await this.#writer?.flush();
  }

  async isRight(): Promise<boolean> {
    await this.flush();
    const { md5, sha256 } = this.#file;
    // The size on the disk differs if another process also writes to the file.
    return (
      this.isFull &&
      (await this.#handle?.stat())?.size === this.size &&
      (sha256 === undefined || sha256 === this.#sums.sha256.value()) &&
      (md5 === undefined || md5 === this.#sums.md5.value())
    );
  }

  async publish(target: string): Promise<void> {
    if (this.#handle !== undefined) await syncFile(this.#handle);
    await this.close();
    const { files } = this.#deps.system;
    await removeQuietly(this.#deps.system, this.#versionFile);
    await retryWhileBusy(this.#deps.system, () => files.rename(this.#path, target));
    await syncFolder(files, path.dirname(target));
  }

  async discard(): Promise<void> {
    await this.close();
    await removeQuietly(this.#deps.system, this.#path);
    await removeQuietly(this.#deps.system, this.#versionFile);
  }

  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    this.#writer?.stop();
    await this.#writer?.flush().catch(() => undefined);
    this.#writer = undefined;
    await handle?.close();
  }

  get #versionFile(): string {
    return `${this.#path}.version`;
  }

  #count(chunk: Uint8Array): void {
    this.bytes += chunk.length;
    this.#sums.sha256.update(chunk);
    this.#sums.md5.update(chunk);
  }
}

const MOST_VERSION_BYTES = 16 * 1024;

function newSums(): { readonly sha256: Checksum; readonly md5: Checksum } {
  return { sha256: createChecksum('sha256'), md5: createChecksum('md5') };
}
