import { ByteQueue } from './byte-queue.ts';
import type { EngineMessage } from './messages.ts';
import { ENGINE_LIMITS, parseMessage, ProtocolFault } from './messages.ts';

/** A message with the samples that came with it (16 bits, little-endian). */
export interface ReceivedMessage {
  readonly message: EngineMessage;
  /** Of an audio message; else empty. */
  readonly pcm: Buffer;
}

/**
 * The messages of an engine's stdout, read only as they are asked for. Ends where the stream ends.
 * @throws ProtocolFault for anything that docs/engines.md does not allow
 */
export async function* readMessages(
  stdout: AsyncIterable<Uint8Array>,
): AsyncGenerator<ReceivedMessage, undefined> {
  const queue = new ByteQueue(stdout);
  for (;;) {
    const line = await queue.line(ENGINE_LIMITS.lineBytes);
    if (line === undefined) return;
    if (line === 'too long') {
      throw new ProtocolFault(`it sent a line of more than ${ENGINE_LIMITS.lineBytes} bytes`);
    }
    const text = line.toString();
    if (text.trim() === '') continue;
    const message = parseMessage(text);
    const pcm = await queue.bytes(message.type === 'audio' ? message.bytes : 0);
    if (pcm === undefined) return;
    yield { message, pcm };
  }
}

const FULL_SCALE = 32_768;

/** Samples of 16 bits, little-endian, as numbers from -1 to 1. */
export function samplesOf(pcm: Buffer): Float32Array {
  const samples = new Float32Array(pcm.length / 2);
  for (let index = 0; index < samples.length; index += 1) {
    samples[index] = pcm.readInt16LE(2 * index) / FULL_SCALE;
  }
  return samples;
}
