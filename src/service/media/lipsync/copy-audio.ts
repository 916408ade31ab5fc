import type { EncodedAudioPacketSource, InputAudioTrack } from 'mediabunny';
import type { AudioFacts } from '../inspection/inspection.ts';

export interface AudioCopy {
  readonly track: InputAudioTrack;
  /** When the sound begins on the clock of the packets. */
  readonly start: AudioFacts['start'];
  /** When it ends in the result: no packet lasts longer. */
  readonly seconds: number;
}

/**
 * Hands on the packets of a track so that the sound begins at 0: what an encoder added comes before that,
 * and what would last longer than the result is cut.
 */
export async function copyAudio(
  { track, start, seconds }: AudioCopy,
  output: EncodedAudioPacketSource,
): Promise<void> {
  const { EncodedPacketSink } = await import('mediabunny');
  const decoderConfig = await track.getDecoderConfig();
  if (decoderConfig === null) throw new TypeError('a track without a description of its codec');
  let isFirst = true;
  for await (const packet of new EncodedPacketSink(track).packets()) {
    const timestamp = packet.timestamp - start;
    if (timestamp >= seconds) break;
    const duration = Math.min(packet.duration, seconds - timestamp);
    await output.add(
      packet.clone({ timestamp, duration }),
      isFirst ? { decoderConfig } : undefined,
    );
    isFirst = false;
  }
  output.close();
}
