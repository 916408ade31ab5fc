import type { StoredAudio } from '../speech/audio-files.ts';
import type { LinkProof, LinkTarget } from '../jobs/signed-links.ts';
import type { ServiceContext } from '../service-context.ts';
import { ServiceError } from '../service-error.ts';
import type { EncodedFormat } from '../speech/encode.ts';
import { speechMediaType } from '../speech/encode.ts';
import { showText } from '../http/validation.ts';

// The headers `Range`, `If-Range` and `If-None-Match` apply.
interface FileCall {
  readonly request: Request;
  /** With `download` set to `1`, browsers save the file instead of playing it. */
  readonly query?: { readonly download?: '0' | '1' };
}

/**
 * Responds with stored audio: the whole file, or the byte range that the client requested.
 * @param name file name without extension
 */
export function storedAudioResponse(
  call: FileCall,
  audio: StoredAudio,
  { format, name }: { readonly format: EncodedFormat; readonly name: string },
): Response {
  const contentType = speechMediaType(format);
  return storedFileResponse(call, audio, { contentType, name: `${name}.${format}` });
}

/**
 * Responds with a stored file (RFC 9110, sections 13 and 14): 200 with the whole file, 206 with the requested range,
 * or 304 if the client already has the file.
 * @throws ServiceError 416 for a range beyond the end of the file
 */
export function storedFileResponse(
  { query, request }: FileCall,
  file: StoredAudio,
  { contentType, name }: { readonly contentType: string; readonly name: string },
): Response {
  const etag = `"${file.version}"`;
  const headers = new Headers({ 'Accept-Ranges': 'bytes', ETag: etag });
  if (hasMatch(request.headers.get('If-None-Match'), etag)) {
    return new Response(null, { status: 304, headers });
  }
  const range = rangeOf(request, file, etag);
  const { start, end } = range ?? { start: 0, end: file.size };
  headers.set('Content-Type', contentType);
  headers.set('Content-Length', String(end - start));
  const kind = query?.download === '1' ? 'attachment' : 'inline';
  headers.set('Content-Disposition', `${kind}; filename="${name}"`);
  if (range !== undefined) headers.set('Content-Range', `bytes ${start}-${end - 1}/${file.size}`);
  return new Response(bodyOf(file, start, end), {
    status: range === undefined ? 200 : 206,
    headers,
  });
}

/** Checks a signed link. @throws ServiceError 403 for an invalid signature or an expired link */
export function requireSigned(
  { query }: { readonly query: LinkProof },
  { links }: ServiceContext,
  target: LinkTarget,
): void {
  if (links.isValid(target, query)) return;
  const message = 'The link is invalid or has expired; request a new one';
  throw new ServiceError('ERR_FORBIDDEN', message);
}

// A weak ETag matches too.
function hasMatch(list: string | null, etag: string): boolean {
  const tags = (list ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return tags.some((tag) => tag === '*' || tag === etag);
}

interface ByteRange {
  readonly start: number;
  readonly end: number;
}

// `undefined`, for the whole file, if `Range` is missing, invalid or has several ranges, or if `If-Range` does not
// match the file.
function rangeOf(
  { headers, method }: Request,
  { size }: StoredAudio,
  etag: string,
): ByteRange | undefined {
  const given = headers.get('Range') ?? '';
  const condition = headers.get('If-Range');
  const [, first = '', last = ''] = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(given) ?? [];
  const isRange = first !== '' ? last === '' || Number(first) <= Number(last) : last !== '';
  if (method !== 'GET' || !isRange || (condition !== null && condition !== etag)) return undefined;
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  const end = first === '' || last === '' ? size : Math.min(size, Number(last) + 1);
  if (start < end) return { start, end };
  const message = `Range ${showText(given)} is beyond the end of the file; it has ${size} bytes`;
  throw new ServiceError('ERR_RANGE_NOT_SATISFIABLE', message, {
    headers: { 'Content-Range': `bytes */${size}` },
  });
}

// Opens the file on the first read, because the body of a response to HEAD is never read.
function bodyOf(audio: StoredAudio, start: number, end: number): ReadableStream<Uint8Array> {
  const pieces = audio.read(start, end);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await pieces.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await pieces.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
}
