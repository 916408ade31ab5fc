import { dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Busboy, FileInfo } from 'busboy';
import { writeAll } from '../../durable/files.ts';
import { ensurePrivateFolder } from '../../durable/own-files.ts';
import type { FileHandle, FileSystem } from '../../system/file-system.ts';
import type { Random } from '../../system/random.ts';
import type { FieldProblem } from '../service-error.ts';
import { invalidRequest, ServiceError } from '../service-error.ts';
import { anyOf, requireBodyType, showText } from './validation.ts';

// Unknown fields are ignored.
interface FormRules {
  /** Name of the form field for files. Clients may append `[]` to the name. */
  readonly fileField: string;
  readonly maxFiles: number;
  readonly maxFileBytes: number;
  /** Allowed file name extensions, in lower case, without a dot. */
  readonly extensions: readonly string[];
}

export interface UploadedFile {
  /** The file name that the client sent. Never use it as a path. */
  readonly name: string;
  readonly file: TemporaryFile;
}

/** A parsed form. The caller must discard its files. */
export interface UploadedForm {
  readonly fields: Readonly<Record<string, string>>;
  readonly files: readonly UploadedFile[];
  /** Invalid fields and files, in the order of the form. */
  readonly problems: readonly FieldProblem[];
}

const MULTIPART = 'multipart/form-data';
// Larger than any known field needs.
const FIELD_MAX_BYTES = 64 * 1024;
// Maximum number of text fields in a form, and of headers in each part.
const FIELDS_MAX = 100;
const HEADERS_MAX = 50;
// Maximum size of the form without its files.
const OVERHEAD_BYTES = 1024 * 1024;

/**
 * Parses a `multipart/form-data` body while it arrives, and saves the uploaded files as temporary files. Invalid fields
 * and files are listed in `problems`; the rest of the body is still read, so that the client receives the error.
 * @throws ServiceError 415 for another media type, 413 for a body above the limit, 400 for a body that is not a
 * complete form; system errors
 */
export async function readForm(
  request: Request,
  rules: FormRules,
  folder: TemporaryFolder,
): Promise<UploadedForm> {
  requireBodyType(request.headers, [MULTIPART]);
  const limit = rules.maxFiles * rules.maxFileBytes + OVERHEAD_BYTES;
  if (Number(request.headers.get('Content-Length') ?? 0) > limit) throw tooLarge(limit);
  const parser = await openParser(request.headers, rules);
  const form = new FormReader(rules, folder);
  const arrivals: Promise<void>[] = [];
  parser.on('field', (name, value, { valueTruncated }) => {
    form.takeField(name, value, valueTruncated);
  });
  parser.on('file', (name, stream, info) => {
    arrivals.push(form.takeFile(name, stream, info));
  });
  parser.on('filesLimit', () => {
    form.note(rules.fileField, `${rules.fileField} has more than ${rules.maxFiles} files`);
  });
  parser.on('fieldsLimit', () => form.note('body', `The form has more than ${FIELDS_MAX} fields`));
  try {
    await pipeline(Readable.from(counted(request.body ?? [], limit)), parser);
  } catch (error) {
    form.failure = error instanceof ServiceError ? error : unreadable(error);
  }
  await Promise.all(arrivals);
  const { failure, fields, files, problems } = form;
  if (failure === undefined) return { fields: Object.fromEntries(fields), files, problems };
  await discardFiles(files);
  throw failure;
}

class FormReader {
  readonly fields = new Map<string, string>();
  readonly files: UploadedFile[] = [];
  readonly problems: FieldProblem[] = [];
  failure: unknown;
  readonly #rules: FormRules;
  readonly #folder: TemporaryFolder;

  constructor(rules: FormRules, folder: TemporaryFolder) {
    this.#rules = rules;
    this.#folder = folder;
  }

  note(field: string, message: string): void {
    this.problems.push({ field, message });
  }

  takeField(name: string, value: string, isTruncated: boolean): void {
    if (this.#isFileField(name)) {
      return this.note(name, `${name} is text; allowed: a file with a name`);
    }
    if (this.fields.has(name)) this.note(name, `${showText(name)} is given more than once`);
    if (isTruncated) this.note(name, `${name} has more than ${FIELD_MAX_BYTES} bytes`);
    if (value.includes('\uFFFD')) this.note(name, `${showText(name)} is not valid UTF-8`);
    this.fields.set(name, value);
  }

