// The bytes of an aligned stream: audio and times of words as server-sent events.
/** A frame of silence: MPEG 1 layer III, 128 kbit/s, 44.1 kHz, mono, 417 bytes. */
const FRAME = Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0xc0]), Buffer.alloc(413)]);
/** About a second of sound, as a service sends it at a time. */
const PACKET = Buffer.concat(Array.from({ length: 38 }, () => FRAME));
const PACKETS_IN_BLOCK = 8;

function event(name, data) {
  return `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** The words of a chunk, and its audio. */
function blockOf(chunkSeq) {
  const words = Array.from({ length: 20 }, (_, index) => {
    const startMs = chunkSeq * 8_000 + index * 400;
    return { text: 'word', startMs, endMs: startMs + 350 };
  });
  const audio = event('audio', { audioBase64: PACKET.toString('base64') });
  const snapshot = event('alignment_snapshot', { chunkSeq, units: 'milliseconds', words });
  return Buffer.from(snapshot + audio.repeat(PACKETS_IN_BLOCK));
}

/** So many chunks of a stream, each with its words and its audio. */
export function streamBlocks(count = 64) {
  return Array.from({ length: count }, (_, chunkSeq) => blockOf(chunkSeq));
}

/** The last event. */
export const COMPLETED = event('completed', {
  requestId: 'bench',
  generationId: 'bench',
  alignmentStatus: 'complete',
  quotaRemaining: 1,
  creditsUsed: 1,
});
