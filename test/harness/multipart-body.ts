/** A part of a form: a text, or a file where it has a name. */
export interface FormPart {
  readonly name: string;
  readonly fileName?: string;
  readonly value: string | Uint8Array;
}

export interface MultipartBody {
  readonly bytes: Buffer;
  readonly headers: { readonly 'Content-Type': string };
}

const BOUNDARY = 'boundary-of-the-tests';

/** A `multipart/form-data` body, written here so that a test can also write a wrong one. */
export function multipartBody(parts: readonly FormPart[]): MultipartBody {
  const bytes = Buffer.concat([
    ...parts.flatMap(({ name, fileName, value }) => [
      Buffer.from(headOf(name, fileName), 'latin1'),
      typeof value === 'string' ? Buffer.from(value) : value,
      Buffer.from('\r\n'),
    ]),
    Buffer.from(`--${BOUNDARY}--\r\n`),
  ]);
  return { bytes, headers: { 'Content-Type': `multipart/form-data; boundary=${BOUNDARY}` } };
}

/** A file name is written byte by byte, so that it may be no UTF-8. */
function headOf(name: string, fileName: string | undefined): string {
  const file = fileName === undefined ? '' : `; filename="${fileName}"`;
  const type = fileName === undefined ? '' : 'Content-Type: application/octet-stream\r\n';
  return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n${type}\r\n`;
}
