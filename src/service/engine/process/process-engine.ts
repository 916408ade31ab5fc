import type {
  EngineDescription,
  EngineRegistration,
  EngineVoiceRecord,
} from '../../../contract/engine.ts';
import type { Clock } from '../../../system/clock.ts';
import { systemClock } from '../../../system/clock.ts';
import { abortable } from '../../../system/concurrency.ts';
import { codePointOffset, countCodePoints, withoutSilentSigns } from '../../../text/code-points.ts';
import type { Region } from '../../../text/reading/english.ts';
import { readingRegion } from '../../../text/reading/english.ts';
import type {
  EngineRequest,
  PronouncedSpan,
  SpeechChunk,
  SpeechEngine,
  TextSpan,
  WordMark,
} from '../speech-engine.ts';
import { CLONED_VOICE, EngineError } from '../speech-engine.ts';
import { inCodePoints, readPronounced, withWrittenWords } from '../pronounced-words.ts';
import { TracedText } from '../traced-text.ts';
import { COUNTED_LETTER, unspokenIn } from '../unspoken-text.ts';
import type { RunningSpeech } from './engine-process.ts';
import { EngineProcess } from './engine-process.ts';
import { joinLetters, markLetters } from './joined-letters.ts';
import type { LaunchEngine } from './launch-engine.ts';
import { speakInPieces } from './speech-in-pieces.ts';

export interface ProcessEngineOptions {
  /** The engine and its voices, as `foley engine add` saved them. */
  readonly registration: EngineRegistration;
  readonly launch: LaunchEngine;
  /** Maximum number of processes; default 2, or 1 for an engine that accepts several requests at once. */
  readonly processes?: number;
  /** Returns the idle time in milliseconds after which a process ends; default five minutes. */
  readonly idleMs?: () => number;
  readonly clock?: Clock | undefined;
  /** Called when a process is started after one ended unexpectedly. */
  readonly onRestart?: (() => void) | undefined;
}

/**
 * Creates an engine that runs in separate processes (docs/engines.md). A process starts when it is needed and ends when
 * it is idle. It keeps foley alive only while it speaks. The engine program itself clamps speed and pitch.
 */
export function createProcessEngine(options: ProcessEngineOptions): SpeechEngine {
  const { registration, launch, clock = systemClock, onRestart } = options;
  const { maxConcurrent = 1, models } = registration;
  const { idleMs = () => IDLE_MS, processes = maxConcurrent > 1 ? 1 : 2 } = options;
  const start = (): EngineProcess => new EngineProcess(registration, { launch, clock });
  const pool = new ProcessPool({ processes, maxConcurrent, start, idleMs, clock, onRestart });
  return {
    name: registration.name,
    ...(models === undefined ? {} : { models }),
    maxConcurrent,
    voices: registration.voices.map((voice) => ({
      id: voice.id,
      name: voice.name ?? voice.id,
      language: voice.language,
      sampleRate: voice.sampleRate,
      pitch: voice.pitch === true,
      words: voice.words === true,
      reads: regionOf(voice) !== undefined,
      ...(voice.phonemes === undefined ? {} : { phonemes: voice.phonemes }),
      ...(voice.controls === undefined ? {} : { controls: voice.controls }),
      ...(voice.languages === undefined ? {} : { languages: voice.languages }),
    })),
    warmUp: () => pool.warmUp(),
    synthesize: (request, signal) => speak(pool, registration, request, signal),
    unspoken({ text, textNormalization, voice: id }) {
      const voice = voiceIn(registration, id);
      if (voice?.scripts === undefined) return undefined;
      const region = textNormalization === false ? undefined : regionOf(voice);
      return unspokenScripts(text, voice.scripts, region);
    },
    ...(registration.cloning === true
      ? { clone: (reference, signal) => clone(pool, registration, reference, signal) }
      : {}),
    close: () => pool.close(),
  };
}

