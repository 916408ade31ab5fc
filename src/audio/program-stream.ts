import { readSync } from 'node:fs';
import type { OpenFile } from './sound.ts';
import { fileHead, filePieces, UnusableAudioError } from './sound.ts';

const START_CODE = 0x00_0001;
const PACK = 0xba;
const END = 0xb9;
const FIRST_AUDIO = 0xc0;
const LAST_AUDIO = 0xdf;
// The longest packet: 6 bytes of header and 65,535 others.
const LONGEST_PACKET = 65_541;
const HEADER_BYTES = 6;

/**
 * Returns whether a file begins as an MPEG program stream, as MPEG video without a container, or as MPEG audio of layer
 * II.
 */
export function isMpegStream(head: Uint8Array): boolean {
  const [first, second, third, fourth] = head;
  const isVideo = first === 0 && second === 0 && third === 1;
  return (isVideo && (fourth === PACK || fourth === 0xb3)) || isLayerTwo(head);
}

function isLayerTwo([first, second = 0, third = 0]: Uint8Array): boolean {
  const [bitrate, rate] = [third >> 4, (third >> 2) & 3];
  return first === 0xff && (second & 0xf6) === 0xf4 && bitrate > 0 && bitrate < 15 && rate < 3;
}

/** Returns the number of channels of the first frame in a part of MPEG audio; undefined if no frame begins there. */
export function mpegChannels(bytes: Uint8Array): number | undefined {
  const start = bytes.findIndex(
    (byte, at) => byte === 0xff && ((bytes[at + 1] ?? 0) & 0xe0) === 0xe0,
  );
  const modes = bytes[start + 3];
  return start === -1 || modes === undefined ? undefined : modes >> 6 === MONO ? 1 : 2;
}

const MONO = 3;
const PIECE_BYTES = 64 * 1024;

/**
 * Yields the bytes of the first audio stream in an MPEG program stream (ISO/IEC 11172-1 and 13818-1), or of a file that
 * is MPEG audio.
 * @throws UnusableAudioError for a file that is damaged or has no MPEG audio
 */
export function* mpegAudio(file: OpenFile): Generator<Uint8Array, undefined> {
  if (isLayerTwo(fileHead(file, 4))) {
    yield* filePieces(file, PIECE_BYTES);
    return;
  }
  const { fd, size } = file;
  const buffer = Buffer.alloc(LONGEST_PACKET);
  let chosen: number | undefined;
  for (let at = 0; at + 4 <= size;) {
    const packet = buffer.subarray(0, readSync(fd, buffer, 0, LONGEST_PACKET, at));
    const code = packet[3] ?? END;
    if (packet.readUIntBE(0, 3) !== START_CODE || code < END) {
      throw new UnusableAudioError(
        chosen === undefined
          ? 'has no MPEG audio'
          : `is damaged: the bytes at offset ${at} are not an MPEG packet`,
      );
    }
    if (code === END) break;
    const length = code === PACK ? packLength(packet) : HEADER_BYTES + readLength(packet);
    if (at + length > size) throw new UnusableAudioError('is cut: it ends inside an MPEG packet');
    if (code >= FIRST_AUDIO && code <= LAST_AUDIO) chosen ??= code;
    if (code === chosen) yield packet.subarray(payloadStart(packet), length);
    at += length;
  }
  if (chosen === undefined) throw new UnusableAudioError('has no MPEG audio');
}

function readLength(packet: Buffer): number {
  return packet.length < HEADER_BYTES ? LONGEST_PACKET : packet.readUInt16BE(4);
}

// A pack of MPEG-2 ends with up to 7 bytes of stuffing; a pack of MPEG-1 always has 12 bytes.
function packLength(packet: Buffer): number {
  const isMpeg2 = ((packet[4] ?? 0) & 0xc0) === 0x40;
  return isMpeg2 ? 14 + ((packet[13] ?? 0) & 7) : 12;
}

function payloadStart(packet: Buffer): number {
  const first = packet[HEADER_BYTES] ?? 0;
  if ((first & 0xc0) === 0x80) return HEADER_BYTES + 3 + (packet[HEADER_BYTES + 2] ?? 0);
  // The header of MPEG-1: stuffing, the size of a buffer, and one or two times.
  let at = HEADER_BYTES;
  while (packet[at] === 0xff && at < HEADER_BYTES + 16) at += 1;
  if (((packet[at] ?? 0) & 0xc0) === 0x40) at += 2;
  const times = (packet[at] ?? 0) >> 4;
  return at + (times === 2 ? 5 : times === 3 ? 10 : 1);
}
