import type { EncodeSpeech } from '../../speech/encode.ts';
import type { SpeechChunk, SpeechEngine } from '../speech-engine.ts';
import { EngineError } from '../speech-engine.ts';
import { isHosted } from './host-protocol.ts';
import type { VoiceHost } from './voice-host.ts';

/**
 * Creates the built-in engine of a command. The engine speaks through the engine host that an earlier command started
 * (docs/engines.md#processes-between-commands). Without a host it speaks in this process, with the same output, and
 * `close` starts a host for later commands. A host that fails causes no error.
 * @param own the engine of this process
 */
export function createResidentVoice(own: SpeechEngine, host: VoiceHost): SpeechEngine {
  let isHostNeeded = false;
  return {
    ...own,
    async warmUp() {
      if (!(await host.connectEarly())) await own.warmUp();
    },
    async *synthesize(request, signal) {
      signal.throwIfAborted();
      let heard = 0;
      try {
        for await (const chunk of host.speak(request, signal)) {
          heard += 1;
          yield chunk;
        }
        return;
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof EngineError && error.reason === 'unspeakable') throw error;
      }
      // The output is deterministic: continue after the chunks of the host.
      let spoken = 0;
      for await (const chunk of own.synthesize(request, signal)) {
        spoken += 1;
        if (spoken > heard) yield chunk;
      }
      isHostNeeded = true;
    },
    async close() {
      await own.close();
      await host.close(isHostNeeded);
    },
  };
}

/**
 * Maximum duration in seconds of several sentences that the host encodes. A longer text is encoded in this process while
 * it is spoken.
 */
const SHORT_SECONDS = 5;

/**
 * Creates an encoder that lets the engine host encode short speech after the host has spoken. The encoders of the host
 * are ready; those of a command take longer to load than to encode. The output is the same.
 * @param own encodes in this process
 */
export function createResidentEncoder(own: EncodeSpeech, host: VoiceHost): EncodeSpeech {
  return async function* encode(format, chunks, options) {
    if (!isHosted(format) || !host.isListening) return yield* own(format, chunks, options);
    const rest = chunks[Symbol.asyncIterator]();
    const first: SpeechChunk[] = [];
    try {
      const hasEnded = await readShort(rest, first, host);
      const audio = hasEnded
        ? await host.encode({
            ...stated(options),
            type: 'encode',
            format,
            chunks: first.map(inBase64),
          })
        : undefined;
      if (audio === undefined) yield* own(format, joined(first, rest), options);
      else yield audio;
    } finally {
      await rest.return?.();
    }
  };
}

function stated({ gainDb, streamNumber }: Parameters<EncodeSpeech>[2]): {
  readonly gainDb: number;
  readonly streamNumber?: number;
} {
  return { gainDb, ...(streamNumber === undefined ? {} : { streamNumber }) };
}

/** Reads speech while it is short and from the host. Returns whether the speech has ended. */
async function readShort(
  chunks: AsyncIterator<SpeechChunk>,
  read: SpeechChunk[],
  host: VoiceHost,
): Promise<boolean> {
  for (let seconds = 0; read.length < 2 || seconds < SHORT_SECONDS;) {
    const { done, value } = await chunks.next();
    if (done === true) return true;
    read.push(value);
    seconds += value.samples.length / value.sampleRate;
    if (!host.hasSpoken) return false;
  }
  return false;
}

async function* joined(
  first: readonly SpeechChunk[],
  rest: AsyncIterator<SpeechChunk>,
): AsyncGenerator<SpeechChunk> {
  yield* first;
  yield* { [Symbol.asyncIterator]: () => rest };
}

function inBase64({ sampleRate, samples }: SpeechChunk): { samples: string; sampleRate: number } {
  const { buffer, byteLength, byteOffset } = samples;
  return { samples: Buffer.from(buffer, byteOffset, byteLength).toString('base64'), sampleRate };
}