function voiceIn({ voices }: EngineRegistration, id: string): EngineVoiceRecord | undefined {
  // A cloned voice has the capabilities of the first voice.
  return id.startsWith(CLONED_VOICE) ? voices[0] : voices.find((voice) => voice.id === id);
}

/**
 * Returns the positions of letters and digits that the voice cannot speak because of their script.
 * @param scripts ISO 15924 codes of the scripts that the voice speaks
 * @param region regional rules for reading English; undefined if the service does not read numbers and abbreviations
 * for the voice
 */
export function unspokenScripts(
  text: string,
  scripts: readonly string[],
  region?: Region,
): readonly TextSpan[] {
  const known = ['Zyyy', 'Zinh', ...scripts].flatMap((code) => scriptPattern(code));
  const spoken = new RegExp(known.join('|'), 'u');
  const isForeign = (character: string): boolean =>
    COUNTED_LETTER.test(character) && !spoken.test(character);
  const rewrite = (): TracedText => {
    const written = new TracedText(text);
    return region === undefined ? written : written.read(region);
  };
  return unspokenIn(text, rewrite, { isForeign, region });
}

function scriptPattern(code: string): string[] {
  try {
    return [new RegExp(String.raw`\p{Script_Extensions=${code}}`, 'u').source];
  } catch {
    // This Node.js does not know the script.
    return [];
  }
}

async function* speak(
  pool: ProcessPool,
  registration: EngineRegistration,
  request: EngineRequest,
  signal: AbortSignal,
): AsyncGenerator<SpeechChunk> {
  signal.throwIfAborted();
  const { name } = registration;
  const added = voiceIn(registration, request.voice);
  if (added === undefined) {
    throw new EngineError('failed', `The engine ${name} has no voice ${request.voice}.`);
  }
  const { sampleRate } = added;
  const engine = await pool.take(signal);
  let speech: RunningSpeech | undefined;
  try {
    const greeting = await abortable(engine.ready, signal);
    requireUnchanged(greeting, registration, added);
    const region = request.textNormalization === false ? undefined : regionOf(added);
    const read = new ReadRequest(request, region);
    const spoken = request.voice.startsWith(CLONED_VOICE)
      ? request.voice.slice(CLONED_VOICE.length)
      : request.voice;
    const { maxTextLength } = greeting;
    const { pronounced, text } = read;
    const toSpeak = { ...request, text, pronounced, voice: spoken };
    speech = speakInPieces(engine, toSpeak, { maxTextLength, sampleRate });
    for (;;) {
      const next = await abortable(speech.chunks.next(), signal);
      if (next.done === true) break;
      yield read.place(next.value);
      signal.throwIfAborted();
    }
    const words = read.lastWord();
    if (words.length > 0) yield { samples: new Float32Array(0), sampleRate, words };
  } catch (error) {
    throw withEngineName(error, name);
  } finally {
    void pool.giveBack(engine, speech?.settle());
  }
}

async function clone(
  pool: ProcessPool,
  registration: EngineRegistration,
  reference: { readonly audio: string; readonly text: string },
  signal: AbortSignal,
): Promise<string> {
  const engine = await pool.take(signal);
  let cloning: ReturnType<EngineProcess['clone']> | undefined;
  try {
    await abortable(engine.ready, signal);
    cloning = engine.clone(reference);
    return CLONED_VOICE + (await abortable(cloning.voice, signal));
  } catch (error) {
    throw withEngineName(error, registration.name);
  } finally {
    void pool.giveBack(engine, cloning?.settle());
  }
}

function withEngineName(error: unknown, engine: string): unknown {
  const isFailure = error instanceof EngineError && error.reason === 'failed';
  return isFailure ? new EngineError(error.reason, error.message, error.cause, engine) : error;
}

