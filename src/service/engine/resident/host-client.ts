import { createHash, randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import type { Socket } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { version } from '../../../../package.json';
import type { Clock } from '../../../system/clock.ts';
import { TimedOut, withTimeout } from '../../../system/clock.ts';
import { abortable } from '../../../system/concurrency.ts';
import { systemProcesses } from '../../../system/processes.ts';
import { ENGINE_HOST_FILE } from '../../worker-file.ts';
import { EngineError } from '../speech-engine.ts';
import type { HostTask, Received } from './host-protocol.ts';
import { HEARTBEAT_MS, readReplies, send, SOCKET_SUFFIX } from './host-protocol.ts';

export interface ResidentOptions {
  /** Folder for the sockets of engine hosts. Only this user may access the folder. */
  readonly folder: string;
  /** Idle time in milliseconds after which the engine ends. */
  readonly keepAliveMs: number;
  /** Called once if an added engine cannot be shared. This foley process then starts an engine process of its own. */
  readonly onAlone: (engine: string, reason: string) => void;
}

/** Thrown if an engine host ends, hangs or sends an invalid message before it has finished a request. */
export class HostLost extends Error {
  override readonly name = 'HostLost';
  /** True if the host had sent a part of the result. */
  readonly hasReplied: boolean;
  /** True if the host is still connected, but sends nothing. */
  readonly isSilent: boolean;

  constructor(cause: unknown, hasReplied: boolean) {
    const isSilent = cause instanceof TimedOut;
    super(isSilent ? cause.message : 'ended', { cause });
    this.hasReplied = hasReplied;
    this.isSilent = isSilent;
  }
}

export interface HostTimeouts {
  readonly keepAliveMs: number;
  /** Maximum wait for the first message in milliseconds, default {@link SILENCE_MS}. */
  readonly firstReplyMs?: number;
}

/** Maximum wait in milliseconds for the next message of a host. */
const SILENCE_MS = 4 * HEARTBEAT_MS;

const COMMAND_ID = randomUUID();

/**
 * Sends a request to a connected engine host, and yields its result. Closes the connection at the end, which also
 * cancels the request.
 * @throws HostLost; EngineError if the engine reports one; the reason of the signal
 */
export async function* askHost(
  socket: Socket,
  task: HostTask,
  { firstReplyMs = SILENCE_MS, keepAliveMs }: HostTimeouts,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<Extract<Received, { readonly type: 'chunk' | 'cloned' | 'encoded' }>> {
  const replies = readReplies(socket);
  let hasReplied = false;
  let waitMs = firstReplyMs;
  try {
    send(socket, { ...task, command: COMMAND_ID, keepAliveMs });
    for (;;) {
      const next = withTimeout(waitMs, replies.next(), clock);
      const { done, value } = await abortable(next, signal);
      waitMs = SILENCE_MS;
      if (done === true) throw new Error('The connection has ended.');
      if (value.type === 'done') return;
      if (value.type === 'error') {
        throw new EngineError(value.reason, value.message, undefined, value.engine);
      }
      if (value.type === 'waiting') continue;
      hasReplied = true;
      yield value;
    }
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof EngineError ? error : new HostLost(error, hasReplied);
  } finally {
    socket.destroy();
  }
}

export const HOST_FILE = fileURLToPath(ENGINE_HOST_FILE);

/**
 * Returns the path of the socket of an engine host. foley processes share a host only if they would start the same
 * engine in the same way, on the same computer, with the same version of foley.
 * @param how describes the engine and how foley starts it
 */
export function socketFile(folder: string, engine: string, how: readonly unknown[]): string {
  const { bootId, host, pidNamespace } = systemProcesses().self;
  const all = [...how, HOST_FILE, modifiedAt(HOST_FILE), version, bootId ?? host, pidNamespace];
  const hash = createHash('sha256').update(JSON.stringify(all)).digest('hex');
  return path.join(folder, `${engine}.${hash.slice(0, 16)}${SOCKET_SUFFIX}`);
}

/** Returns when a file was changed, in milliseconds since the Unix epoch; undefined if it is missing. */
export function modifiedAt(file: string): number | undefined {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats?.isFile() === true ? stats.mtimeMs : undefined;
}

/** Maximum length in bytes of a socket path. The system limit is 104 on macOS and 108 on Linux. */
const SOCKET_PATH_BYTES = 100;

/** Returns whether the system accepts the path of a socket. */
export function isShortEnough(socket: string): boolean {
  return Buffer.byteLength(socket) <= SOCKET_PATH_BYTES;
}
