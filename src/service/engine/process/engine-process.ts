import type { EngineCommand, EngineDescription } from '../../../contract/engine.ts';
import { ENGINE_PROTOCOL } from '../../../contract/engine.ts';
import type { Clock } from '../../../effects/clock.ts';
import { countCodePoints } from '../../../text/code-points.ts';
import { display } from '../../../text/display.ts';
import { EngineError, type EngineRequest, type SpeechChunk } from '../speech-engine.ts';
import type { WordMark } from '../speech-engine.ts';
import { Silence, within } from './deadline.ts';
import type { EngineChild, LaunchEngine } from './launch-engine.ts';
import type { EngineMessage, HostMessage, SpeakMessage } from './messages.ts';
import { ProtocolFault, readMessages, type ReceivedMessage, samplesOf } from './messages.ts';

/** How long an engine may take, in milliseconds (docs/engines.md). */
const ENGINE_TIMES = {
  /** From its start to its greeting. */
  greeting: 60_000,
  /** From one message to the next while it speaks and somebody listens. */
  silence: 60_000,
  /** From `cancel` to the end of the request. */
  cancel: 2_000,
  /** From the end of its stdin to its own. */
  ending: 2_000,
} as const;

interface EngineProcessOptions {
  readonly command: EngineCommand;
  readonly launch: LaunchEngine;
  readonly clock: Clock;
}

/** A speech that is being received. */
export type Speech = AsyncGenerator<SpeechChunk, undefined>;

/**
 * One engine process, which speaks one request at a time. When it breaks the protocol, falls silent
 * or ends, it is killed and of no more use.
 */
export class EngineProcess {
  /** Its greeting. */
  readonly ready: Promise<EngineDescription>;
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
  readonly #who: string;
  readonly #clock: Clock;
  readonly #child: EngineChild;
  readonly #messages: AsyncGenerator<ReceivedMessage, undefined>;
  #lastId = 0;
  /** The request that it has not finished. */
  #open: number | undefined;
  #isUsable = true;

  /** @throws EngineError when it cannot be started */
  constructor({ command, launch, clock }: EngineProcessOptions) {
    this.#who = `The engine ${command.name}`;
    this.#clock = clock;
    this.#child = start(command, launch);
    this.#messages = readMessages(this.#child.stdout);
    this.ended = this.#watchEnd();
    this.ready = this.#greet();
    // Who needs it is told; until then a failure is not unhandled.
    this.ready.catch(() => undefined);
  }

  get isUsable(): boolean {
    return this.#isUsable;
  }

  /** Whether this process has to wait for it. */
  keepAlive(isNeeded: boolean): void {
    this.#child.keepAlive(isNeeded);
  }

  /**
   * Speaks, when it is ready and has finished what it spoke before. To stop early call `settle`
   * rather than the generator's `return`.
   * @param sampleRate of the voice
   * @throws EngineError
   */
  async *speak(request: EngineRequest, sampleRate: number): Speech {
    const { text, voice, speed, pitch } = request;
    const id = ++this.#lastId;
    const wellFormed = text.replaceAll(/\p{Surrogate}/gu, '\u{fffd}');
    const message = { type: 'speak', id, text: wellFormed, voice, speed, pitch } as const;
    this.#open = id;
    this.#send(message);
    const ending = yield* this.#receiveSpeech(message, sampleRate);
    this.#open = undefined;
    if (ending.type === 'error') throw this.#reported(ending);
    if (!ending.isHeard) {
      throw new EngineError('unspeakable', `${this.#who} made no sound of the text.`);
    }
  }

