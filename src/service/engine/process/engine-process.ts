import type { EngineCommand, EngineDescription } from '../../../contract/schemas/engine.ts';
import { ENGINE_PROTOCOL } from '../../../contract/schemas/engine.ts';
import type { Clock } from '../../../effects/clock.ts';
import { display } from '../../../text/display.ts';
import { EngineError, type EngineRequest, type SpeechChunk } from '../speech-engine.ts';
import { Silence, within } from './deadline.ts';
import type { EngineChild, LaunchEngine } from './launch-engine.ts';
import type { EngineMessage, HostMessage, SpeakMessage } from './messages.ts';
import { ProtocolFault } from './messages.ts';
import { readMessages, type ReceivedMessage } from './read-messages.ts';
import { type Ending, receiveSpeech } from './receive-speech.ts';

/** How long an engine may take, in milliseconds (docs/engines.md). */
export const ENGINE_TIMES = {
  /** From its start to its greeting. */
  greeting: 60_000,
  /** From one message to the next while it speaks and somebody listens. */
  silence: 60_000,
  /** From `cancel` to the end of the request. */
  cancel: 2_000,
  /** From the end of its stdin to its own. */
  ending: 2_000,
} as const;

export interface EngineProcessOptions {
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
    const { text, voice, speed, pitch, melody } = request;
    const id = ++this.#lastId;
    const wellFormed = text.replaceAll(/\p{Surrogate}/gu, '\u{fffd}');
    const asked = { type: 'speak', id, text: wellFormed, voice, speed, pitch } as const;
    const message = melody === undefined ? asked : { ...asked, melody };
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