  // A failure is recorded, and the rest of the form is read.
  async takeFile(field: string, stream: Readable, { filename = '' }: FileInfo): Promise<void> {
    const { extensions, fileField } = this.#rules;
    // The form's reader reports the error.
    stream.on('error', () => undefined);
    if (!this.#isFileField(field)) return void stream.resume();
    const problem = nameProblem(filename, extensions);
    if (problem !== undefined) {
      this.note(fileField, `${fileField}: ${problem}`);
      return void stream.resume();
    }
    try {
      const file = await this.#folder.create();
      this.files.push({ name: filename, file });
      await this.#fill(file, `${fileField}: ${showText(filename)}`, stream);
    } catch (error) {
      this.failure ??= error;
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
      if (size > maxFileBytes || this.failure !== undefined) continue;
      // An unread stream would block the form.
      await file.write(bytes).catch((error: unknown) => {
        this.failure ??= error;
      });
    }
    if (size === 0) this.note(fileField, `${shownName} is empty`);
    if (size <= maxFileBytes) return;
    this.note(fileField, `${shownName} has ${size} bytes; allowed: at most ${maxFileBytes} a file`);
  }

  #isFileField(name: string): boolean {
    const { fileField } = this.#rules;
    return name === fileField || name === `${fileField}[]`;
  }
}

/** Deletes uploaded files. Never throws. */
export async function discardFiles(files: readonly UploadedFile[]): Promise<void> {
  await Promise.all(files.map(({ file }) => file.discard()));
}

async function openParser(headers: Headers, { maxFiles }: FormRules): Promise<Busboy> {
  const { default: busboy } = await import('busboy');
  try {
    return busboy({
      headers: { 'content-type': headers.get('Content-Type') ?? '' },
      defParamCharset: 'utf8',
      preservePath: true,
      limits: {
        fields: FIELDS_MAX,
        fieldSize: FIELD_MAX_BYTES,
        files: maxFiles,
        headerPairs: HEADERS_MAX,
      },
    });
  } catch {
    const message = `Content-Type has no boundary; use ${MULTIPART}; boundary=…`;
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

function unreadable(cause: unknown): ServiceError {
  const reason = cause instanceof Error ? cause.message : '';
  const message = /unexpected end|aborted|premature|terminated/i.test(reason)
    ? 'The form is incomplete: its last boundary is missing'
    : 'The body is not a multipart form';
  return new ServiceError('ERR_INVALID_REQUEST', message, {
    details: { errors: [{ field: 'body', message }] },
    headers: { Connection: 'close' },
    cause,
  });
}

// `extensions` are in lower case.
function nameProblem(name: string, extensions: readonly string[]): string | undefined {
  if (name === '') return 'a file has no name, so its type is unknown';
  if (name.includes('\uFFFD')) return 'the name of a file is not valid UTF-8';
  if (/[/\\]/.test(name)) return `${showText(name)} is a path; send the name of the file alone`;
  if (/\p{Cc}/u.test(name)) return `${showText(name)} has control characters in its name`;
  const extension = /.\.([^.]+)$/u.exec(name)?.[1]?.toLowerCase();
  if (extension !== undefined && extensions.includes(extension)) return undefined;
  const given = extension === undefined ? 'has no extension' : `ends in ${showText(extension)}`;
  return `${showText(name)} ${given}; allowed: ${anyOf(extensions)}`;
}

/** An open file without a name: the operating system deletes the file when this process exits. */
export interface TemporaryFile {
  readonly fd: number;
  readonly size: number;
  write(bytes: Uint8Array): Promise<void>;
  read(): AsyncIterable<Uint8Array>;
  discard(): Promise<void>;
}

export interface TemporaryFolder {
  create(): Promise<TemporaryFile>;
  /** Calls `work` with the path of a copy of a file, and then deletes the copy. */
  withCopy<Result>(
    file: TemporaryFile,
    extension: string,
    work: (path: string) => Promise<Result>,
  ): Promise<Result>;
}

/**
 * Manages the private folder for uploaded files, which is next to the database. The folder is created when the first
 * file arrives.
 */
export function createTemporaryFolder(
  databasePath: string,
  { files, random }: { readonly files: FileSystem; readonly random: Random },
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
    async withCopy(file, extension, work) {
      await ensurePrivateFolder(folder, files);
      const path = resolve(folder, `${random.uuid()}.${extension}`);
      const copy = await files.open(path, 'wx', 0o600);
      try {
        try {
          for await (const bytes of file.read()) await writeAll(copy, bytes);
        } finally {
          await copy.close();
        }
        return await work(path);
      } finally {
        await files.unlink(path);
      }
    },
  };
}

function temporaryFile(handle: FileHandle): TemporaryFile {
  let size = 0;
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
    read: () => handle.createReadStream({ start: 0, autoClose: false }),
    discard: () => handle.close().catch(() => undefined),
  };
}
