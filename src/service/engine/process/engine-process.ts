import type { EngineCommand, EngineDescription } from '../../../contract/engine.ts';
import { ENGINE_PROTOCOL } from '../../../contract/engine.ts';
import { type Clock, systemClock } from '../../../effects/clock.ts';
import { abortable } from '../../../effects/concurrency.ts';
import { countCodePoints } from '../../../text/code-points.ts';
import { display } from '../../../text/display.ts';
import { samplesOf } from '../encode/pcm.ts';
import {
  EngineError,
  type EngineRequest,
  type SpeechChunk,
  type WordMark,
} from '../speech-engine.ts';
import type { EngineChild, LaunchEngine } from './launch-engine.ts';
import type { EngineMessage, HostMessage, SpeakMessage } from './messages.ts';
import { ProtocolFault, readMessages, type ReceivedMessage } from './messages.ts';

/** Timeouts in milliseconds (docs/engines.md). */
const TIMEOUTS = {
  /** Maximum time between the start of the process and the engine's greeting. */
  greeting: 60_000,
  /** Maximum time between two messages while the engine speaks. */
  silence: 60_000,
  /** Maximum time between the `cancel` message and the engine's message that ends the request. */
  cancel: 2_000,
  /** Maximum time between closing the engine's stdin and the end of its process. */
  exit: 2_000,
} as const;

/** The message that ends a request. */
type Ending = Extract<EngineMessage, { readonly type: 'done' | 'error' }>;

/** The stream of speech chunks for one request. */
export type Speech = AsyncGenerator<SpeechChunk, undefined>;

/**
 * Controls a process of an engine, which speaks one request at a time. Kills a process that violates the protocol or
 * exceeds a timeout.
 */
export class EngineProcess {
  /** The greeting of the engine: version, license and voices. */
  readonly ready: Promise<EngineDescription>;
  readonly ended: Promise<void>;
  readonly #name: string;
  readonly #clock: Clock;
  readonly #child: EngineChild;
  readonly #messages: AsyncGenerator<ReceivedMessage, undefined>;
  #lastId = 0;
  /** Id of the unfinished request; undefined if the process is idle. */
  #open: number | undefined;
  #isUsable = true;