  /** Makes it stop a speech that it has not finished, and hears it out. Never rejects. */
  async settle(speech: Speech): Promise<void> {
    if (this.#open === undefined) return;
    this.#send({ type: 'cancel', id: this.#open });
    const stop = this.#clock.after(ENGINE_TIMES.cancel, () => this.kill());
    try {
      while ((await speech.next()).done !== true);
    } catch {
      // It was killed, or it broke: nobody listens any more.
    } finally {
      stop();
    }
  }

  /** Ends it, by force if it does not end by itself. */
  async end(): Promise<void> {
    this.#isUsable = false;
    this.#child.keepAlive(true);
    this.#child.stdin.end();
    this.#child.kill('SIGTERM');
    const stop = this.#clock.after(ENGINE_TIMES.ending, () => this.kill());
    await this.ended;
    stop();
  }

  kill(): void {
    this.#isUsable = false;
    this.#child.kill('SIGKILL');
  }

  async #watchEnd(): Promise<void> {
    await this.#child.ended;
    this.#isUsable = false;
  }

  async #greet(): Promise<EngineDescription> {
    this.#send({ type: 'hello', protocol: ENGINE_PROTOCOL });
    try {
      const { message } = await this.#receive(ENGINE_TIMES.greeting);
      if (message.type === 'error') throw this.#reported(message);
      if (message.type === 'hello') return descriptionIn(message);
      throw new ProtocolFault(`its first message is ${message.type}, not hello`);
    } catch (error) {
      throw await this.#fail(error, 'before it said hello');
    }
  }

  async *#receiveSpeech(
    message: SpeakMessage,
    sampleRate: number,
  ): AsyncGenerator<SpeechChunk, Ending> {
    try {
      const receive = () => this.#receive(ENGINE_TIMES.silence);
      return yield* receiveSpeech(message, sampleRate, receive);
    } catch (error) {
      throw await this.#fail(error, 'while it spoke');
    }
  }

  async #receive(waitMs: number): Promise<ReceivedMessage> {
    const next = await within(waitMs, this.#messages.next(), this.#clock);
    if (next.done === true) throw new Error('its stdout has ended');
    return next.value;
  }

  #send(message: HostMessage): void {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  #reported({ reason, message }: Report): EngineError {
    return new EngineError(reason ?? 'failed', `${this.#who} says: ${display(message)}`);
  }

  /**
   * Ends the process, and says why it is of no more use.
   * @param when it failed, in words
   */
  async #fail(error: unknown, when: string): Promise<EngineError> {
    this.#isUsable = false;
    const how = await this.#howItFailed(error, when);
    this.kill();
    this.#child.stdout.destroy();
    if (error instanceof EngineError) return error;
    await this.#inTime(this.#child.silenced);
    const lastWords = display(this.#child.lastWords().trim(), { max: LAST_WORDS_MAX });
    const stderr = lastWords === '' ? '' : `; it wrote to stderr: ${lastWords}`;
    return new EngineError('failed', `${this.#who} ${how}${stderr}.`);
  }

  async #howItFailed(error: unknown, when: string): Promise<string> {
    if (error instanceof EngineError) return error.message;
    if (error instanceof Silence) return `was silent for ${error.waitedMs / 1000} s ${when}`;
    if (error instanceof ProtocolFault) return `broke the protocol ${when}: ${error.message}`;
    // Its stdout has ended: as a rule because it has.
    await this.#inTime(this.#child.ended);
    this.kill();
    const { hasRun, how } = await this.#child.ended;
    return hasRun ? `${how} ${when}` : how;
  }

  /** Waits for something that should happen soon, but not for ever. */
  async #inTime(promise: Promise<unknown>): Promise<void> {
    try {
      await within(ENGINE_TIMES.ending, promise, this.#clock);
    } catch {
      // Then without it.
    }
  }
}

/** Without whatever else an engine chose to send. */
function descriptionIn({ version, license, voices }: EngineDescription): EngineDescription {
  return {
    version,
    license,
    voices: voices.map(({ id, name, language, sampleRate, pitch = false, words = false }) => ({
      id,
      name: name ?? id,
      language,
      sampleRate,
      pitch,
      words,
    })),
  };
}

type Report = Pick<Extract<EngineMessage, { readonly type: 'error' }>, 'message' | 'reason'>;

/** Characters of an engine's stderr that an error shows. */
const LAST_WORDS_MAX = 500;

