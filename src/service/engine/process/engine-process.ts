import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EngineCommand, EngineDescription } from '../../../contract/engine.ts';
import { ENGINE_PROTOCOLS } from '../../../contract/engine.ts';
import type { Clock } from '../../../system/clock.ts';
import { TimedOut, withTimeout } from '../../../system/clock.ts';
import { countCodePoints } from '../../../text/code-points.ts';
import { display } from '../../../text/display.ts';
import { samplesOf } from '../../../audio/encode/pcm.ts';
import type { EngineRequest, SpeechChunk, WordMark } from '../speech-engine.ts';
import { EngineError } from '../speech-engine.ts';
import { Inbox, Settled } from './inbox.ts';
import type { EngineChild, LaunchEngine } from './launch-engine.ts';
import type { EngineMessage, HostMessage, SpeakMessage } from './messages.ts';
import type { ReceivedMessage } from './messages.ts';
import { descriptionIn, ProtocolFault, readMessages } from './messages.ts';
import { SpeechCheck } from './speech-check.ts';

/** Timeouts for an engine process, in milliseconds (docs/engines.md). */
const TIMEOUTS = {
  /** Maximum wait for each message of a starting engine. Applies until the greeting has arrived. */
  greeting: 60_000,
  /** Maximum time between the start of the process and the engine's greeting. */
  loading: 600_000,
  /** Maximum wait for the next message about a request. */
  silence: 60_000,
  /** Maximum time between the `cancel` message and the engine's message that ends the request. */
  cancel: 2_000,
  /** Maximum time for which a request with unread audio may delay other requests. */
  stall: 10_000,
  /** Maximum time between closing the engine's stdin and the exit of its process. */
  exit: 2_000,
  /** Maximum wait for each message after the exit of the process. */
  lastOutput: 2_000,
} as const;

/** Maximum size in bytes of the unread audio of an engine process, for all its requests together. */
const UNREAD_BYTES = 32 * 1024 * 1024;

type LastMessage = Extract<EngineMessage, { readonly type: 'done' | 'error' }>;

/** The speech that an engine makes for one request. */
export interface RunningSpeech {
  readonly chunks: AsyncGenerator<SpeechChunk, undefined>;
  /** Cancels the request, unless it has ended; ignores later messages about it. Never rejects. */
  settle(): Promise<void>;
}

/** The progress of an engine that is loading. */
export type Loading = Extract<EngineMessage, { readonly type: 'loading' }>;

export interface EngineProcessOptions {
  readonly launch: LaunchEngine;
  readonly clock: Clock;
  /** Called for each `loading` message. */
  readonly onLoading?: ((loading: Loading) => void) | undefined;
}

/**
 * Controls one process of an engine. The greeting of the process states how many requests it can speak at once. If the
 * process violates the protocol or exceeds a timeout, it is killed and all its requests fail.
 */
export class EngineProcess {
  /** The greeting of the engine: version, license, voices and capabilities. */
  readonly ready: Promise<EngineDescription>;
  readonly ended: Promise<void>;
  readonly #name: string;
  readonly #clock: Clock;
  readonly #child: EngineChild;
  readonly #messages: AsyncGenerator<ReceivedMessage, undefined>;
  readonly #onLoading: EngineProcessOptions['onLoading'];
  readonly #command: EngineCommand;
  readonly #greeting = new Inbox();
  readonly #open = new Map<number, Inbox>();
  #description: EngineDescription | undefined;
  #lastId = 0;
  #isReading = false;
  #isUsable = true;
  #isEnding = false;
  #hasExited = false;
  #stopExitTimer: () => void = () => undefined;
  #failure: Promise<EngineError> | undefined;

