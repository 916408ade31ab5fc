import { type Clock, systemClock } from '../../../effects/clock.ts';
import { splitClauses } from '../../../text/clauses.ts';
import {
  EngineError,
  type EngineRequest,
  type EngineVoice,
  type SpeechChunk,
  type SpeechEngine,
} from '../speech-engine.ts';
import { speakableText } from './speakable-text.ts';
import { ThreadPool, type Ticket } from './thread-pool.ts';
import { FLITE_VOICES } from './voices.ts';

export interface FliteEngineOptions {
  /** Where the bundled `worker.ts` is. */
  readonly workerFile: string | URL;
  /**
   * How many pieces may be spoken at the same time.
   * @default 1
   */
  readonly threads?: number;
  /**
   * How long a thread may take for one piece before it is given up.
   * @default 60_000
   */
  readonly pieceTimeoutMs?: number;
  readonly clock?: Clock;
}

/**
 * flite in worker threads: English, deterministic, a sentence at a time. A sentence of more than 240
 * characters is cut at a clause, so that speech begins and stops soon. Limits: speed 0.25 to 4, a
 * median pitch of 60 to 400 Hz; beyond them the limit is spoken. The voice `rms` has no pitch control.
 */
export function createFliteEngine(options: FliteEngineOptions): SpeechEngine {
  const pool = new ThreadPool({
    workerFile: options.workerFile,
    threads: options.threads ?? 1,
    pieceTimeoutMs: options.pieceTimeoutMs ?? 60_000,
    clock: options.clock ?? systemClock,
  });
  return {
    name: 'flite',
    voices: FLITE_VOICES,
    warmUp: () => pool.warmUp(),
    synthesize: (request, signal) => speakPieces(pool, request, signal),
    close: () => pool.close(),
  };
}

const LONGEST_PIECE = 240;

async function* speakPieces(
  pool: ThreadPool,
  request: EngineRequest,
  signal: AbortSignal,
): AsyncGenerator<SpeechChunk> {
  signal.throwIfAborted();
  const { sampleRate } = voiceOf(request);
  const pieces = speakablePieces(request.text);
  const ask = (): Ticket | undefined => {
    const { value: text } = pieces.next();
    return text === undefined ? undefined : pool.speak({ ...request, text });
  };
  let current: Ticket | undefined;
  let ahead = ask();
  if (ahead === undefined) throw unspeakable();
  try {
    while (ahead !== undefined) {
      current = ahead;
      ahead = ask();
      const samples = await untilAborted(current.samples(), signal);
      yield { samples, sampleRate };
      signal.throwIfAborted();
    }
  } finally {
    current?.drop();
    ahead?.drop();
  }
}

function voiceOf(request: EngineRequest): EngineVoice {
  const voice = FLITE_VOICES.find(({ id }) => id === request.voice);
  if (voice === undefined) {
    throw new EngineError('failed', `The engine flite has no voice ${request.voice}.`);
  }
  return voice;
}

function* speakablePieces(text: string): Generator<string, undefined> {
  for (const piece of splitClauses(text, LONGEST_PIECE)) {
    const speakable = speakableText(piece.text);
    if (speakable !== '') yield speakable;
  }
}

function unspeakable(): EngineError {
  return new EngineError(
    'unspeakable',
    'Nothing in the text can be spoken by an English voice: it has no Latin letter and no digit.',
  );
}

/** The result, unless the signal is aborted first: then its reason, at once. */
function untilAborted<T>(result: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    result.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