function requireUnchanged(
  greeting: EngineDescription,
  { maxConcurrent = 1, name, protocol }: EngineRegistration,
  added: EngineVoiceRecord,
): void {
  const voice = greeting.voices.find(({ id }) => id === added.id);
  const why =
    voice?.sampleRate !== added.sampleRate
      ? `its voice ${added.id} is missing or has another sample rate`
      : greeting.protocol !== protocol
        ? 'it speaks another version of the protocol'
        : (greeting.maxConcurrent ?? 1) < maxConcurrent
          ? 'it accepts fewer requests at once'
          : undefined;
  if (why === undefined) return;
  throw new EngineError(
    'failed',
    `The engine ${name} has changed since it was added: ${why}. Add it again.`,
  );
}

function regionOf({ language, textNormalization = false }: EngineVoiceRecord): Region | undefined {
  // A voice with text normalization reads numbers and abbreviations itself.
  return textNormalization ? undefined : readingRegion(language);
}

// Gives the engine a text as it is read (`ten metres` for `10 m`) and converts word times back to the written text.
class ReadRequest {
  readonly text: string;
  /** The words of `text` with given phonemes, in code points. */
  readonly pronounced: readonly PronouncedSpan[];
  readonly #written: string;
  readonly #reading: TracedText;
  readonly #inReading = { units: 0, points: 0 };
  readonly #inWritten = { units: 0, points: 0 };
  // Not reported yet, because later words of the reading may belong to the same written word.
  #last: { readonly word: WordMark; readonly endUnits: number } | undefined;

  constructor({ pronounced = [], text: written }: EngineRequest, region: Region | undefined) {
    const read = readPronounced({ text: written, start: 0 }, pronounced, (plain) =>
      region === undefined ? plain : markLetters(plain.read(region, joinLetters)),
    );
    const spoken = withWrittenWords(read, written);
    const isSilent = spoken.traced.text.trim() === '';
    this.#written = written;
    this.#reading = isSilent ? new TracedText(written) : spoken.traced;
    this.text = this.#reading.text;
    this.pronounced = inCodePoints(this.text, isSilent ? [] : spoken.pronounced);
  }