  /** @throws EngineError when the process cannot be started */
  constructor(command: EngineCommand, { launch, clock, onLoading }: EngineProcessOptions) {
    this.#command = command;
    this.#name = `The engine ${command.name}`;
    this.#clock = clock;
    this.#onLoading = onLoading;
    try {
      this.#child = launch(command);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new EngineError('failed', `${this.#name} cannot be started: ${reason}`, error);
    }
    this.#messages = readMessages(this.#child.stdout);
    this.ended = this.#child.ended.then(() => {
      this.#isUsable = false;
      this.#hasExited = true;
      this.#limitLastOutput();
      return undefined;
    });
    this.ready = this.#greet();
    // `ready` may reject before a request awaits the promise.
    this.ready.catch(() => undefined);
  }

  get isUsable(): boolean {
    return this.#isUsable;
  }

  /** True once `end` was called: the process ends as expected. */
  get isEnding(): boolean {
    return this.#isEnding;
  }

  /** Sets whether the running engine keeps the foley process alive. */
  keepAlive(isNeeded: boolean): void {
    this.#child.keepAlive(isNeeded);
  }

  /**
   * Speaks a request. The process must be ready and have fewer than `maxConcurrent` running requests. To stop early,
   * call `settle` of the result, not `return` of the generator.
   * @param sampleRate sample rate of the voice
   */
  speak(request: EngineRequest, sampleRate: number): RunningSpeech {
    const id = ++this.#lastId;
    return {
      chunks: this.#speak(id, request, sampleRate),
      settle: () => this.#settle(id),
    };
  }

  /**
   * Makes a voice from reference audio. The engine must support cloning.
   * @param reference path of the audio, and its transcript (empty if unknown)
   * @returns `voice`: the voice id to use in requests; `settle`: cancels the request unless it has ended
   */
  clone(reference: { readonly audio: string; readonly text: string }): {
    readonly voice: Promise<string>;
    settle(): Promise<void>;
  } {
    const id = ++this.#lastId;
    return { voice: this.#clone(id, reference), settle: () => this.#settle(id) };
  }

  /** Ends the process; kills it if it does not exit in time. */
  async end(): Promise<void> {
    this.#isUsable = false;
    this.#isEnding = true;
    this.#child.keepAlive(true);
    this.#child.stdin.end();
    this.#child.kill('SIGTERM');
    await this.#exit();
    this.#child.stdout.destroy();
  }

  /**
   * Closes the stdin of an idle engine and waits for the process to exit. Kills the process after a timeout.
   * @returns `hasExited`: true if the process exited by itself; `fault`: how its last output violates the protocol, or
   * undefined
   */
  async endInput(): Promise<{ readonly hasExited: boolean; readonly fault: string | undefined }> {
    this.#isUsable = false;
    this.#child.keepAlive(true);
    const rest = this.#messages.next().then(
      ({ done, value }) => (done === true ? undefined : `it sent ${value.message.type} unasked`),
      (error: unknown) => (error instanceof ProtocolFault ? error.message : undefined),
    );
    this.#child.stdin.end();
    const hasExited = await this.#exit();
    this.#child.stdout.destroy();
    return { hasExited, fault: await rest };
  }

  kill(): void {
    this.#isUsable = false;
    this.#child.kill('SIGKILL');
  }

  async #exit(): Promise<boolean> {
    let isKilled = false;
    const stop = this.#clock.after(TIMEOUTS.exit, () => {
      isKilled = true;
      this.kill();
    });
    await this.ended;
    stop();
    return !isKilled;
  }

  async *#speak(
    id: number,
    request: EngineRequest,
    sampleRate: number,
  ): AsyncGenerator<SpeechChunk, undefined> {
    const sent = this.#messageFor(id, request);
    const speed = 'controls' in sent ? Number(sent.controls.speed ?? 1) : sent.speed;
    const check = new SpeechCheck(sent.text, speed, sampleRate);
    const stderr = this.#child.stderrTail();
    let words: WordMark[] = [];
    let end: LastMessage | undefined;
    const inbox = this.#begin(sent);
    try {
      while (end === undefined) {
        const { message, pcm } = await this.#receive(inbox, TIMEOUTS.silence);
        if (message.type === 'words') {
          check.addWords(message.words);
          words.push(...message.words);
        } else if (message.type === 'audio') {
          const samples = samplesOf(pcm);
          check.add(samples);
          yield { samples, sampleRate, ...(words.length === 0 ? {} : { words }) };
          words = [];
        } else if (message.type === 'done' || message.type === 'error') end = message;
        else throw new ProtocolFault(`it sent ${message.type} for a speak request`);
      }
      if (end.type === 'done') check.close();
      if (end.type === 'done' && words.length > 0) {
        yield { samples: new Float32Array(0), sampleRate, words };
      }
    } catch (error) {
      if (error instanceof Settled) throw error.reason;
      throw await this.#fail(error, whileSpeaking(error, sent.text));
    }
    if (end.type === 'error') throw await this.#reported(end, stderr);
    if (!check.isHeard) {
      throw new EngineError('unspeakable', `${this.#name} made no sound for the text.`);
    }
  }

  async #clone(
    id: number,
    { audio, text }: { readonly audio: string; readonly text: string },
  ): Promise<string> {
    const stderr = this.#child.stderrTail();
    const inbox = this.#begin({ type: 'clone', id, audio, text });
    try {
      const { message } = await this.#receive(inbox, TIMEOUTS.silence);
      if (message.type === 'cloned') return message.voice;
      if (message.type === 'error') throw await this.#reported(message, stderr);
      throw new ProtocolFault(`it sent ${message.type} for a clone request`);
    } catch (error) {
      if (error instanceof Settled) throw error.reason;
      if (error instanceof EngineError) throw error;
      throw await this.#fail(error, 'while it cloned a voice');
    }
  }

  #messageFor(id: number, request: EngineRequest): SpeakMessage {
    const { isTimed = false, model, pitch, pronounced = [], speed } = request;
    const text = request.text.replaceAll(/\p{Surrogate}/gu, '\u{fffd}');
    const fields = {
      type: 'speak',
      id,
      text,
      voice: request.voice,
      ...(pronounced.length === 0 ? {} : { pronunciations: pronounced }),
    } as const;
    const { models: [first] = [], voices = [] } = this.#description ?? {};
    if (first === undefined) return { ...fields, speed, pitch };
    const voice = voices.find((one) => one.id === request.voice) ?? voices[0];
    const given = { ...request.controls, speed, pitch };
    // A control with its default value changes nothing, so it is not sent.
    const controls = (voice?.controls ?? [])
      .map((name) => [name, given[name]] as const)
      .filter(([name, value]) => value !== undefined && value !== CONTROL_DEFAULTS.get(name));
    return {
      ...fields,
      model: model ?? first.id,
      controls: Object.fromEntries(controls),
      words: isTimed,
    };
  }

  #begin(message: Exclude<HostMessage, { readonly type: 'hello' | 'cancel' }>): Inbox {
    const inbox = new Inbox();
    this.#open.set(message.id, inbox);
    this.#send(message);
    return inbox;
  }

  async #settle(id: number): Promise<void> {
    const inbox = this.#open.get(id);
    if (inbox === undefined) return;
    this.#send({ type: 'cancel', id });
    inbox.discard();
    void this.#read();
    const stop = this.#clock.after(TIMEOUTS.cancel, () => this.kill());
    await inbox.ended;
    stop();
  }

  async #greet(): Promise<EngineDescription> {
    const { oldest, newest } = ENGINE_PROTOCOLS;
    this.#send({ type: 'hello', protocol: oldest, maxProtocol: newest });
    const startedAt = this.#clock.monotonic();
    try {
      for (;;) {
        const leftMs = TIMEOUTS.loading - (this.#clock.monotonic() - startedAt);
        if (leftMs <= 0) throw new TimedOut(`took more than ${TIMEOUTS.loading / 1000} s to load`);
        const { message } = await this.#receive(this.#greeting, TIMEOUTS.greeting);
        if (message.type === 'error') throw await this.#reported(message, '');
        if (message.type === 'hello') {
          this.#description = descriptionIn(message, this.#command.name);
          return this.#description;
        }
        if (message.type !== 'loading') {
          throw new ProtocolFault(`its first message is ${message.type}; hello is required`);
        }
        this.#onLoading?.(message);
      }
    } catch (error) {
      throw await this.#fail(error, 'before it said hello');
    }
  }

  async #receive(inbox: Inbox, waitMs: number): Promise<ReceivedMessage> {
    const next = inbox.next();
    void this.#read();
    return withTimeout(waitMs, next, this.#clock);
  }

  // Reads messages while a request waits for one, and not ahead.
  async #read(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    const inboxes = (): readonly Inbox[] => [this.#greeting, ...this.#open.values()];
    try {
      while (inboxes().some(({ isWaiting }) => isWaiting)) {
        await this.#limitUnread();
        const reading = this.#messages.next();
        this.#limitLastOutput();
        const next = await reading.finally(() => this.#stopExitTimer());
        if (next.done === true) throw new Error('its stdout has ended');
        this.#deliver(next.value);
      }
    } catch (error) {
      for (const inbox of inboxes()) inbox.fail(error);
      this.#open.clear();
      const isReady = this.#description !== undefined;
      void this.#fail(error, isReady ? 'while it spoke' : 'before it said hello');
    } finally {
      this.#isReading = false;
      this.#limitLastOutput();
    }
  }

  // A child process of the engine may keep stdout open after the engine has exited.
  #limitLastOutput(): void {
    this.#stopExitTimer();
    if (!this.#hasExited) return;
    const close = (): void => void this.#child.stdout.destroy();
    if (this.#isReading) this.#stopExitTimer = this.#clock.after(TIMEOUTS.lastOutput, close);
    else if (this.#open.size === 0) close();
  }

  #deliver(received: ReceivedMessage): void {
    const { message } = received;
    if (this.#description === undefined) {
      this.#greeting.add(received);
      return;
    }
    if (message.type === 'hello') throw new ProtocolFault('it sent a second hello message');
    if (message.type === 'loading') throw new ProtocolFault('it sent loading after hello');
    const inbox = this.#open.get(message.id ?? 0);
    if (inbox === undefined) {
      const ids = [...this.#open.keys()];
      const open = `${ids.length > 1 ? 'requests' : 'request'} ${ids.join(', ')}`;
      throw new ProtocolFault(
        `it sent ${message.type} for request ${message.id ?? 'none'} during ${open}`,
      );
    }
    if (message.type === 'audio' || message.type === 'words') inbox.add(received);
    else {
      this.#open.delete(message.id ?? 0);
      inbox.end(received);
    }
  }

  async #limitUnread(): Promise<void> {
    const unread = (): number =>
      [...this.#open.values()].reduce((sum, { bytes }) => sum + bytes, 0);
    if (unread() < UNREAD_BYTES) return;
    const [slowest] = [...this.#open].toSorted(([, one], [, other]) => other.bytes - one.bytes);
    if (slowest === undefined) return;
    const [id, inbox] = slowest;
    await withTimeout(TIMEOUTS.stall, inbox.taken(), this.#clock).catch(() => {
      inbox.discard(
        new EngineError(
          'failed',
          `${this.#name} was interrupted: its audio was not read for ${TIMEOUTS.stall / 1000} s while other requests waited.`,
        ),
      );
      void this.#settle(id);
    });
  }

  #send(message: HostMessage): void {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  async #reported(
    { reason, message }: Extract<LastMessage, { readonly type: 'error' }>,
    stderrBefore: string,
  ): Promise<EngineError> {
    await nextTurn();
    const written = withoutStart(this.#child.stderrTail(), stderrBefore);
    const said = display(message, { max: MESSAGE_MAX });
    const text = `${this.#name} says: ${said}${stderrPart(written)}`;
    return new EngineError(reason ?? 'failed', text);
  }

  #fail(error: unknown, when: string): Promise<EngineError> {
    this.#failure ??= this.#explain(error, when);
    return this.#failure;
  }

  async #explain(error: unknown, when: string): Promise<EngineError> {
    this.#isUsable = false;
    const how = await this.#describe(error, when);
    this.kill();
    this.#child.stdout.destroy();
    if (error instanceof EngineError) return error;
    await this.#waitBriefly(this.#child.stderrClosed);
    return new EngineError(
      'failed',
      `${this.#name} ${how}${stderrPart(this.#child.stderrTail())}.`,
    );
  }

  async #describe(error: unknown, when: string): Promise<string> {
    if (error instanceof EngineError) return error.message;
    if (error instanceof TimedOut) return `${error.message} ${when}`;
    if (error instanceof ProtocolFault) return `broke the protocol ${when}: ${error.message}`;
    if (this.#isEnding) return `was stopped ${when}`;
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

const CONTROL_DEFAULTS = new Map<string, number>([
  ['speed', 1],
  ['pitch', 0],
  ['volume', 0],
]);

const LONG_TEXT_CHARACTERS = 500;

function whileSpeaking(error: unknown, text: string): string {
  const length = countCodePoints(text);
  const isSlow = error instanceof TimedOut && length >= LONG_TEXT_CHARACTERS;
  if (!isSlow) return 'while it spoke';
  return `while it spoke ${length} characters (with maxTextLength in its hello message, it gets shorter texts)`;
}

const MESSAGE_MAX = 1_000;
const STDERR_MAX = 500;

/** Matches the lines of stderr that an error message leaves out: empty lines and the call stack of Node.js. */
const NOT_SHOWN = /^\s*$|^\s+at .|^Node\.js v\d/;

function stderrPart(stderr: string): string {
  const lines = stderr.split(/\r?\n/).filter((line) => !NOT_SHOWN.test(line));
  let shown = '';
  for (const line of lines.toReversed()) {
    const one = display(line.trim(), { max: STDERR_MAX });
    if (shown !== '' && one.length + shown.length > STDERR_MAX) break;
    shown = shown === '' ? one : `${one} | ${shown}`;
  }
  return shown === '' ? '' : `; it wrote to stderr: ${shown}`;
}

const OVERLAP = 200;

function withoutStart(tail: string, earlier: string): string {
  // stderrTail may have dropped the start of `earlier`, so only the end of `earlier` is searched.
  const mark = earlier.slice(-OVERLAP);
  const at = mark === '' ? -1 : tail.lastIndexOf(mark);
  return at === -1 ? tail : tail.slice(at + mark.length);
}
