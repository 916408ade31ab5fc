import type { OggCodec } from './ogg.ts';
import {
  bodyLength,
  FIRST_PAGE,
  isOggPage,
  LAST_PAGE,
  OGG_HEAD_BYTES,
  readOggCodec,
  readOggHeader,
} from './ogg.ts';
import type { DecodedSound, AudioPieces, SoundDecoder } from './sound.ts';
import { UnusableAudioError } from './sound.ts';
import { createFlacDecoder, createOpusDecoder, createVorbisDecoder } from './wasm-decoders.ts';

const DECODERS: Readonly<Partial<Record<OggCodec['name'], () => Promise<SoundDecoder>>>> = {
  vorbis: createVorbisDecoder,
  opus: createOpusDecoder,
  flac: createFlacDecoder,
};

/** Returns whether {@link decodeOgg} can decode a codec, by its name in the verdict about an Ogg file. */
export function isDecodableOgg(codec: string | undefined): boolean {
  return Object.keys(DECODERS).some((name) => name === codec);
}

/**
 * Decodes the sound of an Ogg file. A file may consist of several chained streams (RFC 3533, section 4), and each of
 * them gets a decoder of its own. Of concurrent streams, only the first one with sound is decoded. Applies the output
 * gain of Opus (RFC 7845, section 5.1).
 */
export async function* decodeOgg(pieces: AudioPieces): AsyncGenerator<DecodedSound> {
  let link: OggLink | undefined;
  try {
    for await (const page of oggPages(pieces)) {
      const { flags, serial, table } = readOggHeader(page);
      if (link === undefined && (flags & FIRST_PAGE) !== 0) {
        link = await openLink(serial, page.subarray(OGG_HEAD_BYTES + table.length));
      }
      if (link?.serial !== serial) continue;
      for (let at = 0; at < page.length; at += link.decoder.pieceBytes) {
        const piece = page.subarray(at, at + link.decoder.pieceBytes);
        yield soundOf(link, await link.decoder.decode(piece));
      }
      if ((flags & LAST_PAGE) === 0) continue;
      yield soundOf(link, await link.decoder.finish());
      link.decoder.close();
      link = undefined;
    }
    if (link !== undefined) yield soundOf(link, await link.decoder.finish());
  } finally {
    link?.decoder.close();
  }
}

interface OggLink {
  readonly serial: number;
  readonly channels: number | undefined;
  readonly gain: number;
  readonly decoder: SoundDecoder;
}

async function openLink(serial: number, beginning: Uint8Array): Promise<OggLink | undefined> {
  const { channels, gainDb, name } = readOggCodec(beginning);
  const decoder = await DECODERS[name]?.();
  return decoder === undefined
    ? undefined
    : { serial, channels, gain: 10 ** (gainDb / 20), decoder };
}

function soundOf({ channels: declared, gain }: OggLink, decoded: DecodedSound): DecodedSound {
  const channels = decoded.channels.slice(0, declared);
  return gain === 1
    ? { ...decoded, channels }
    : { ...decoded, channels: channels.map((samples) => samples.map((one) => one * gain)) };
}

async function* oggPages(pieces: AudioPieces): AsyncGenerator<Uint8Array> {
  let held = new Uint8Array(0);
  for await (const piece of pieces) {
    const bytes = new Uint8Array(held.length + piece.length);
    bytes.set(held);
    bytes.set(piece, held.length);
    let at = 0;
    for (let length = pageLength(bytes, at); length > 0; length = pageLength(bytes, at)) {
      yield bytes.subarray(at, at + length);
      at += length;
    }
    held = bytes.subarray(at);
  }
  if (held.length > 0) throw new UnusableAudioError('is cut: it ends inside an Ogg page');
}

// Returns 0 if the page is not complete yet.
function pageLength(bytes: Uint8Array, at: number): number {
  const head = bytes.subarray(at, at + OGG_HEAD_BYTES);
  if (head.length < OGG_HEAD_BYTES) return 0;
  if (!isOggPage(head)) throw new UnusableAudioError('has bytes that are not an Ogg page');
  const tableEnd = at + OGG_HEAD_BYTES + (head.at(-1) ?? 0);
  const end = tableEnd + bodyLength(bytes.subarray(at + OGG_HEAD_BYTES, tableEnd));
  return tableEnd > bytes.length || end > bytes.length ? 0 : end - at;
}
