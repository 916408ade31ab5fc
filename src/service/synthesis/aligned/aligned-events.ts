import type { AlignmentStatus } from '../../../contract/schemas/aligned.ts';
import { codecDelayMs } from '../../engine/encode/codec-delay.ts';
import type { SpeechChunk } from '../../engine/speech-engine.ts';
import { letGo } from '../let-go.ts';
import { type Speaking, speechOf } from '../speak.ts';
import type { AlignmentUpdate } from './alignment.ts';
import { Alignment } from './alignment.ts';

/** What happens while a text is spoken with its times; how it ends is not among it. */
export type SpokenEvent = { readonly name: 'audio'; readonly bytes: Uint8Array } | AlignmentUpdate;

/**
 * Speaks a text: audio in pieces, and what is known of its words as soon as it is, before the audio of
 * a chunk where that can be. Is made as it is asked for, but for the next piece of audio.
 * @returns whether every chunk has its times
 * @throws EngineError when nothing can be spoken; whatever the engine or the encoder throws
 */
export async function* alignedEvents(
  speaking: Pick<Speaking, 'account' | 'context' | 'plan'>,
  signal: AbortSignal,
): AsyncGenerator<SpokenEvent, AlignmentStatus> {
  const { context, plan } = speaking;
  const { engineRequest, format, gainDb } = plan;
  const timed = {
    ...speaking,
    plan: { ...plan, engineRequest: { ...engineRequest, isTimed: true } },
  };
  const alignment = new Alignment(engineRequest.text, codecDelayMs(format));
  const news = new News();
  const chunks = observe(speechOf(timed, signal), (chunk) => {
    alignment.hear(chunk);
    news.tell();
  });
  const encoded = context.encode(format, chunks, { gainDb })[Symbol.asyncIterator]();
  try {
    let next = startNext(encoded);
    for (;;) {
      const audio = await Promise.race([next, news.next]);
      for (const update of alignment.take()) yield update;
      if (audio === undefined) continue;
      if (audio.done === true) break;
      yield { name: 'audio', bytes: audio.value };
      next = startNext(encoded);
    }
    const status = alignment.finish();
    yield* alignment.take();
    return status;
  } finally {
    void letGo(encoded);
  }
}

/** May fail while nobody waits for it. */
function startNext(encoded: AsyncIterator<Uint8Array>): Promise<IteratorResult<Uint8Array>> {
  const next = encoded.next();
  next.catch(() => {});
  return next;
}

/** Wakes who waits for it. */
class News {
  #isTold = false;
  #wake: () => void = () => {};

  /** Resolves when something is told, or was since this was asked last. */
  get next(): Promise<undefined> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#isTold = false;
        resolve(undefined);
      };
      if (this.#isTold) this.#wake();
    });
  }

  tell(): void {
    this.#isTold = true;
    this.#wake();
  }
}

async function* observe(
  chunks: AsyncIterable<SpeechChunk>,
  onChunk: (chunk: SpeechChunk) => void,
): AsyncGenerator<SpeechChunk> {
  for await (const chunk of chunks) {
    onChunk(chunk);
    yield chunk;
  }
}
