import { type Clock, systemClock } from '../../../effects/clock.ts';
import {
  EngineError,
  type EngineRequest,
  type EngineVoice,
  type SpeechChunk,
  type SpeechEngine,
  type WordMark,
} from '../speech-engine.ts';
import type { Pronounced, Spoken } from './thread-pool.ts';
import { type TaskRank, ThreadPool, type Ticket } from './thread-pool.ts';
import { type SpeakablePiece, speakablePieces } from './speakable-text.ts';
import type { WrittenWord } from './speakable-text.ts';
import { FLITE_VOICES } from './voices.ts';
import { wordMarks } from './word-marks.ts';

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
 *
 * Where a request is timed, the words of a piece follow its samples in a chunk of their own.
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

async function* speakPieces(
  pool: ThreadPool,
  request: EngineRequest,
  signal: AbortSignal,
): AsyncGenerator<SpeechChunk> {
  signal.throwIfAborted();
  const { sampleRate } = voiceOf(request);
  const pieces = speakablePieces(request.text);
  const ask = (): Task | undefined => {
    const { value: piece } = pieces.next();
    if (piece === undefined) return undefined;
    const isFirst = request.isInteractive === true && current === undefined && ahead === undefined;
    return begin(pool, request, piece, { client: request.client ?? '', isFirst });
  };
  let current: Task | undefined;
  let ahead: Task | undefined;
  ahead = ask();
  let offsetMs = 0;
  if (ahead === undefined) throw unspeakable();
  try {
    while (ahead !== undefined) {
      current = ahead;
      ahead = ask();
      const { start, end } = current.piece;
      const { samples, sounds } = await untilAborted(current.speech.answer(), signal);
      yield { samples, sampleRate, span: { start, end } };
      signal.throwIfAborted();
      const words = await untilAborted(wordsOf(current, sounds, offsetMs), signal);
      if (words.length > 0) yield { samples: NOTHING, sampleRate, words };
      offsetMs += (samples.length * 1000) / sampleRate;
    }
  } finally {
    for (const task of [current, ahead]) drop(task);
  }
}

/** A piece in the pool. */
interface Task {
  readonly piece: SpeakablePiece;
  readonly speech: Ticket<Spoken>;
  readonly timing: Timing | undefined;
}

interface Timing {
  readonly words: readonly WrittenWord[];
  readonly pronounced: Ticket<Pronounced>;
}

function begin(
  pool: ThreadPool,
  request: EngineRequest,
  piece: SpeakablePiece,
  rank: TaskRank,
): Task {
  const speech = pool.speak({ ...request, text: piece.text }, rank);
  if (request.isTimed !== true) return { piece, speech, timing: undefined };
  const words = piece.words();
  const pronounced = pool.pronounce(
    words.flatMap(({ tokens }) => tokens),
    rank,
  );
  return { piece, speech, timing: { words, pronounced } };
}

function drop(task: Task | undefined): void {
  task?.speech.drop();
  task?.timing?.pronounced.drop();
}

/** The words of a piece; none is no reason to say nothing more. */
async function wordsOf(
  { piece, timing }: Task,
  sounds: Spoken['sounds'],
  offsetMs: number,
): Promise<readonly WordMark[]> {
  if (timing === undefined) return [];
  const { words, pronounced } = timing;
  try {
    const { tokens } = await pronounced.answer();
    return wordMarks({ piece, words, sounds, tokens, offsetMs });
  } catch {
    return [];
  }
}

const NOTHING = new Float32Array(0);

function voiceOf(request: EngineRequest): EngineVoice {
  const voice = FLITE_VOICES.find(({ id }) => id === request.voice);
  if (voice === undefined) {
    throw new EngineError('failed', `The engine flite has no voice ${request.voice}.`);
  }
  return voice;
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