  /** @throws EngineError when the process cannot be started */
  constructor(command: EngineCommand, launch: LaunchEngine, clock: Clock) {
    this.#name = `The engine ${command.name}`;
    this.#clock = clock;
    try {
      this.#child = launch(command);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new EngineError('failed', `${this.#name} cannot be started: ${reason}`, error);
    }
    this.#messages = readMessages(this.#child.stdout);
    this.ended = this.#child.ended.then(() => {
      this.#isUsable = false;
      return undefined;
    });
    this.ready = this.#greet();
    // `ready` may reject before a request awaits the promise.
    this.ready.catch(() => undefined);
  }

  get isUsable(): boolean {
    return this.#isUsable;
  }

  /** Sets whether foley stays alive while the engine runs. */
  keepAlive(isNeeded: boolean): void {
    this.#child.keepAlive(isNeeded);
  }

  /**
   * Speaks a request. The process must be ready and idle. To stop early, call `settle` instead of the generator's
   * `return`.
   * @param sampleRate sample rate of the voice
   * @throws EngineError
   */
  async *speak(request: EngineRequest, sampleRate: number): Speech {
    const { text, voice, speed, pitch } = request;
    const id = ++this.#lastId;
    const wellFormed = text.replaceAll(/\p{Surrogate}/gu, '\u{fffd}');
    const sent = { type: 'speak', id, text: wellFormed, voice, speed, pitch } as const;
    const check = new SpeechCheck(sent, sampleRate);
    let words: WordMark[] = [];
    let end: Ending | undefined;
    this.#open = id;
    this.#send(sent);
    try {
      while (end === undefined) {
        const { message, pcm } = await this.#receive(TIMEOUTS.silence);
        if (message.type === 'hello') throw new ProtocolFault('it sent a second hello message');
        if (message.id !== id) {
          throw new ProtocolFault(
            `it sent ${message.type} for request ${message.id ?? 'none'} during request ${id}`,
          );
        }
        if (message.type === 'words') {
          check.addWords(message.words);
          words.push(...message.words);
        } else if (message.type === 'audio') {
          const samples = samplesOf(pcm);
          check.add(samples);
          yield { samples, sampleRate, ...(words.length === 0 ? {} : { words }) };
          words = [];
        } else end = message;
      }
      if (end.type === 'done') check.close();
      if (end.type === 'done' && words.length > 0) {
        yield { samples: new Float32Array(0), sampleRate, words };
      }
    } catch (error) {
      throw await this.#fail(error, 'while it spoke');
    }
    this.#open = undefined;
    if (end.type === 'error') throw this.#reported(end);
    if (!check.isHeard) {
      throw new EngineError('unspeakable', `${this.#name} made no sound for the text.`);
    }
  }

  /** Cancels an unfinished request and ignores the remaining messages about it. Never rejects. */
  async settle(speech: Speech): Promise<void> {
    if (this.#open === undefined) return;
    this.#send({ type: 'cancel', id: this.#open });
    const stop = this.#clock.after(TIMEOUTS.cancel, () => this.kill());
    try {
      while ((await speech.next()).done !== true);
    } catch {
      // The process failed or was killed, so the request has ended.
    } finally {
      stop();
    }
  }

  /** Ends the process; kills a process that does not exit in time. */
  async end(): Promise<void> {
    this.#isUsable = false;
    this.#child.keepAlive(true);
    this.#child.stdin.end();
    this.#child.kill('SIGTERM');
    const stop = this.#clock.after(TIMEOUTS.exit, () => this.kill());
    await this.ended;
    stop();
  }

  kill(): void {
    this.#isUsable = false;
    this.#child.kill('SIGKILL');
  }

  async #greet(): Promise<EngineDescription> {
    this.#send({ type: 'hello', protocol: ENGINE_PROTOCOL });
    try {
      const { message } = await this.#receive(TIMEOUTS.greeting);
      if (message.type === 'error') throw this.#reported(message);
      if (message.type === 'hello') return descriptionIn(message);
      throw new ProtocolFault(`its first message is ${message.type}; hello is required`);
    } catch (error) {
      throw await this.#fail(error, 'before it said hello');
    }
  }

  async #receive(waitMs: number): Promise<ReceivedMessage> {
    const next = await withTimeout(waitMs, this.#messages.next(), this.#clock);
    if (next.done === true) throw new Error('its stdout has ended');
    return next.value;
  }

  #send(message: HostMessage): void {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  #reported({ reason, message }: Extract<Ending, { readonly type: 'error' }>): EngineError {
    return new EngineError(reason ?? 'failed', `${this.#name} says: ${display(message)}`);
  }

  /** Kills the process and returns its failure. @param when last words of the message, such as `while it spoke` */
  async #fail(error: unknown, when: string): Promise<EngineError> {
    this.#isUsable = false;
    const how = await this.#describe(error, when);
    this.kill();
    this.#child.stdout.destroy();
    if (error instanceof EngineError) return error;
    await this.#waitBriefly(this.#child.stderrClosed);
    const lines = display(this.#child.stderrTail().trim(), { max: STDERR_MAX });
    const stderr = lines === '' ? '' : `; it wrote to stderr: ${lines}`;
    return new EngineError('failed', `${this.#name} ${how}${stderr}.`);
  }

  async #describe(error: unknown, when: string): Promise<string> {
    if (error instanceof EngineError) return error.message;
    if (error instanceof TimedOut) return `${error.message} ${when}`;
    if (error instanceof ProtocolFault) return `broke the protocol ${when}: ${error.message}`;
    // stdout has ended, usually because the process has ended.
    await this.#waitBriefly(this.#child.ended);
    this.kill();
    const { hasRun, how } = await this.#child.ended;
    return hasRun ? `${how} ${when}` : how;
  }

  async #waitBriefly(promise: Promise<unknown>): Promise<void> {
    await withTimeout(TIMEOUTS.exit, promise, this.#clock).catch(() => undefined);
  }
}

function descriptionIn({ version, license, voices }: EngineDescription): EngineDescription {
  return {
    version,
    license,
    voices: voices.map((voice) => ({
      id: voice.id,
      name: voice.name ?? voice.id,
      language: voice.language,
      sampleRate: voice.sampleRate,
      pitch: voice.pitch === true,
      words: voice.words === true,
      ...(voice.textNormalization === true ? { textNormalization: true } : {}),
      ...(voice.scripts === undefined ? {} : { scripts: voice.scripts }),
    })),
  };
}

/** Maximum number of characters from the engine's stderr in a message. */
const STDERR_MAX = 500;

class TimedOut extends Error {
  override readonly name = 'TimedOut';
}

