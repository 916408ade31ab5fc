import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Clock } from '../../../system/clock.ts';
import { systemClock } from '../../../system/clock.ts';
import type { EngineRequest, SpeechChunk } from '../speech-engine.ts';
import type { ResidentOptions } from './host-client.ts';
import { askHost, HostLost, isShortEnough, socketFile } from './host-client.ts';
import type { HostTask } from './host-protocol.ts';
import { checkSocketFolder, connectToHost, requireSocketFolder } from './host-protocol.ts';
import type { HostProgram } from './start-host.ts';

/** After this time, speaking in this process is no slower than waiting for the host. */
const FIRST_REPLY_MS = 5_000;

export interface VoiceHostOptions extends HostProgram {
  readonly resident: ResidentOptions;
  readonly clock?: Clock | undefined;
}

/** The engine host of the built-in engine, as a command sees it. */
export class VoiceHost {
  readonly #options: VoiceHostOptions;
  readonly #socket: string;
  // The first request uses the connection that is made while other modules load.
  #early: Promise<Socket | undefined> | undefined;
  #isUsable: boolean;
  #isListening = false;
  #hasSpoken = false;

  constructor(engine: string, options: VoiceHostOptions) {
    this.#options = options;
    this.#socket = socketFile(options.resident.folder, engine, [options.nodePath]);
    this.#isUsable = isShortEnough(this.#socket);
  }

  /** Connects to the host for the first request. Returns whether a host listens. */
  async connectEarly(): Promise<boolean> {
    this.#early = this.#connect();
    const connection = await this.#early;
    connection?.unref();
    this.#isListening = connection !== undefined;
    return this.#isListening;
  }

  /** Speaks through the host. @throws HostLost; EngineError; the reason of the signal */
  async *speak(request: EngineRequest, signal: AbortSignal): AsyncGenerator<SpeechChunk> {
    const early = await this.#early;
    this.#early = undefined;
    const connection = early ?? (await this.#connect());
    if (connection === undefined) throw new HostLost(undefined, false);
    connection.ref();
    const { clock = systemClock, resident } = this.#options;
    const timeouts = { keepAliveMs: resident.keepAliveMs, firstReplyMs: FIRST_REPLY_MS };
    try {
      const task = { type: 'speak', request } as const;
      for await (const reply of askHost(connection, task, timeouts, clock, signal)) {
        if (reply.type !== 'chunk') continue;
        this.#hasSpoken = true;
        yield reply.chunk;
      }
      return;
    } catch (error) {
      const isLost = error instanceof HostLost;
      if (isLost && error.isSilent) this.#isUsable = false;
      // A host closes a connection that sends no request for some time.
      const wasClosed = isLost && early !== undefined && !error.hasReplied && !error.isSilent;
      if (!wasClosed) throw error;
    }
    yield* this.speak(request, signal);
  }

  /** True if the host was listening when the command started, and has not failed since. */
  get isListening(): boolean {
    return this.#isListening && this.#isUsable;
  }

  /** True if the host has spoken for this command. */
  get hasSpoken(): boolean {
    return this.#hasSpoken;
  }

  /** Encodes a short speech in the host. Returns undefined if the host fails. */
  async encode(task: Extract<HostTask, { readonly type: 'encode' }>): Promise<Buffer | undefined> {
    const connection = await this.#connect();
    if (connection === undefined) return undefined;
    const { clock = systemClock, resident } = this.#options;
    const timeouts = { keepAliveMs: resident.keepAliveMs, firstReplyMs: FIRST_REPLY_MS };
    const { signal } = new AbortController();
    try {
      for await (const reply of askHost(connection, task, timeouts, clock, signal)) {
        if (reply.type === 'encoded') return Buffer.from(reply.audio, 'base64');
      }
    } catch {
      this.#isUsable = false;
    }
    return undefined;
  }

  /** Closes an unused connection. @param isNeeded true to start a host for later commands */
  async close(isNeeded: boolean): Promise<void> {
    (await this.#early)?.destroy();
    if (!isNeeded || !this.#isUsable) return;
    const { resident } = this.#options;
    try {
      await requireSocketFolder(resident.folder);
      const { startHost } = await import('./start-host.ts');
      startHost(this.#options, [this.#socket, String(resident.keepAliveMs)]);
    } catch {
      // Later commands speak in their own process, too.
    }
  }

  // Checks first whether the socket exists, so that a command without a host loses no time.
  async #connect(): Promise<Socket | undefined> {
    if (!this.#isUsable || !existsSync(this.#socket)) return undefined;
    try {
      await checkSocketFolder(this.#options.resident.folder);
      return await connectToHost(this.#socket);
    } catch {
      return undefined;
    }
  }
}
