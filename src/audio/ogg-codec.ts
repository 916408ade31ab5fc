/** What the first packet of a logical Ogg stream tells. */
export interface OggCodec {
  readonly name: 'vorbis' | 'opus' | 'flac' | 'speex' | 'unknown';
  readonly channels: number | undefined;
  /** Of the sound; Opus always plays at 48 kHz. */
  readonly sampleRate: number | undefined;
  /** Granules a second, undefined when the codec is not known well enough to tell time by it. */
  readonly granuleRate: number | undefined;
  /** Granules before the sound begins. */
  readonly preSkip: number;
}

/** As much of the first packet as {@link readOggCodec} looks at. */
export const CODEC_BYTES = 32;

/** Reads the beginning of a first packet; what is cut or strange is an `unknown` codec. */
export function readOggCodec(packet: Uint8Array): OggCodec {
  const mark = Buffer.from(packet.subarray(0, 8)).toString('latin1');
  const view = new DataView(packet.buffer, packet.byteOffset, packet.byteLength);
  if (mark.startsWith('\x01vorbis') && packet.length >= 16) {
    return known('vorbis', view.getUint8(11), view.getUint32(12, true));
  }
  if (mark === 'OpusHead' && packet.length >= 16) {
    return { ...known('opus', view.getUint8(9), 48_000), preSkip: view.getUint16(10, true) };
  }
  if (mark.startsWith('\x7fFLAC') && packet.length >= 30) {
    // STREAMINFO behind a 13-byte prefix and a 4-byte block header: 20 bits of rate, 3 of channels.
    const rateAndChannels = view.getUint32(27);
    return known('flac', ((rateAndChannels >>> 9) & 7) + 1, rateAndChannels >>> 12);
  }
  const name = mark === 'Speex   ' ? 'speex' : 'unknown';
  return { name, channels: undefined, sampleRate: undefined, granuleRate: undefined, preSkip: 0 };
}

function known(name: OggCodec['name'], channels: number, sampleRate: number): OggCodec {
  const granuleRate = sampleRate === 0 ? undefined : sampleRate;
  return { name, channels, sampleRate: granuleRate, granuleRate, preSkip: 0 };
}
