import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Clock } from '../../../effects/clock.ts';
import { systemClock } from '../../../effects/clock.ts';
import type { EngineRequest, SpeechChunk, SpeechEngine } from '../speech-engine.ts';
import { EngineError } from '../speech-engine.ts';
import type { ResidentOptions } from './host-client.ts';
import { askHost, HostLost, isShortEnough, socketFile } from './host-client.ts';
import { checkSocketFolder, connectToHost, requireSocketFolder } from './host-protocol.ts';
import type { HostProgram } from './start-host.ts';

/** After this time, speaking in this process is no slower than waiting for the host. */
const FIRST_REPLY_MS = 2_000;

interface ResidentVoiceOptions extends HostProgram {
  readonly resident: Pick<ResidentOptions, 'folder' | 'keepAliveMs'>;
  readonly clock?: Clock | undefined;
}

/**
 * Creates the built-in engine of a command. The engine speaks through the engine host that an earlier command started
 * (docs/engines.md#processes-between-commands). Without a host it speaks in this process, with the same output, and
 * `close` starts a host for later commands. A host that fails causes no error.
 * @param own the engine of this process
 */
export function createResidentVoice(
  own: SpeechEngine,
  options: ResidentVoiceOptions,
): SpeechEngine {
  const host = new VoiceHost(own.name, options);
  let isHostNeeded = false;
  return {
    ...own,
    async warmUp() {
      if (!(await host.connectEarly())) await own.warmUp();
    },
    async *synthesize(request, signal) {
      signal.throwIfAborted();
      let heard = 0;
      try {
        for await (const chunk of host.speak(request, signal)) {
          heard += 1;
          yield chunk;
        }
        return;
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof EngineError && error.reason === 'unspeakable') throw error;
      }
      // The output is deterministic: continue after the chunks of the host.
      let spoken = 0;
      for await (const chunk of own.synthesize(request, signal)) {
        spoken += 1;
        if (spoken > heard) yield chunk;
      }
      isHostNeeded = true;
    },
    async close() {
      await own.close();
      await host.close(isHostNeeded);
    },
  };
}

/** The engine host of the built-in engine, as a command sees it. */
class VoiceHost {
  readonly #options: ResidentVoiceOptions;
  readonly #socket: string;
  // The first request uses the connection that is made while other modules load.
  #early: Promise<Socket | undefined> | undefined;
  #isUsable: boolean;

  constructor(engine: string, options: ResidentVoiceOptions) {
    this.#options = options;
    this.#socket = socketFile(options.resident.folder, engine, [options.nodePath]);
    this.#isUsable = isShortEnough(this.#socket);
  }

  /** Connects to the host for the first request. Returns whether a host listens. */
  async connectEarly(): Promise<boolean> {
    this.#early = this.#connect();
    const connection = await this.#early;
    connection?.unref();
    return connection !== undefined;
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
        if (reply.type === 'chunk') yield reply.chunk;
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
