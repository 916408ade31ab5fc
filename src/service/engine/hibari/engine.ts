import type { Clock } from '../../../system/clock.ts';
import { systemClock } from '../../../system/clock.ts';
import { abortable } from '../../../system/concurrency.ts';
import type { EngineRequest, SpeechChunk, SpeechEngine } from '../speech-engine.ts';
import { EngineError } from '../speech-engine.ts';
import type { TaskRank, Ticket } from '../thread-pool.ts';
import { ThreadPool } from '../thread-pool.ts';
import type { TracedPiece } from './pieces.ts';
import { REGION, textPieces, unspokenLetters } from './pieces.ts';
import type { HibariPiece, SpokenPiece } from './synthesizer.ts';
import { findVariation, HIBARI_VOICES, SAMPLE_RATE } from './cast.ts';
import { wordMarks } from './word-marks.ts';

export interface HibariEngineOptions {
  /** Path or URL of the script that the worker threads run: the bundled `worker.ts`. */
  readonly workerFile: string | URL;
  /** Maximum number of threads, default 1. Each thread speaks one sentence or clause at a time. */
  readonly threads?: number;
  /** Timeout of one task in milliseconds, default 60,000. If a task takes longer, its thread is terminated. */
  readonly pieceTimeoutMs?: number;
  readonly clock?: Clock;
  /** Called when a thread is started after one ended unexpectedly. */
  readonly onRestart?: (() => void) | undefined;
}

type Pool = ThreadPool<HibariPiece, SpokenPiece>;

/**
 * Creates the built-in engine, a neural voice for English that runs in worker threads, and its cast. The output is
 * deterministic. Limits the speed to 0.5 to 2 and the pitch to 12 semitones either way. Splits the text into sentences,
 * and sentences of more than 240 characters into clauses.
 */
export function createHibariEngine({
  workerFile,
  threads = 1,
  pieceTimeoutMs = 60_000,
  clock = systemClock,
  onRestart,
}: HibariEngineOptions): SpeechEngine {
  const pool: Pool = new ThreadPool({
    workerFile,
    name: 'hibari',
    isResult: isSpokenPiece,
    threads,
    pieceTimeoutMs,
    clock,
    onRestart,
  });
  return {
    name: 'hibari',
    voices: HIBARI_VOICES,
    warmUp: () => pool.warmUp(),
    synthesize: (request, signal) => speakPieces(pool, { request, ahead: threads }, signal),
    unspoken: ({ text, textNormalization }) =>
      unspokenLetters(text, textNormalization === false ? undefined : REGION),
    close: () => pool.close(),
  };
}

interface SentenceTask {
  readonly piece: TracedPiece;
  readonly speech: Ticket<SpokenPiece>;
}

async function* speakPieces(
  pool: Pool,
  { ahead, request }: { readonly request: EngineRequest; readonly ahead: number },
  signal: AbortSignal,
): AsyncGenerator<SpeechChunk> {
  signal.throwIfAborted();
  const voice = findVariation(request.voice);
  if (voice === undefined) {
    throw new EngineError('failed', `The engine hibari has no voice ${request.voice}.`);
  }
  const sampleRate = SAMPLE_RATE;
  const region = request.textNormalization === false ? undefined : REGION;
  const pieces = textPieces(request.text, region, request.pronounced);
  const tasks: SentenceTask[] = [];
  const start = (isFirst: boolean): void => {
    const { value: piece } = pieces.next();
    if (piece === undefined) return;
    const rank: TaskRank = { client: request.client ?? '', isFirst };
    const { pitch, speed } = request;
    const { pauseMs, pronounced, spelled, text } = piece;
    const task = { pauseMs, pronounced, spelled, text, pitch, speed, voice };
    tasks.push({ piece, speech: pool.enqueue(task, rank) });
  };
  start(request.isInteractive === true);
  let offsetMs = 0;
  let isSpoken = false;
  try {
    for (let task = tasks[0]; task !== undefined; task = tasks[0]) {
      while (tasks.length <= ahead) {
        const before = tasks.length;
        start(false);
        if (tasks.length === before) break;
      }
      const { samples, tokens } = await abortable(task.speech.result(), signal);
      tasks.shift();
      if (samples.length === 0) continue;
      isSpoken = true;
      const { end, start: from } = task.piece;
      yield { samples, sampleRate, span: { start: from, end } };
      signal.throwIfAborted();
      const words = request.isTimed === true ? wordMarks(task.piece, tokens, offsetMs) : [];
      if (words.length > 0) yield { samples: new Float32Array(0), sampleRate, words };
      offsetMs += (samples.length * 1000) / sampleRate;
    }
  } finally {
    for (const { speech } of tasks) speech.drop();
  }
  if (isSpoken) return;
  throw new EngineError(
    'unspeakable',
    'The text has no Latin letter and no digit, so an English voice cannot speak it.',
  );
}

function isSpokenPiece(message: unknown): message is SpokenPiece {
  return (
    typeof message === 'object' &&
    message !== null &&
    'samples' in message &&
    message.samples instanceof Float32Array &&
    'tokens' in message &&
    Array.isArray(message.tokens)
  );
}
