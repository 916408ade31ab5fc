import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Busboy, FileInfo } from 'busboy';
import type { FieldProblem } from '../service-error.ts';
import { invalidRequest, ServiceError } from '../service-error.ts';
import { anyOf, showText } from './validation.ts';
import { requireBodyType } from './validation.ts';
import type { FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { FileSystem } from '../../effects/file-system.ts';
import type { Random } from '../../effects/random.ts';
import { ensurePrivateFolder } from '../../durable/own-files.ts';

/** What a form may contain; other fields are ignored. */
interface FormRules {
  /** Name of the field that holds files; the same with `[]` behind it is taken for it. */
  readonly fileField: string;
  readonly maxFiles: number;
  readonly maxFileBytes: number;
  /** In lower case, without a dot. */
  readonly extensions: readonly string[];
}

export interface UploadedFile {
  /** As it was sent: never a path, and never one of a file here. */
  readonly name: string;
  readonly file: TemporaryFile;
}

/** A form that was read whole. Its files are the caller's to discard. */
export interface UploadedForm {
  readonly fields: Readonly<Record<string, string>>;
  readonly files: readonly UploadedFile[];
  /** What is wrong with it, in the order in which it came. */
  readonly problems: readonly FieldProblem[];
}

const MULTIPART = 'multipart/form-data';
/** More than any field that is known may have, in UTF-8. */
const FIELD_MAX_BYTES = 64 * 1024;
/** Texts, and headers of a part. */
const FIELDS_MAX = 100;
const HEADERS_MAX = 50;
/** What boundaries and texts may add to the files. */
const OVERHEAD_BYTES = 1024 * 1024;

/**
 * Reads a `multipart/form-data` body while it comes, files into temporary ones. What is wrong with a
 * file or a field is collected and the rest is read, so that the client can receive the error.
 * @throws ServiceError 415 for another type, 413 when all of it is too much, 400 for what is no such
 * form, and the system's error when a file cannot be written; nothing is kept then
 */
export async function readForm(
  request: Request,
  rules: FormRules,
  folder: TemporaryFolder,
): Promise<UploadedForm> {
  requireBodyType(request.headers, [MULTIPART]);
  const limit = rules.maxFiles * rules.maxFileBytes + OVERHEAD_BYTES;
  if (Number(request.headers.get('Content-Length') ?? 0) > limit) throw tooLarge(limit);
  const { default: busboy } = await import('busboy');
  const parser = openParser(() =>
    busboy({
      headers: { 'content-type': request.headers.get('Content-Type') ?? '' },
      defParamCharset: 'utf8',
      preservePath: true,
      limits: {
        fields: FIELDS_MAX,
        fieldSize: FIELD_MAX_BYTES,
        files: rules.maxFiles,
        headerPairs: HEADERS_MAX,
      },
    }),
  );
  const reading = new FormReading(rules, folder);
  reading.listen(parser);
  try {
    await pipeline(Readable.from(counted(request.body ?? [], limit)), parser);
  } catch (error) {
    await reading.discard();
    throw error instanceof ServiceError ? error : unreadable(error);
  }
  return reading.finish();
}

/** Collects the parts of a form. */
class FormReading {
  readonly #rules: FormRules;
  readonly #folder: TemporaryFolder;
  readonly #fields = new Map<string, string>();
  readonly #problems: FieldProblem[] = [];
  readonly #arrivals: Promise<void>[] = [];
  readonly #files: UploadedFile[] = [];
  /** A failure of the service. */
  #failure: unknown;

  constructor(rules: FormRules, folder: TemporaryFolder) {
    this.#rules = rules;
    this.#folder = folder;
  }

  listen(parser: Busboy): void {
    const { fileField, maxFiles } = this.#rules;
    parser.on('field', (name, value, { valueTruncated }) => {
      this.#takeField(name, value, valueTruncated);
    });
    parser.on('file', (name, stream, info) => {
      this.#arrivals.push(this.#takeFile(name, stream, info));
    });
    parser.on('filesLimit', () => {
      this.#note(fileField, `${fileField} has more than ${maxFiles} files`);
    });
    parser.on('fieldsLimit', () => {
      this.#note('body', `The form has more than ${FIELDS_MAX} fields`);
    });
  }

  /** @throws whatever kept a file from being written; nothing is kept then */
  async finish(): Promise<UploadedForm> {
    await Promise.all(this.#arrivals);
    if (this.#failure !== undefined) {
      await discardFiles(this.#files);
      throw this.#failure;
    }
    const fields = Object.fromEntries(this.#fields);
    return { fields, files: this.#files, problems: this.#problems };
  }

  async discard(): Promise<void> {
    await Promise.all(this.#arrivals);
    await discardFiles(this.#files);
  }

  #takeField(name: string, value: string, isTruncated: boolean): void {
    if (this.#isFileField(name)) {
      return this.#note(name, `${name} is text; allowed: a file with a name`);
    }
    if (this.#fields.has(name)) this.#note(name, `${showText(name)} is given more than once`);
    if (isTruncated) this.#note(name, `${name} has more than ${FIELD_MAX_BYTES} bytes`);
    if (value.includes('\uFFFD')) this.#note(name, `${showText(name)} is not valid UTF-8`);
    this.#fields.set(name, value);
  }

  /** Never rejects: the form is read to its end even if a file fails. */
  async #takeFile(field: string, stream: Readable, { filename }: FileInfo): Promise<void> {
    const { extensions, fileField } = this.#rules;
    // The form's reader reports the error.
    stream.on('error', () => undefined);
    if (!this.#isFileField(field)) return void stream.resume();
    const problem = nameProblem(filename, extensions);
    if (problem !== undefined) {
      this.#note(fileField, `${fileField}: ${problem}`);
      return void stream.resume();
    }
    try {
      const file = await this.#folder.create();
      this.#files.push({ name: filename ?? '', file });
      await this.#fill(file, showText(filename ?? ''), stream);
    } catch (error) {
      this.#failure ??= error;
      stream.resume();
    }
  }

  async #fill(
    file: TemporaryFile,
    shownName: string,
    stream: AsyncIterable<Uint8Array>,
  ): Promise<void> {
    const { fileField, maxFileBytes } = this.#rules;
    let size = 0;
    for await (const bytes of stream) {
      size += bytes.length;
      if (size > maxFileBytes || this.#failure !== undefined) continue;
      // A stream that is not read to its end would hold up the form.
      await file.write(bytes).catch((error: unknown) => {
        this.#failure ??= error;
      });
    }
    const shown = `${fileField}: ${shownName}`;
    if (size === 0) this.#note(fileField, `${shown} is empty`);
    if (size <= maxFileBytes) return;
    this.#note(fileField, `${shown} has ${size} bytes; allowed: at most ${maxFileBytes} a file`);
  }

  #isFileField(name: string): boolean {
    const { fileField } = this.#rules;
    return name === fileField || name === `${fileField}[]`;
  }

  #note(field: string, message: string): void {
    this.#problems.push({ field, message });
  }
}

/** Frees the space of files. Never throws. */
export async function discardFiles(files: readonly UploadedFile[]): Promise<void> {
  await Promise.all(files.map(({ file }) => file.discard()));
}

function openParser(open: () => Busboy): Busboy {
  try {
    return open();
  } catch {
    const message = `Content-Type names no boundary; a form says ${MULTIPART}; boundary=…`;
    throw invalidRequest([{ field: 'Content-Type', message }]);
  }
}

async function* counted(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  limit: number,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const part of body) {
    size += part.byteLength;
    if (size > limit) throw tooLarge(limit);
    yield part;
  }
}

function tooLarge(limit: number): ServiceError {
  return new ServiceError('ERR_PAYLOAD_TOO_LARGE', `The body is larger than ${limit} bytes`, {
    headers: { Connection: 'close' },
  });
}

/** The form ends too early, or what comes is none. */
function unreadable(cause: unknown): ServiceError {
  const reason = cause instanceof Error ? cause.message : '';
  const message = /unexpected end|aborted|premature|terminated/i.test(reason)
    ? 'The form was cut off: its last boundary is missing'
    : 'The body is no multipart form';
  return new ServiceError('ERR_INVALID_REQUEST', message, {
    details: { errors: [{ field: 'body', message }] },
    headers: { Connection: 'close' },
    cause,
  });
}

/**
 * What is wrong with the name of an uploaded file, as a sentence; `undefined` for a good one. A name is
 * only ever looked at: no file here gets it.
 * @param extensions that it may have, in lower case
 */
function nameProblem(name: string | undefined, extensions: readonly string[]): string | undefined {
  if (name === undefined || name === '') return 'a file has no name, so its type is unknown';
  if (name.includes('\uFFFD')) return 'the name of a file is not valid UTF-8';
  if (/[/\\]/.test(name)) return `${showText(name)} is a path; a file is sent with its name alone`;
  if (/\p{Cc}/u.test(name)) return `${showText(name)} has control characters in its name`;
  const extension = /.\.([^.]+)$/u.exec(name)?.[1]?.toLowerCase();
  if (extension !== undefined && extensions.includes(extension)) return undefined;
  const given = extension === undefined ? 'has no extension' : `ends in ${showText(extension)}`;
  return `${showText(name)} ${given}; allowed: ${anyOf(extensions)}`;
}

/** A file without a name: it disappears when this process ends. */
export interface TemporaryFile {
  /** For positional reads. */
  readonly fd: number;
  /** In bytes. */
  readonly size: number;
  write(bytes: Uint8Array): Promise<void>;
  /** Frees its space. Never throws. */
  discard(): Promise<void>;
}

/** Creates temporary files for uploads. */
export interface TemporaryFolder {
  /** @throws the system's error */
  create(): Promise<TemporaryFile>;
}

interface TemporaryFolderDeps {
  readonly files: FileSystem;
  readonly random: Random;
}

/** @param databasePath uploads go beside the database: enough space, private permissions */
export function createTemporaryFolder(
  databasePath: string,
  { files, random }: TemporaryFolderDeps,
): TemporaryFolder {
  const folder = join(dirname(databasePath), 'uploads');
  return {
    async create() {
      await ensurePrivateFolder(folder, files);
      const path = join(folder, random.uuid());
      const handle = await files.open(path, 'wx+', 0o600);
      try {
        await files.unlink(path);
      } catch (error) {
        await handle.close();
        throw error;
      }
      return temporaryFile(handle);
    },
  };
}

function temporaryFile(handle: FileHandle): TemporaryFile {
  let size = 0;
  let isClosed = false;
  return {
    fd: handle.fd,
    get size() {
      return size;
    },
    async write(bytes) {
      for (let written = 0; written < bytes.length;) {
        const { bytesWritten } = await handle.write(bytes, written, bytes.length - written, size);
        written += bytesWritten;
        size += bytesWritten;
      }
    },
    async discard() {
      if (isClosed) return;
      isClosed = true;
      await handle.close().catch(() => undefined);
    },
  };
}
