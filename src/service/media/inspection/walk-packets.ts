import type { InputAudioTrack, InputVideoTrack } from 'mediabunny';
import { MediaTaskError } from '../child/media-task-error.ts';
import { fillsExactly, unitLengthBytes } from './coded-units.ts';

/** More than half an hour of anything has. */
const MOST_PACKETS = 1_000_000;

/** What the packets of a track come to. */
export interface PacketFacts {
  /** When the first is shown, in seconds. */
  readonly first: number;
  readonly count: number;
  readonly bytes: number;
}

/**
 * Reads every packet of a track: what is cut or lies outside of its file is found now, and not when
 * something was paid for.
 * @throws MediaTaskError, and whatever a demuxer does
 */
export async function walkPackets(track: InputAudioTrack | InputVideoTrack): Promise<PacketFacts> {
  const { EncodedPacketSink } = await import('mediabunny');
  const description = (await track.getDecoderConfig())?.description;
  const codec = await track.getCodec();
  const lengthBytes = description === undefined ? undefined : unitLengthBytes(codec, description);
  let count = 0;
  let bytes = 0;
  for await (const packet of new EncodedPacketSink(track).packets()) {
    if (count === 0 && packet.type !== 'key') throw broken('does not begin with a whole picture');
    const isEmpty = packet.data.length === 0;
    if (isEmpty || !Number.isFinite(packet.timestamp) || !(packet.duration >= 0)) {
      throw broken('has packets with nothing in them');
    }
    if (lengthBytes !== undefined && !fillsExactly(packet.data, lengthBytes)) {
      throw broken('has pictures that are cut');
    }
    count += 1;
    bytes += packet.data.length;
    if (count > MOST_PACKETS) throw broken('has more packets than any');
  }
  if (count === 0) throw broken('has nothing in it');
  return { first: await track.getFirstTimestamp(), count, bytes };
}

function broken(what: string): MediaTaskError {
  return new MediaTaskError('unreadable', what);
}
