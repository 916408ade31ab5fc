import type { EncodedPacket, EncodedVideoPacketSource, InputVideoTrack } from 'mediabunny';
import type { SourceTime } from './place-pictures.ts';
import { placePictures } from './place-pictures.ts';

/** The pictures of a result: those of a track, as they are. */
export interface PlacedVideo {
  readonly track: InputVideoTrack;
  readonly places: readonly SourceTime[];
}

/** Decides which pictures are shown when. */
export async function placeVideo(track: InputVideoTrack, seconds: number): Promise<PlacedVideo> {
  const { EncodedPacketSink } = await import('mediabunny');
  const source: SourceTime[] = [];
  const packets = new EncodedPacketSink(track).packets(undefined, undefined, {
    metadataOnly: true,
  });
  for await (const { timestamp, duration } of packets) source.push({ timestamp, duration });
  const length = (await track.computeDuration()) - (await track.getFirstTimestamp());
  return { track, places: placePictures(source, { length, seconds }) };
}

/** Hands on every packet in its place. @param heard is told of each */
export async function copyVideo(
  { track, places }: PlacedVideo,
  output: EncodedVideoPacketSource,
  heard: () => void,
): Promise<void> {
  const decoderConfig = await track.getDecoderConfig();
  if (decoderConfig === null) throw new TypeError('a track without a description of its codec');
  let sequenceNumber = 0;
  for await (const [packet, { timestamp, duration }] of inPlaces(track, places)) {
    const placed = packet.clone({ timestamp, duration, sequenceNumber });
    await output.add(placed, sequenceNumber === 0 ? { decoderConfig } : undefined);
    sequenceNumber += 1;
    heard();
  }
  output.close();
}

/** Goes through the source once for each turn. */
async function* inPlaces(
  track: InputVideoTrack,
  places: readonly SourceTime[],
): AsyncGenerator<readonly [EncodedPacket, SourceTime]> {
  const { EncodedPacketSink } = await import('mediabunny');
  const sink = new EncodedPacketSink(track);
  for (let next = 0; next < places.length;) {
    const before = next;
    for await (const packet of sink.packets()) {
      const place = places[next];
      if (place === undefined) return;
      yield [packet, place];
      next += 1;
    }
    if (next === before) throw new TypeError('a track that is empty now');
  }
}
