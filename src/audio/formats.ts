/**
 * The formats that foley reads, writes or recognises: the single source for extensions, media types
 * and names. `opus` is Opus in Ogg; `pcm` is raw little-endian 16-bit samples, which carry no mark.
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
  webm: { kind: 'video', extensions: ['webm'], mediaTypes: ['video/webm', 'audio/webm'] },
  mp4: { kind: 'video', extensions: ['mp4', 'mov', 'm4v'], mediaTypes: ['video/mp4'] },
  png: { kind: 'image', extensions: ['png'], mediaTypes: ['image/png'] },
  jpeg: { kind: 'image', extensions: ['jpg', 'jpeg'], mediaTypes: ['image/jpeg'] },
  webp: { kind: 'image', extensions: ['webp'], mediaTypes: ['image/webp'] },
} as const satisfies Record<string, FormatFacts>;

interface FormatFacts {
  readonly kind: 'audio' | 'video' | 'image';
  /** Without a dot; the first is the one that foley writes. */
  readonly extensions: readonly [string, ...string[]];
  /** The first is the one that foley sends. */
  readonly mediaTypes: readonly [string, ...string[]];
}

export type Format = keyof typeof FORMATS;

/** The format whose name this is, whatever the case; `jpg` and `wave` are not names. */
export function formatNamed(name: string): Format | undefined {
  const wanted = name.toLowerCase();
  return FORMAT_NAMES.find((format) => format === wanted);
}

/** The format that a file extension stands for, with or without its dot, whatever the case. */
export function formatOfExtension(extension: string): Format | undefined {
  const wanted = extension.toLowerCase().replace(/^\./, '');
  return FORMAT_NAMES.find((format) => includes(FORMATS[format].extensions, wanted));
}

/** The format that a path's extension stands for; a name that only begins with a dot has none. */
export function formatOfPath(path: string): Format | undefined {
  const extension = /[^/\\]\.([^./\\]+)$/.exec(path)?.[1];
  return extension === undefined ? undefined : formatOfExtension(extension);
}

/**
 * The format that a `Content-Type` stands for, parameters heeded where they decide
 * (`audio/ogg; codecs=opus`). Undefined for what foley does not know.
 */
export function formatOfMediaType(contentType: string): Format | undefined {
  const essence = essenceOf(contentType);
  const format = FORMAT_NAMES.find((name) => includes(FORMATS[name].mediaTypes, essence));
  return format === 'ogg' && /;\s*codecs="?opus/i.test(contentType) ? 'opus' : format;
}

/** Whether a `Content-Type` promises sound. An opaque type promises nothing; see {@link isOpaqueMediaType}. */
export function isAudioMediaType(contentType: string): boolean {
  const essence = essenceOf(contentType);
  return essence.startsWith('audio/') || essence === 'application/ogg';
}

/** Whether a `Content-Type` says no more than "bytes", as file stores answer. */
export function isOpaqueMediaType(contentType: string): boolean {
  return ['application/octet-stream', 'binary/octet-stream', ''].includes(essenceOf(contentType));
}

/** The extension that files of a format get, without a dot. */
export function extensionOf(format: Format): string {
  return FORMATS[format].extensions[0];
}

/** The media type that foley sends for a format. */
export function mediaTypeOf(format: Format): string {
  return FORMATS[format].mediaTypes[0];
}

const FORMAT_NAMES = Object.keys(FORMATS).filter((name): name is Format => name in FORMATS);

function includes(list: readonly string[], wanted: string): boolean {
  return list.includes(wanted);
}

function essenceOf(contentType: string): string {
  return (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
}
