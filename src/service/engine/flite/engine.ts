import { type Clock, systemClock } from '../../../effects/clock.ts';
import { abortable } from '../../../effects/concurrency.ts';
import {
  EngineError,
  type EngineRequest,
  type SpeechChunk,
  type SpeechEngine,
  type WordMark,
} from '../speech-engine.ts';
import { type SpeakablePiece, speakablePieces, type WrittenWord } from './speakable-text.ts';
import {
  type Pronounced,
  type Spoken,
  type TaskRank,
  ThreadPool,
  type Ticket,
} from './thread-pool.ts';
import { FLITE_VOICES } from './voices.ts';
import { wordMarks } from './word-marks.ts';

export interface FliteEngineOptions {
  /** The bundled `worker.ts`. */
  readonly workerFile: string | URL;
  /** How many pieces may be spoken concurrently, default 1. */
  readonly threads?: number;
  /** How long one piece may take, default 60 s. */
  readonly pieceTimeoutMs?: number;
  readonly clock?: Clock;
}

/**
 * Creates the flite engine in worker threads: English, deterministic, a sentence or a clause of up to 240 characters at
 * a time. Limits: speed 0.25 to 4, a median pitch of 60 to 400 Hz; the voice `rms` has no pitch control. In a timed
 * request, the words of a piece follow its samples in a chunk of their own.
 */
export function createFliteEngine({
  workerFile,
  threads = 1,
  pieceTimeoutMs = 60_000,
  clock = systemClock,
}: FliteEngineOptions): SpeechEngine {
  const pool = new ThreadPool({ workerFile, threads, pieceTimeoutMs, clock });
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
  const voice = FLITE_VOICES.find(({ id }) => id === request.voice);
  if (voice === undefined) {
    throw new EngineError('failed', `The engine flite has no voice ${request.voice}.`);
  }
  const { sampleRate } = voice;
  const pieces = speakablePieces(request.text);
  const startNext = (isFirst: boolean): Task | undefined => {
    const { value: piece } = pieces.next();
    if (piece === undefined) return undefined;
    return startTask(pool, request, piece, { client: request.client ?? '', isFirst });
  };
  let current: Task | undefined;
  let ahead = startNext(request.isInteractive === true);
  let offsetMs = 0;
  if (ahead === undefined) {
    throw new EngineError(
      'unspeakable',
      'Nothing in the text can be spoken by an English voice: it has no Latin letter and no digit.',
    );
  }
  try {
    while (ahead !== undefined) {
      current = ahead;
      ahead = startNext(false);
      const { start, end } = current.piece;
      const { samples, sounds } = await abortable(current.speech.result(), signal);
      yield { samples, sampleRate, span: { start, end } };
      signal.throwIfAborted();
      const words = await abortable(wordsOf(current, sounds, offsetMs), signal);
      if (words.length > 0) yield { samples: new Float32Array(0), sampleRate, words };
      offsetMs += (samples.length * 1000) / sampleRate;
    }
  } finally {
    for (const task of [current, ahead]) {
      task?.speech.drop();
      task?.timing?.pronounced.drop();
    }
  }
}

/** A piece in the pool, with its words if the request is timed. */
interface Task {
  readonly piece: SpeakablePiece;
  readonly speech: Ticket<Spoken>;
  readonly timing:
    | { readonly words: readonly WrittenWord[]; readonly pronounced: Ticket<Pronounced> }
    | undefined;
}

function startTask(
  pool: ThreadPool,
  request: EngineRequest,
  piece: SpeakablePiece,
  rank: TaskRank,
): Task {
  const speech = pool.speak({ ...request, text: piece.text }, rank);
  if (request.isTimed !== true) return { piece, speech, timing: undefined };
  const words = piece.words();
  const tokens = words.flatMap((word) => word.tokens);
  return { piece, speech, timing: { words, pronounced: pool.pronounce(tokens, rank) } };
}

/** Returns the words of a piece; none if they cannot be timed, as the speech is good all the same. */
async function wordsOf(
  { piece, timing }: Task,
  sounds: Spoken['sounds'],
  offsetMs: number,
): Promise<readonly WordMark[]> {
  if (timing === undefined) return [];
  const { words, pronounced } = timing;
  try {
    const { tokens } = await pronounced.result();
    return wordMarks({ piece, words, sounds, tokens, offsetMs });
  } catch {
    return [];
  }
}
