import { countCodePoints, hasMoreCodePointsThan } from '../../../text/code-points.ts';
import { splitParts } from '../../../text/parts.ts';
import { endsParagraph } from '../../../text/sentences.ts';
import type { EngineRequest, SpeechChunk } from '../speech-engine.ts';
import { EngineError } from '../speech-engine.ts';
import type { EngineProcess, RunningSpeech } from './engine-process.ts';

export interface PieceOptions {
  readonly sampleRate: number;
  /** Maximum number of code points in the text of a request to the engine; undefined for no limit. */
  readonly maxTextLength: number | undefined;
}

/**
 * Speaks a request. If the text is too long for the engine, speaks it in several requests to the engine, split at the
 * ends of sentences. Pieces that the voice cannot speak are left out, unless it can speak none.
 */
export function speakInPieces(
  engine: EngineProcess,
  request: EngineRequest,
  { maxTextLength, sampleRate }: PieceOptions,
): RunningSpeech {
  const { text: whole } = request;
  if (maxTextLength === undefined || !hasMoreCodePointsThan(whole, maxTextLength)) {
    return engine.speak(request, sampleRate);
  }
  const joined = new JoinedSpeech(sampleRate);
  let current: RunningSpeech | undefined;
  async function* speakAll(limit: number): AsyncGenerator<SpeechChunk, undefined> {
    let unspeakable: EngineError | undefined;
    for (const { start, text } of splitParts(whole, limit)) {
      const points = countCodePoints(whole.slice(0, start));
      const pronounced = pronouncedFrom(request, points, text);
      current = engine.speak({ ...request, text, pronounced }, sampleRate);
      joined.start(points);
      try {
        for (;;) {
          const next = await current.chunks.next();
          if (next.done === true) break;
          yield* joined.add(next.value);
        }
        joined.end(text);
      } catch (error) {
        if (!(error instanceof EngineError) || error.reason !== 'unspeakable') throw error;
        unspeakable ??= error;
      }
    }
    if (unspeakable !== undefined && !joined.isHeard) throw unspeakable;
  }
  return { chunks: speakAll(maxTextLength), settle: async () => current?.settle() };
}

function pronouncedFrom({ pronounced = [] }: EngineRequest, start: number, text: string) {
  const textEnd = start + countCodePoints(text);
  const own = pronounced.filter((word) => word.start >= start && word.end <= textEnd);
  return own.map((word) => ({ ...word, start: word.start - start, end: word.end - start }));
}

// The pause between two pieces, in seconds. A longer silence at the end of a piece stays.
const PAUSE = { sentence: 0.3, paragraph: 0.6 } as const;
const SILENT = 0.003;

class JoinedSpeech {
  readonly #sampleRate: number;
  #samples = 0;
  // Silent samples at the end of the last piece.
  #silent = 0;
  #leastSilent = 0;
  #points = 0;
  #offsetMs = 0;

  constructor(sampleRate: number) {
    this.#sampleRate = sampleRate;
  }

  get isHeard(): boolean {
    return this.#samples > 0;
  }

  start(points: number): void {
    this.#points = points;
    this.#offsetMs = (this.#samples * 1000) / this.#sampleRate;
  }

  *add(chunk: SpeechChunk): Generator<SpeechChunk> {
    const { samples, words } = chunk;
    const missing = this.#leastSilent - this.#silent;
    this.#leastSilent = 0;
    if (missing > 0) {
      this.#samples += missing;
      this.#offsetMs += (missing * 1000) / this.#sampleRate;
      yield { samples: new Float32Array(missing), sampleRate: this.#sampleRate };
    }
    const lastLoud = samples.findLastIndex((sample) => Math.abs(sample) > SILENT);
    const silent = samples.length - 1 - lastLoud;
    this.#silent = lastLoud === -1 ? this.#silent + silent : silent;
    this.#samples += samples.length;
    const [points, ms] = [this.#points, this.#offsetMs];
    const moved = words?.map(({ end, endMs, start, startMs }) => {
      return { start: start + points, end: end + points, startMs: startMs + ms, endMs: endMs + ms };
    });
    yield { ...chunk, ...(moved === undefined ? {} : { words: moved }) };
  }

  end(text: string): void {
    const seconds = endsParagraph(text) ? PAUSE.paragraph : PAUSE.sentence;
    this.#leastSilent = this.isHeard ? Math.round(seconds * this.#sampleRate) : 0;
  }
}
