import type { Socket } from 'node:net';
import path from 'node:path';
import { UnsafeFile } from '../../../durable/file-failures.ts';
import { systemClock } from '../../../system/clock.ts';
import { abortable } from '../../../system/concurrency.ts';
import { engineEnvironment } from '../process/launch-engine.ts';
import type { ProcessEngineOptions } from '../process/process-engine.ts';
import { createProcessEngine } from '../process/process-engine.ts';
import type { SpeechEngine } from '../speech-engine.ts';
import { EngineError } from '../speech-engine.ts';
import type { ResidentOptions } from './host-client.ts';
import { askHost, HostLost, isShortEnough, modifiedAt, socketFile } from './host-client.ts';
import type { HostTask } from './host-protocol.ts';
import { connectToHost, requireSocketFolder } from './host-protocol.ts';
import type { HostProgram } from './start-host.ts';
import { startHost } from './start-host.ts';

interface ResidentEngineOptions extends ProcessEngineOptions, HostProgram {
  readonly resident: ResidentOptions;
}

/**
 * Creates an engine with one process for all foley processes of the user. The process stays ready between commands
 * (docs/engines.md#processes-between-commands).
 */
export function createResidentEngine(options: ResidentEngineOptions): SpeechEngine {
  const own = createProcessEngine(options);
  const host = new HostConnector(options);
  let isAlone = false;
  const continueAlone = (error: unknown): void => {
    if (!(error instanceof NoHost)) throw error;
    if (!isAlone) options.resident.onAlone(own.name, error.message);
    isAlone = true;
  };
  const shared: SpeechEngine = {
    ...own,
    async *synthesize(request, signal) {
      signal.throwIfAborted();
      try {
        if (isAlone) return yield* own.synthesize(request, signal);
        const message = { type: 'speak', request } as const;
        for await (const reply of exchange(host, options, message, signal)) {
          if (reply.type === 'chunk') yield reply.chunk;
        }
        return;
      } catch (error) {
        continueAlone(error);
      }
      yield* own.synthesize(request, signal);
    },
  };
  const clone = own.clone?.bind(own);
  if (clone === undefined) return shared;
  return {
    ...shared,
    async clone(reference, signal) {
      try {
        const message = { type: 'clone', reference } as const;
        for await (const reply of isAlone ? [] : exchange(host, options, message, signal)) {
          if (reply.type === 'cloned') return reply.voice;
        }
      } catch (error) {
        continueAlone(error);
      }
      return clone(reference, signal);
    },
  };
}

// A host may end before it has sent anything for a request, because its idle time is over.
const MAX_ATTEMPTS = 3;

async function* exchange(
  host: HostConnector,
  { clock = systemClock, registration, resident }: ResidentEngineOptions,
  task: HostTask,
  signal: AbortSignal,
): ReturnType<typeof askHost> {
  for (let attempt = 1; ; attempt += 1) {
    const socket = await abortable(host.connect(), signal, (late) => late.destroy());
    try {
      yield* askHost(socket, task, resident, clock, signal);
      return;
    } catch (error) {
      if (!(error instanceof HostLost)) throw error;
      if (error.hasReplied || error.isSilent || attempt === MAX_ATTEMPTS) {
        const text = `The process that keeps the engine ${registration.name} ready ${error.message} during the request.`;
        throw new EngineError('failed', text, error);
      }
    }
  }
}

/** Thrown if an engine cannot be shared with other foley processes. */
class NoHost extends Error {
  override readonly name = 'NoHost';
}

const START_MS = 20_000;

/** Connects to the host of an engine; starts the host if it is not running. */
class HostConnector {
  readonly #options: ResidentEngineOptions;
  #starting: Promise<void> | undefined;

  constructor(options: ResidentEngineOptions) {
    this.#options = options;
  }

  async connect(): Promise<Socket> {
    const { folder } = this.#options.resident;
    try {
      await requireSocketFolder(folder);
      const file = socketOf(this.#options);
      if (!isShortEnough(file)) throw new NoHost(`the path ${file} is too long for a socket`);
      const socket = await connectToHost(file);
      if (socket !== undefined) return socket;
      this.#starting ??= this.#start(file).finally(() => (this.#starting = undefined));
      await this.#starting;
      return (await connectToHost(file)) ?? (await this.connect());
    } catch (error) {
      if (error instanceof NoHost) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw new NoHost(error instanceof UnsafeFile ? `${folder} is not used: ${reason}` : reason);
    }
  }

  async #start(file: string): Promise<void> {
    const { clock = systemClock, registration } = this.#options;
    const child = startHost(this.#options, [file], JSON.stringify(registration));
    let failure: string | undefined;
    child.once('error', ({ message }) => (failure = message));
    child.once('exit', (code) => {
      if (code !== 0) failure = `the program that keeps engines ready ended with exit code ${code}`;
    });
    for (const startedAt = clock.monotonic(); ;) {
      // The host that listens may have been started by another foley process.
      const socket = await connectToHost(file);
      socket?.destroy();
      if (socket !== undefined) return;
      if (failure !== undefined) throw new NoHost(failure);
      if (clock.monotonic() - startedAt > START_MS) {
        throw new NoHost(`no process listened on ${file} after ${START_MS / 1000} s`);
      }
      await clock.sleep(POLL_MS);
    }
  }
}

const POLL_MS = 10;

function socketOf({ env, nodePath, registration, resident }: ResidentEngineOptions): string {
  const { args, command, cwd, name } = registration;
  const words = [command, ...args].map((word) => path.resolve(cwd, word));
  // The first file is the program, or the script of `node` or `python3`; others may be logs.
  const program = words.map((file) => modifiedAt(file)).find((time) => time !== undefined);
  const how = [registration, engineEnvironment(env), program, nodePath];
  return socketFile(resident.folder, name, how);
}
