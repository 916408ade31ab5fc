import type { StreamedBody } from './request.ts';

export type FormPart = { readonly name: string; readonly value: string } | FilePart;

/** A file whose content is read while the request is sent. */
export interface UploadFile extends StreamedBody {
  readonly filename: string;
}

interface FilePart extends UploadFile {
  readonly name: string;
}

/**
 * Builds a `multipart/form-data` body (RFC 7578). Escapes field names as browsers do.
 * @param boundary at most 70 letters, digits and dashes; must not occur in any part
 */
export function multipartBody(parts: readonly FormPart[], boundary: string): StreamedBody {
  const pieces = parts.map((part) => ({ part, head: Buffer.from(headOf(part, boundary)) }));
  const end = Buffer.from(`--${boundary}--\r\n`);
  const byteLength = pieces.reduce(
    (sum, { head, part }) => sum + head.length + lengthOf(part) + LINE_END.length,
    end.length,
  );
  async function* open(): AsyncGenerator<Uint8Array, void, undefined> {
    for (const { head, part } of pieces) {
      yield head;
      if ('value' in part) yield Buffer.from(part.value);
      else yield* part.open();
      yield LINE_END;
    }
    yield end;
  }
  return { contentType: `multipart/form-data; boundary=${boundary}`, byteLength, open };
}

const LINE_END = Buffer.from('\r\n');

function headOf(part: FormPart, boundary: string): string {
  const file =
    'value' in part
      ? ''
      : `; filename="${escape(part.filename)}"\r\nContent-Type: ${part.contentType}`;
  const disposition = `Content-Disposition: form-data; name="${escape(part.name)}"${file}`;
  return `--${boundary}\r\n${disposition}\r\n\r\n`;
}

function lengthOf(part: FormPart): number {
  return 'value' in part ? Buffer.byteLength(part.value) : part.byteLength;
}

function escape(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}
