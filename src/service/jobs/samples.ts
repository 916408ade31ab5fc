import type { Output } from '../../durable/output.ts';
import type { StoredAudio } from '../speech/audio-files.ts';
import type { SpeechChunk } from '../engine/speech-engine.ts';

const SAMPLE_BYTES = Float32Array.BYTES_PER_ELEMENT;

/** Passes speech on and keeps its samples, as this machine holds them: nobody else reads the file. */
export async function* keepSamples(
  chunks: AsyncIterable<SpeechChunk>,
  output: Output,
): AsyncGenerator<SpeechChunk> {
  for await (const chunk of chunks) {
    const { buffer, byteOffset, byteLength } = chunk.samples.slice();
    await output.write(new Uint8Array(buffer, byteOffset, byteLength));
    yield chunk;
  }
}

/** The speech that was kept. */
export async function* readSamples(
  file: StoredAudio,
  sampleRate: number,
): AsyncGenerator<SpeechChunk> {
  let rest: Uint8Array = new Uint8Array(0);
  for await (const piece of file.read()) {
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    const whole = bytes.length - (bytes.length % SAMPLE_BYTES);
    // A copy lies where the numbers of a Float32Array may.
    yield {
      samples: new Float32Array(new Uint8Array(bytes.subarray(0, whole)).buffer),
      sampleRate,
    };
    rest = bytes.subarray(whole);
  }
}
