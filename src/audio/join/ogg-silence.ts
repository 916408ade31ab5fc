import type { OggCodec, OggHeader } from '../ogg.ts';
import { LAST_PAGE } from '../ogg.ts';
import { badPart } from './joiner.ts';

export interface OggPage extends OggHeader {
  readonly body: Uint8Array;
}

/** Returns the number of header packets of an Ogg codec; undefined if foley cannot create silence for the codec. */
export function headerPackets({ name }: OggCodec): number | undefined {
  return name === 'vorbis' ? 3 : name === 'opus' ? 2 : undefined;
}

const MOST_PACKETS_PER_PAGE = 250;

/**
 * Yields the Ogg pages of a silent stream. The caller sets their serial and sequence numbers.
 * @param headers header pages of another stream with the same codec and parameters
 * @param start granule position of the first sample; used only for Vorbis, because an Opus stream starts at 0
 * @param granules length of the silence in granules, at least 1
 */
export function* silentPages(
  codec: OggCodec,
  headers: readonly OggPage[],
  start: bigint,
  granules: number,
): Generator<OggPage> {
  yield* headers;
  const { first, packet, perPacket } = silentPacket(codec, headers);
  // The decoder drops the first packet of Vorbis and the pre-skip of Opus.
  const dropped = first ? 0 : codec.preSkip;
  const total = dropped + granules;
  if (first) yield pageOf(packet, 1, start, 0);
  let done = 0;
  while (done < total) {
    const count = Math.min(MOST_PACKETS_PER_PAGE, Math.ceil((total - done) / perPacket));
    done += count * perPacket;
    const isLast = done >= total;
    // A granule position before the end of the last packet cuts off the rest.
    const granule = BigInt(Math.min(done, total)) + (first ? start : 0n);
    yield pageOf(packet, count, granule, isLast ? LAST_PAGE : 0);
  }
}

function pageOf(packet: Uint8Array, count: number, granule: bigint, flags: number): OggPage {
  const body = new Uint8Array(packet.length * count);
  for (let index = 0; index < count; index += 1) body.set(packet, index * packet.length);
  const table = new Uint8Array(count).fill(packet.length);
  return { flags, granule, serial: 0, sequence: 0, table, body };
}

function silentPacket({ channels = 1, name }: OggCodec, headers: readonly OggPage[]) {
  if (name === 'opus') {
    if (channels > 2) throw badPart('foley cannot make silence in more than 2 channels');
    // CELT, full band, 20 ms, with the flag of silence (RFC 6716, sections 3.1 and 4.3).
    const packet = Uint8Array.of(channels === 2 ? 0xfc : 0xf8, 0xff, 0xfe);
    return { packet, perPacket: 960, first: false };
  }
  // An audio packet of mode 0 whose channels all have no floor (Vorbis I, sections 4.3.1, 4.3.2 and 7.2.2).
  const packet = new Uint8Array(2 + (channels >> 3));
  return { packet, perPacket: modeZeroBlock(headers) / 2, first: true };
}

function modeZeroBlock(headers: readonly OggPage[]): number {
  const [identification, , setup] = packetsOf(headers);
  const sizes = identification?.[28] ?? 0;
  const isLong = setup === undefined ? undefined : isModeZeroLong(setup);
  if (isLong === undefined || sizes === 0) throw badPart('one has an unusual Vorbis header');
  return 1 << (isLong ? sizes >> 4 : sizes & 15);
}

function packetsOf(pages: readonly OggPage[]): Uint8Array[] {
  const packets: Uint8Array[] = [];
  let open: Uint8Array[] = [];
  for (const { body, table } of pages) {
    let at = 0;
    for (const length of table) {
      open.push(body.subarray(at, at + length));
      at += length;
      if (length === 255) continue;
      packets.push(Buffer.concat(open));
      open = [];
    }
  }
  return packets;
}

const MODE_BITS = 41;
const MODES_MAX = 64;

function isModeZeroLong(setup: Uint8Array): boolean | undefined {
  const bit = (at: number): number => ((setup[at >> 3] ?? 0) >> (at & 7)) & 1;
  const bits = (at: number, count: number): number => {
    let value = 0;
    for (let index = count - 1; index >= 0; index -= 1) value = value * 2 + bit(at + index);
    return value;
  };
  let framing = setup.length * 8 - 1;
  while (framing > 0 && bit(framing) === 0) framing -= 1;
  let isLong: boolean | undefined;
  for (let modes = 1; modes <= MODES_MAX; modes += 1) {
    const start = framing - modes * MODE_BITS;
    // A mode has its block flag, 32 bits that are 0, and the number of its mapping.
    if (start < 6 || bits(start + 1, 32) !== 0 || bits(start + 33, 8) >= MODES_MAX) break;
    if (bits(start - 6, 6) + 1 === modes) isLong = bit(start) === 1;
  }
  return isLong;
}
