import { once } from 'node:events';
import { abortable } from '../../../src/system/concurrency.ts';
import type { SpeechEngine } from '../../../src/service/engine/speech-engine.ts';
import { EngineError } from '../../../src/service/engine/speech-engine.ts';
import { toneEngine } from '../support/tone-engine.ts';

/** An engine whose behaviour can be set for each word. */
export interface DirectedEngine extends SpeechEngine {
  /** Texts that it was asked for, in order. */
  readonly texts: readonly string[];
  /** From now on it breaks at texts with this word. */
  failAt(word: string): void;
  /** From now on texts with this word wait, until the function that it gives is called. */
  holdAt(word: string): () => void;
  /** How many texts wait. */
  readonly held: () => number;
}

export function directedEngine(): DirectedEngine {
  const engine = toneEngine();
  const texts: string[] = [];
  const failing = new Set<string>();
  const holding = new Map<string, Promise<unknown>>();
  let held = 0;
  return {
    ...engine,
    texts,
    failAt: (word) => void failing.add(word),
    held: () => held,
    holdAt(word) {
      const opened = new AbortController();
      holding.set(word, once(opened.signal, 'abort'));
      return () => {
        holding.delete(word);
        opened.abort();
      };
    },
    async *synthesize(request, signal) {
      texts.push(request.text);
      const released = [...holding].find(([word]) => request.text.includes(word))?.[1];
      if (released !== undefined) {
        held += 1;
        await abortable(released, signal).finally(() => {
          held -= 1;
        });
      }
      if ([...failing].some((word) => request.text.includes(word))) {
        throw new EngineError('failed', 'The engine broke.', 'The secret inside of it.');
      }
      yield* engine.synthesize(request, signal);
    },
  };
}
