import { spawn } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import type { Socket } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { UnsafeFile } from '../../../durable/file-failures.ts';
import { systemClock } from '../../../effects/clock.ts';
import { abortable } from '../../../effects/concurrency.ts';
import { systemProcesses } from '../../../effects/processes.ts';
import { ENGINE_HOST_FILE } from '../../worker-file.ts';
import { TimedOut, withTimeout } from '../process/engine-process.ts';
import { engineEnvironment } from '../process/launch-engine.ts';
import type { ProcessEngineOptions } from '../process/process-engine.ts';
import { createProcessEngine } from '../process/process-engine.ts';
import type { EngineRequest, SpeechEngine } from '../speech-engine.ts';
import { EngineError } from '../speech-engine.ts';
import type { FailedReply, Received } from './host-protocol.ts';
import {
  connectToHost,
  HEARTBEAT_MS,
  readReplies,
  requireSocketFolder,
  send,
  SOCKET_SUFFIX,
} from './host-protocol.ts';

export interface ResidentOptions {
  /** Folder for the sockets of engine hosts. Only this user may access the folder. */
  readonly folder: string;
  /** Idle time in milliseconds after which the engine ends. */
  readonly keepAliveMs: number;
  /** Called once if an engine cannot be shared. This foley process then starts an engine process of its own. */
  readonly onAlone: (engine: string, reason: string) => void;
}

interface ResidentEngineOptions extends ProcessEngineOptions {
  readonly resident: ResidentOptions;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly nodePath: string;
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

const COMMAND_ID = randomUUID();

type Task =
  | { readonly type: 'speak'; readonly request: EngineRequest }
  | {
      readonly type: 'clone';
      readonly reference: { readonly audio: string; readonly text: string };
    };

async function* exchange(
  host: HostConnector,
  { clock = systemClock, registration, resident }: ResidentEngineOptions,
  task: Task,
  signal: AbortSignal,
): AsyncGenerator<Extract<Received, { readonly type: 'chunk' | 'cloned' }>> {
  for (let attempt = 1; ; attempt += 1) {
    const socket = await abortable(host.connect(), signal, (late) => late.destroy());
    const replies = readReplies(socket);
    let hasReplied = false;
    try {
      const { keepAliveMs } = resident;
      send(socket, { ...task, command: COMMAND_ID, keepAliveMs });
      for (;;) {
        const next = withTimeout(4 * HEARTBEAT_MS, replies.next(), clock);
        const { done, value } = await abortable(next, signal);
        if (done === true) throw new Error('The connection has ended.');
        if (value.type === 'done') return;
        if (value.type === 'error') throw failureIn(value);
        if (value.type === 'waiting') continue;
        hasReplied = true;
        yield value;
      }
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof EngineError) throw error;
      const isSilent = error instanceof TimedOut;
      if (hasReplied || isSilent || attempt === MAX_ATTEMPTS) {
        const what = isSilent ? error.message : 'ended';
        const text = `The process that keeps the engine ${registration.name} ready ${what} during the request.`;
        throw new EngineError('failed', text, error);
      }
    } finally {
      socket.destroy();
    }
  }
}

function failureIn({ engine, message, reason }: FailedReply): EngineError {
  return new EngineError(reason, message, undefined, engine);
}

/** Thrown if an engine cannot be shared with other foley processes. */
class NoHost extends Error {
  override readonly name = 'NoHost';
}

/** Maximum length in bytes of a socket path. The system limit is 104 on macOS and 108 on Linux. */
const SOCKET_PATH_BYTES = 100;

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
      const file = path.join(folder, socketName(this.#options));
      if (Buffer.byteLength(file) > SOCKET_PATH_BYTES) {
        throw new NoHost(`the path ${file} is too long for a socket`);
      }
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
    const { clock = systemClock, env, nodePath, registration } = this.#options;
    const child = spawn(nodePath, [HOST_FILE, file], {
      cwd: path.parse(nodePath).root,
      env: engineEnvironment(env),
      // The host inherits no stream of foley. The pipe carries the registration only.
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
      windowsHide: true,
    });
    let failure: string | undefined;
    child.once('error', ({ message }) => (failure = message));
    child.once('exit', (code) => {
      if (code !== 0) failure = `the program that keeps engines ready ended with exit code ${code}`;
    });
    child.stdin.on('error', () => undefined);
    child.stdin.end(JSON.stringify(registration));
    child.unref();
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

const HOST_FILE = fileURLToPath(ENGINE_HOST_FILE);

function socketName({ env, nodePath, registration }: ResidentEngineOptions): string {
  const { bootId, host, pidNamespace } = systemProcesses().self;
  const { args, command, cwd, name } = registration;
  const words = [command, ...args].map((word) => path.resolve(cwd, word));
  // The first file is the program, or the script of `node` or `python3`; others may be logs.
  const program = words.map((file) => modifiedAt(file)).find((time) => time !== undefined);
  const foley = [nodePath, HOST_FILE, modifiedAt(HOST_FILE)];
  // foley processes share a host only if they would start the same engine in the same way, on the same computer.
  const how = [registration, engineEnvironment(env), program, foley, bootId ?? host, pidNamespace];
  const hash = createHash('sha256').update(JSON.stringify(how)).digest('hex');
  return `${name}.${hash.slice(0, 16)}${SOCKET_SUFFIX}`;
}

function modifiedAt(file: string): number | undefined {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats?.isFile() === true ? stats.mtimeMs : undefined;
}