function start(command: EngineCommand, launch: LaunchEngine): EngineChild {
  try {
    return launch(command);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new EngineError('failed', `The engine ${command.name} cannot be started: ${why}`, error);
  }
}

/** How an engine ends a request. */
type Ending =
  | { readonly type: 'done'; readonly isHeard: boolean }
  | Extract<EngineMessage, { readonly type: 'error' }>;

/**
 * The speech of one request, checked message by message.
 * @param receive gives the engine's next message
 * @returns the message that ended it
 * @throws ProtocolFault for messages that do not belong to it, and what `receive` throws
 */
async function* receiveSpeech(
  request: SpeakMessage,
  sampleRate: number,
  receive: () => Promise<ReceivedMessage>,
): AsyncGenerator<SpeechChunk, Ending> {
  const account = new SpeechAccount(request, sampleRate);
  let words: WordMark[] = [];
  for (;;) {
    const { message, pcm } = await receive();
    refuseMisplaced(message, request);
    if (message.type === 'words') {
      account.addWords(message.words);
      words.push(...message.words);
    } else if (message.type === 'audio') {
      const samples = samplesOf(pcm);
      account.add(samples);
      yield { samples, sampleRate, ...(words.length === 0 ? {} : { words }) };
      words = [];
    } else if (message.type === 'done') {
      const isHeard = account.close();
      if (words.length > 0) yield { samples: new Float32Array(0), sampleRate, words };
      return { type: 'done', isHeard };
    } else if (message.type === 'error') {
      return message;
    }
  }
}

function refuseMisplaced(message: EngineMessage, request: SpeakMessage): void {
  if (message.type === 'hello') throw new ProtocolFault('it said hello again');
  if (message.id === request.id) return;
  throw new ProtocolFault(
    `it sent ${message.type} for request ${message.id ?? 'none'} while request ${request.id} was open`,
  );
}

/** More speech than this is not of the text: nobody needs 3 s for a character, or 30 s for none. */
const LONGEST_SPEECH = { forAnyMs: 30_000, forCharacterMs: 3_000 } as const;

/** A word may end this much after the last sample: times are rounded. */
const ROUNDING_MS = 50;

/** Keeps the account of one request: how much was said, and whether the words run forwards. */
class SpeechAccount {
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

  /** @throws ProtocolFault when there is more speech than the text can be */
  add(samples: Float32Array): void {
    this.#samples += samples.length;
    if (this.#spokenMs <= this.#longestMs) return;
    const seconds = Math.floor(this.#longestMs / 1000);
    throw new ProtocolFault(
      `it sent more than ${seconds} s of speech for ${this.#characters} characters`,
    );
  }

  /** @throws ProtocolFault for words that run backwards, overlap, or are not in the text */
  addWords(words: readonly WordMark[]): void {
    for (const word of words) {
      const last = this.#lastWord;
      if (word.end <= word.start || word.start < last.end || word.end > this.#characters) {
        throw new ProtocolFault(
          `it told of a word from ${word.start} to ${word.end} after one that ends at ${last.end}, in a text of ${this.#characters} characters`,
        );
      }
      if (word.startMs < last.startMs || word.endMs < word.startMs) {
        throw new ProtocolFault(
          `it told of a word from ${word.startMs} to ${word.endMs} ms after one that begins at ${last.startMs} ms`,
        );
      }
      this.#lastWord = word;
    }
  }

  /**
   * @returns whether anything was said
   * @throws ProtocolFault when a word ends after the speech
   */
  close(): boolean {
    if (this.#lastWord.endMs > this.#spokenMs + ROUNDING_MS) {
      throw new ProtocolFault(
        `it told of a word that ends at ${this.#lastWord.endMs} ms in a speech of ${Math.round(this.#spokenMs)} ms`,
      );
    }
    return this.#samples > 0;
  }

  get #spokenMs(): number {
    return (this.#samples * 1000) / this.#sampleRate;
  }
}
