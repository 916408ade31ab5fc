import { FOREIGN_EXTENSIONS } from '../contract/foreign-extensions.ts';
import type { Failure } from '../errors/failure.ts';
import { usageFailure } from '../errors/failure.ts';
import { display } from '../text/display.ts';

/**
 * The formats that foley reads, writes or detects. Extensions have no dot. The first extension and the first media type
 * in each list are used for new files. `opus` is Opus in Ogg; `pcm` is raw 16-bit little-endian samples.
 */
export const FORMATS = {
  mp3: {
    kind: 'audio',
    extensions: ['mp3'],
    mediaTypes: ['audio/mpeg', 'audio/mp3', 'audio/mpeg3', 'audio/x-mp3', 'audio/x-mpeg'],
  },
  wav: {
    kind: 'audio',
    extensions: ['wav', 'wave'],
    mediaTypes: ['audio/wav', 'audio/x-wav', 'audio/wave', 'audio/vnd.wave'],
  },
  ogg: {
    kind: 'audio',
    extensions: ['ogg', 'oga'],
    mediaTypes: ['audio/ogg', 'application/ogg', 'audio/vorbis'],
  },
  opus: { kind: 'audio', extensions: ['opus'], mediaTypes: ['audio/opus'] },
  pcm: {
    kind: 'audio',
    extensions: ['pcm', 'raw'],
    mediaTypes: ['audio/pcm', 'audio/x-pcm', 'audio/l16', 'audio/basic'],
  },
  flac: { kind: 'audio', extensions: ['flac'], mediaTypes: ['audio/flac', 'audio/x-flac'] },
  aac: { kind: 'audio', extensions: ['aac'], mediaTypes: ['audio/aac', 'audio/aacp'] },
  m4a: {
    kind: 'audio',
    extensions: ['m4a'],
    mediaTypes: ['audio/mp4', 'audio/x-m4a', 'audio/m4a'],
  },
  m4b: { kind: 'audio', extensions: ['m4b'], mediaTypes: ['audio/x-m4b'] },
  webm: { kind: 'video', extensions: ['webm'], mediaTypes: ['video/webm', 'audio/webm'] },
  mp4: { kind: 'video', extensions: ['mp4', 'mov', 'm4v'], mediaTypes: ['video/mp4'] },
  png: { kind: 'image', extensions: ['png'], mediaTypes: ['image/png'] },
  jpeg: { kind: 'image', extensions: ['jpg', 'jpeg'], mediaTypes: ['image/jpeg'] },
  webp: { kind: 'image', extensions: ['webp'], mediaTypes: ['image/webp'] },
} as const satisfies Record<
  string,
  {
    readonly kind: 'audio' | 'video' | 'image';
    readonly extensions: readonly [string, ...string[]];
    readonly mediaTypes: readonly [string, ...string[]];
  }
>;

export type Format = keyof typeof FORMATS;

/** Returns the format with a name such as `jpeg`, ignoring case. Extensions such as `jpg` are not names. */
export function formatNamed(name: string): Format | undefined {
  const wanted = name.toLowerCase();
  return FORMAT_NAMES.find((format) => format === wanted);
}

/** Returns the format for a path's extension, ignoring case. A file that is named just `.mp3` has no extension. */
export function formatOfPath(path: string): Format | undefined {
  const extension = extensionIn(path);
  return FORMAT_NAMES.find((format) => includes(FORMATS[format].extensions, extension));
}

/**
 * Returns the failure for an output whose extension belongs to another kind of file, such as `.wma` or `.txt`; otherwise
 * undefined.
 * @param given the flag or field with the path, such as `--output`
 * @param formats the formats that the output can have
 */
export function foreignOutput(
  given: string,
  path: string,
  formats: readonly Format[],
): Failure | undefined {
  if (!FOREIGN_EXTENSIONS.has(extensionIn(path))) return undefined;
  const extensions = formats.map((format) => `.${extensionOf(format)}`).join(', ');
  return usageFailure(
    `${given} is ${display(path)}; the extension of a speech file is ${extensions}`,
    'Use one of these extensions, and convert the file afterwards.',
  );
}

/**
 * Returns the format for a `Content-Type`; undefined for an unknown type. For Ogg with `codecs=opus`, the format is
 * `opus`.
 */
export function formatOfMediaType(contentType: string): Format | undefined {
  const essence = essenceOf(contentType);
  const format = FORMAT_NAMES.find((name) => includes(FORMATS[name].mediaTypes, essence));
  return format === 'ogg' && /;\s*codecs="?opus/i.test(contentType) ? 'opus' : format;
}

/** Returns whether a `Content-Type` says nothing about the format, such as `application/octet-stream`. */
export function isOpaqueMediaType(contentType: string): boolean {
  return ['application/octet-stream', 'binary/octet-stream', ''].includes(essenceOf(contentType));
}

/** Returns the extension for new files of a format, without a dot. */
export function extensionOf(format: Format): string {
  return FORMATS[format].extensions[0];
}

export function mediaTypeOf(format: Format): string {
  return FORMATS[format].mediaTypes[0];
}

const FORMAT_NAMES = Object.keys(FORMATS).filter((name): name is Format => name in FORMATS);

function extensionIn(path: string): string {
  return /[^/\\]\.([^./\\]+)$/.exec(path)?.[1]?.toLowerCase() ?? '';
}

function includes(list: readonly string[], wanted: string): boolean {
  return list.includes(wanted);
}

function essenceOf(contentType: string): string {
  return (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
}
