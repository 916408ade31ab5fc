import { createHash } from 'node:crypto';
import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input, Logging } from 'mediabunny';
import type { InputAudioTrack, InputVideoTrack } from 'mediabunny';

Logging.level = 0;

/** A track as a reader from npm sees it. */
export interface ReadTrack {
  readonly codec: string | null;
  /** When the first packet is shown or heard, in seconds, and when the last ends. */
  readonly start: number;
  readonly end: number;
  readonly packets: readonly ReadPacket[];
}

export interface ReadPacket {
  readonly timestamp: number;
  readonly duration: number;
  /** Of its bytes. */
  readonly digest: string;
}

/** What is in a media file: everything is read. Throws where it cannot be. */
export async function readMedia(bytes: Uint8Array) {
  const input = new Input({ source: new BufferSource(bytes), formats: ALL_FORMATS });
  const [video, audio] = [await input.getPrimaryVideoTrack(), await input.getPrimaryAudioTrack()];
  return {
    format: (await input.getFormat()).name,
    mimeType: await input.getMimeType(),
    /** As its header says. */
    seconds: await input.getDurationFromMetadata(),
    comment: (await input.getMetadataTags()).comment,
    video: video === null ? null : { ...(await readTrack(video)), ...(await shapeOf(video)) },
    audio: audio === null ? null : await readTrack(audio),
  };
}

async function readTrack(track: InputAudioTrack | InputVideoTrack): Promise<ReadTrack> {
  const packets: ReadPacket[] = [];
  for await (const { data, duration, timestamp } of new EncodedPacketSink(track).packets()) {
    packets.push({ timestamp, duration, digest: createHash('sha256').update(data).digest('hex') });
  }
  return {
    codec: await track.getCodec(),
    start: await track.getFirstTimestamp(),
    end: await track.computeDuration(),
    packets,
  };
}

async function shapeOf(track: InputVideoTrack) {
  return {
    width: await track.getDisplayWidth(),
    height: await track.getDisplayHeight(),
    rotation: await track.getRotation(),
  };
}