function withTimeout<T>(waitMs: number, promise: Promise<T>, clock: Clock): Promise<T> {
  return new Promise((resolve, reject) => {
    const message = `was silent for ${waitMs / 1000} s`;
    const stop = clock.after(waitMs, () => reject(new TimedOut(message)));
    promise.then(resolve, reject).finally(stop);
  });
}

/** Maximum duration of the speech for one request: 30 s, plus 3 s for each character. */
const LONGEST_SPEECH = { forAnyMs: 30_000, forCharacterMs: 3_000 } as const;

/** Milliseconds by which a word may end after the last sample, because word times are rounded. */
const ROUNDING_MS = 50;

/** Validates the duration of the speech for one request, and the order of the words. */
class SpeechCheck {
  readonly #characters: number;
  readonly #longestMs: number;
  readonly #sampleRate: number;
  #samples = 0;
  #lastWord: WordMark = { start: 0, end: 0, startMs: 0, endMs: 0 };

  constructor(request: SpeakMessage, sampleRate: number) {
    this.#characters = countCodePoints(request.text);
    this.#longestMs =
      LONGEST_SPEECH.forAnyMs +
      (LONGEST_SPEECH.forCharacterMs * this.#characters) / Math.min(1, request.speed);
    this.#sampleRate = sampleRate;
  }

  /** @throws ProtocolFault when the speech is too long for the text */
  add(samples: Float32Array): void {
    this.#samples += samples.length;
    if (this.#spokenMs <= this.#longestMs) return;
    const seconds = Math.floor(this.#longestMs / 1000);
    throw new ProtocolFault(
      `it sent more than ${seconds} s of speech for ${this.#characters} characters`,
    );
  }

  /** @throws ProtocolFault for words that are out of order, overlap, or exceed the text */
  addWords(words: readonly WordMark[]): void {
    for (const word of words) {
      const last = this.#lastWord;
      if (word.end <= word.start || word.start < last.end || word.end > this.#characters) {
        throw new ProtocolFault(
          `it sent a word from ${word.start} to ${word.end} after one that ends at ${last.end}, in a text of ${this.#characters} characters`,
        );
      }
      if (word.startMs < last.startMs || word.endMs < word.startMs) {
        throw new ProtocolFault(
          `it sent a word from ${word.startMs} to ${word.endMs} ms after one that begins at ${last.startMs} ms`,
        );
      }
      this.#lastWord = word;
    }
  }

  get isHeard(): boolean {
    return this.#samples > 0;
  }

  /** Ends the check. @throws ProtocolFault when a word ends after the speech */
  close(): void {
    if (this.#lastWord.endMs > this.#spokenMs + ROUNDING_MS) {
      throw new ProtocolFault(
        `it sent a word that ends at ${this.#lastWord.endMs} ms in a speech of ${Math.round(this.#spokenMs)} ms`,
      );
    }
  }

  get #spokenMs(): number {
    return (this.#samples * 1000) / this.#sampleRate;
  }
}

export interface InspectOptions {
  readonly launch: LaunchEngine;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
}

/** Text to try a voice of any language: the voice must speak it or report it as unspeakable. */
const SAMPLE_TEXT = '1, 2, 3.';

/**
 * Tries an engine: starts the process, reads the greeting, lets the first voice speak three numbers, and ends the process.
 * A voice that reports the numbers as unspeakable passes.
 * @throws EngineError with a message for the author of the engine
 */
export async function inspectEngine(
  command: EngineCommand,
  { launch, clock = systemClock, signal = new AbortController().signal }: InspectOptions,
): Promise<EngineDescription> {
  const engine = new EngineProcess(command, launch, clock);
  engine.keepAlive(true);
  try {
    const description = await abortable(engine.ready, signal);
    const ids = description.voices.map(({ id }) => id);
    const twin = ids.find((id, index) => ids.indexOf(id) !== index);
    if (twin !== undefined) {
      const message = `The engine ${command.name} has two voices with the id ${twin}.`;
      throw new EngineError('failed', message);
    }
    const [voice] = description.voices;
    if (voice !== undefined) {
      const request = { text: SAMPLE_TEXT, voice: voice.id, speed: 1, pitch: 0 };
      const speech = engine.speak(request, voice.sampleRate);
      while ((await abortable(speech.next(), signal)).done !== true);
    }
    return description;
  } catch (error) {
    if (error instanceof EngineError && error.reason === 'unspeakable') return engine.ready;
    throw error;
  } finally {
    if (signal.aborted) engine.kill();
    await engine.end();
  }
}