  place(chunk: SpeechChunk): SpeechChunk {
    if (chunk.words === undefined || this.text === this.#written) return chunk;
    return { ...chunk, words: chunk.words.flatMap((word) => this.#place(word)) };
  }

  lastWord(): readonly WordMark[] {
    return this.#last === undefined ? [] : [this.#last.word];
  }

  #place({ start, end, startMs, endMs }: WordMark): readonly WordMark[] {
    const from = this.#unitsAt(start);
    const outer = this.#reading.source(from, this.#unitsAt(end));
    const { at, word } = withoutSilentSigns(this.#written.slice(outer.start, outer.end));
    const last = this.#last;
    if (last !== undefined && outer.start + at < last.endUnits) {
      this.#last = { ...last, word: { ...last.word, endMs } };
      return [];
    }
    if (word === '') return [];
    const first = this.#pointsAt(outer.start + at);
    const endUnits = outer.start + at + word.length;
    this.#last = {
      word: { start: first, end: this.#pointsAt(endUnits), startMs, endMs },
      endUnits,
    };
    return last === undefined ? [] : [last.word];
  }

  #unitsAt(points: number): number {
    const cursor = this.#inReading;
    cursor.units = codePointOffset(this.text, points - cursor.points, cursor.units);
    cursor.points = points;
    return cursor.units;
  }

  #pointsAt(units: number): number {
    const cursor = this.#inWritten;
    cursor.points += countCodePoints(this.#written.slice(cursor.units, units));
    cursor.units = units;
    return cursor.points;
  }
}

const IDLE_MS = 5 * 60_000;

interface PoolOptions {
  readonly processes: number;
  /** Maximum number of requests that a process speaks at once. */
  readonly maxConcurrent: number;
  readonly start: () => EngineProcess;
  readonly idleMs: () => number;
  readonly clock: Clock;
  readonly onRestart: (() => void) | undefined;
}

class ProcessPool {
  readonly #options: PoolOptions;
  // Number of requests of each process; the most recently used process is last.
  readonly #all = new Map<EngineProcess, number>();
  readonly #idleTimers = new Map<EngineProcess, () => void>();
  #waiting: Waiting[] = [];
  // Processes that ended unexpectedly and have no successor yet.
  #lost = 0;
  #isClosed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  async take(signal: AbortSignal): Promise<EngineProcess> {
    if (this.#isClosed) throw closed();
    const { maxConcurrent, processes } = this.#options;
    // The process may still be starting.
    const free = [...this.#all].findLast(
      ([engine, requests]) => engine.isUsable && requests < maxConcurrent,
    );
    if (free !== undefined) return this.#use(free[0]);
    if (this.#all.size < processes) return this.#use(this.#launch());
    return this.#wait(signal);
  }

  async giveBack(engine: EngineProcess, settled?: Promise<unknown>): Promise<void> {
    await settled;
    const requests = this.#all.get(engine);
    if (requests === undefined || !engine.isUsable) return;
    this.#all.set(engine, requests - 1);
    const next = this.#waiting.shift();
    if (next !== undefined) next.resolve(this.#use(engine));
    else if (requests === 1) this.#park(engine);
  }

  async warmUp(): Promise<void> {
    if (this.#isClosed || this.#all.size > 0) return;
    try {
      const engine = this.#launch();
      this.#park(engine);
      await engine.ready;
    } catch {
      // The first request reports the failure.
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    for (const waiting of this.#waiting) waiting.reject(closed());
    await Promise.all([...this.#all.keys()].map((engine) => engine.end()));
  }

  #launch(): EngineProcess {
    const engine = this.#options.start();
    if (this.#lost > 0) {
      this.#lost -= 1;
      this.#options.onRestart?.();
    }
    this.#all.set(engine, 0);
    void engine.ended.then(() => this.#forget(engine));
    return engine;
  }

  #forget(engine: EngineProcess): void {
    this.#all.delete(engine);
    this.#idleTimers.get(engine)?.();
    this.#idleTimers.delete(engine);
    if (this.#isClosed) return;
    if (!engine.isEnding) this.#lost += 1;
    try {
      const fresh = this.#waiting.length === 0 ? undefined : this.#launch();
      const turns = fresh === undefined ? 0 : this.#options.maxConcurrent;
      for (const next of this.#waiting.splice(0, turns)) {
        if (fresh !== undefined) next.resolve(this.#use(fresh));
      }
    } catch (error) {
      for (const waiting of this.#waiting.splice(0)) waiting.reject(error);
    }
  }

  #use(engine: EngineProcess): EngineProcess {
    this.#idleTimers.get(engine)?.();
    this.#idleTimers.delete(engine);
    const requests = this.#all.get(engine) ?? 0;
    this.#all.delete(engine);
    this.#all.set(engine, requests + 1);
    engine.keepAlive(true);
    return engine;
  }

  #park(engine: EngineProcess): void {
    engine.keepAlive(false);
    const { clock, idleMs } = this.#options;
    this.#idleTimers.set(
      engine,
      clock.after(idleMs(), () => void engine.end()),
    );
  }

  async #wait(signal: AbortSignal): Promise<EngineProcess> {
    let waiting: Waiting | undefined;
    const turn = new Promise<EngineProcess>((resolve, reject) => {
      waiting = { resolve, reject };
      this.#waiting.push(waiting);
    });
    try {
      const tooLate = (engine: EngineProcess): void => void this.giveBack(engine);
      return await abortable(turn, signal, tooLate);
    } finally {
      this.#waiting = this.#waiting.filter((one) => one !== waiting);
    }
  }
}

interface Waiting {
  resolve(engine: EngineProcess): void;
  reject(error: unknown): void;
}

function closed(): EngineError {
  return new EngineError('failed', 'The engine is closed.');
}
