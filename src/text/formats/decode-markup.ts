import { isUtf8 } from 'node:buffer';
import { decodeAll, decodeUtf8 } from '../decode.ts';
import { DocumentError } from './document-error.ts';

/**
 * Decodes HTML or XML. The encoding comes from the byte order mark, or from the declaration of the document, such as
 * `<?xml encoding="iso-8859-1"?>` or `<meta charset="windows-1252">`; otherwise it is UTF-8.
 * @throws DocumentError for an unknown encoding, or bytes that are invalid in the declared encoding
 * @throws TextEncodingError if the document declares no other encoding and is not UTF-8
 */
export function decodeMarkup(bytes: Uint8Array): string {
  const encoding = utf16Of(bytes) ?? (isUtf8(bytes) ? undefined : declaredEncoding(bytes));
  if (encoding === undefined || /^utf-?(?:8|16)$/i.test(encoding)) return decodeUtf8(bytes);
  try {
    return decodeAll(new TextDecoder(encoding, { fatal: true }), bytes);
  } catch (error) {
    const problem = error instanceof RangeError ? 'is not supported' : 'does not match its bytes';
    throw new DocumentError(`the encoding "${encoding}" of the document ${problem}`, {
      hint: 'Save the document as UTF-8.',
    });
  }
}

// By the byte order mark, or by the first character, which is `<`.
function utf16Of([a, b]: Uint8Array): string | undefined {
  if ((a === 0xff && b === 0xfe) || (a === 0x3c && b === 0)) return 'utf-16le';
  return (a === 0xfe && b === 0xff) || (a === 0 && b === 0x3c) ? 'utf-16be' : undefined;
}

function declaredEncoding(bytes: Uint8Array): string | undefined {
  const head = Buffer.from(bytes.subarray(0, HEAD_BYTES)).toString('latin1');
  return (XML_ENCODING.exec(head) ?? META_CHARSET.exec(head))?.[1];
}

const HEAD_BYTES = 1_024;
const XML_ENCODING = /^\s*<\?xml\s[^>]*?\bencoding\s*=\s*["']([\w.:-]{1,40})["']/;
const META_CHARSET = /<meta\s[^>]*?\bcharset\s*=\s*["']?([\w.:-]{1,40})/i;
