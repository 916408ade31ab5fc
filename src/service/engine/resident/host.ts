import { readFileSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import type { Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Check } from 'typebox/schema';
import { EngineRegistration } from '../../../contract/engine.ts';
import { takeLock } from '../../../durable/lock.ts';
import { system } from '../../../system/system.ts';
import type { LaunchEngine } from '../process/launch-engine.ts';
import type { SpeechChunk, SpeechEngine } from '../speech-engine.ts';
import { EngineError } from '../speech-engine.ts';
import {
  connectToHost,
  HEARTBEAT_MS,
  HostRequest,
  LINE_MAX_BYTES,
  samplesIn,
  send,
  sendChunk,
} from './host-protocol.ts';

// The program that keeps an engine ready between commands (docs/engines.md#processes-between-commands):
// `node engine-host.cjs SOCKET`, with the registration of an added engine on stdin, or
// `node engine-host.cjs SOCKET KEEP_ALIVE_MS` for the built-in engine.

const FIRST_REQUEST_MS = 10_000;

const READ_AHEAD_BYTES = 32 * 1024 * 1024;

const STALL_MS = 10_000;

/** The text that a host of the built-in engine speaks when it starts. It has words that are in no dictionary. */
const PRACTICE =
  'Hello, this is a sentence that was read on the live record. The zorblatt of 1984 costs $3.50, or does it? ';

type EngineTask = Exclude<HostRequest, { readonly type: 'stop' }>;

/** Shares one engine between the foley processes of a user. */
class EngineHost {
  readonly #engine: SpeechEngine;
  readonly #release: () => Promise<void>;
  readonly #server: Server;
  readonly #slots: number;
  readonly #waiting = new Map<string, (() => void)[]>();
  #keepAliveMs = 0;
  #open = 0;
  #running = 0;
  #processes = 0;
  #isRetired = false;
  #stopIdleTimer: (() => void) | undefined;

  private constructor(
    slots: number,
    release: () => Promise<void>,
    open: (host: EngineHost) => SpeechEngine,
  ) {
    this.#slots = slots;
    this.#release = release;
    this.#server = createServer((socket) => this.#accept(socket));
    this.#engine = open(this);
  }

  /** Creates the host of an engine that the user added. Its process ends when it has been idle for some time. */
  static async forAdded(
    registration: EngineRegistration,
    release: () => Promise<void>,
  ): Promise<EngineHost> {
    const [{ engineLauncher }, { createProcessEngine }] = await Promise.all([
      import('../process/launch-engine.ts'),
      import('../process/process-engine.ts'),
    ]);
    const launch = engineLauncher({ env: process.env, nodePath: process.execPath });
    return new EngineHost(registration.maxConcurrent ?? 1, release, (host) =>
      createProcessEngine({
        registration,
        launch: host.#counted(launch),
        processes: 1,
        idleMs: () => host.#keepAliveMs,
      }),
    );
  }

  /** Creates the host of the built-in engine, which takes turns between requests itself. */
  static async forBuiltIn(keepAliveMs: number, release: () => Promise<void>): Promise<EngineHost> {
    const [{ createHibariEngine }, { HIBARI_WORKER_FILE, speakingThreads }] = await Promise.all([
      import('../hibari/engine.ts'),
      import('../../worker-file.ts'),
    ]);
    const host = new EngineHost(Infinity, release, () =>
      createHibariEngine({ workerFile: HIBARI_WORKER_FILE, threads: speakingThreads() }),
    );
    host.#keepAliveMs = keepAliveMs;
    host.#processes = 1;
    host.#endWhenIdle();
    void host.#practise();
    return host;
  }

  listen(file: string): void {
    const before = process.umask(0o177);
    this.#server.listen(file);
    process.umask(before);
    this.#server.once('error', () => void this.stop());
    system.clock.after(FIRST_REQUEST_MS, () => this.#endIfUnused());
  }

  // The first speech of a thread is slow, because V8 compiles and optimizes the code that runs.
  async #practise(): Promise<void> {
    const request = { text: PRACTICE, voice: this.#engine.voices[0]?.id ?? '', speed: 1, pitch: 0 };
    try {
      const { encodeSpeech } = await import('../encode/encode-speech.ts');
      const chunks = this.#engine.synthesize(request, new AbortController().signal);
      for await (const _bytes of encodeSpeech('mp3', chunks));
    } catch {
      // The next request reports the failure.
    }
  }

  #endWhenIdle(): void {
    this.#stopIdleTimer = system.clock.after(this.#keepAliveMs, () => {
      this.#processes = 0;
      this.#endIfUnused();
    });
  }

  async stop(): Promise<void> {
    await this.#retire();
    await this.#engine.close();
  }

  #counted(launch: LaunchEngine): LaunchEngine {
    return (command) => {
      const child = launch(command);
      this.#processes += 1;
      void child.ended.then(() => {
        this.#processes -= 1;
        return this.#endIfUnused();
      });
      return child;
    };
  }

  #accept(socket: Socket): void {
    let received = '';
    socket.on('error', () => undefined);
    socket.once('end', () => socket.destroy());
    socket.setTimeout(FIRST_REQUEST_MS, () => socket.destroy());
    socket.setEncoding('utf8');
    const read = (text: string): void => {
      received += text;
      if (received.length > LINE_MAX_BYTES) {
        socket.destroy();
      } else if (received.includes('\n')) {
        socket.off('data', read).resume().setTimeout(0);
        this.#answer(socket, parseLine(received));
      }
    };
    socket.on('data', read);
  }

  #answer(socket: Socket, message: unknown): void {
    if (this.#isRetired || !Check(HostRequest, message)) {
      // The command starts another host.
      socket.destroy();
    } else if (message.type === 'stop') {
      void this.#stopFor(socket, message.isNow);
    } else {
      void this.#serve(socket, message);
    }
  }

  async #stopFor(socket: Socket, isNow: boolean): Promise<void> {
    if (isNow) await this.stop();
    else await this.#retire();
    this.#endIfUnused();
    socket.end();
  }

  async #serve(socket: Socket, task: EngineTask): Promise<void> {
    const stop = new AbortController();
    socket.once('close', () => stop.abort());
    const heartbeat = setInterval(() => send(socket, { type: 'waiting' }), HEARTBEAT_MS);
    this.#keepAliveMs = task.keepAliveMs;
    this.#stopIdleTimer?.();
    this.#open += 1;
    let hasTurn = false;
    try {
      await this.#waitForSlot(task.command, stop.signal);
      hasTurn = true;
      if (task.type === 'clone') {
        const voice = await this.#engine.clone?.(task.reference, stop.signal);
        if (voice !== undefined) send(socket, { type: 'cloned', voice });
      } else if (task.type === 'encode') {
        send(socket, { type: 'encoded', audio: await encoded(task) });
      } else {
        const request = { ...task.request, client: task.command };
        for await (const chunk of this.#engine.synthesize(request, stop.signal)) {
          sendChunk(socket, chunk);
          await this.#drain(socket, stop.signal);
        }
      }
      send(socket, { type: 'done' });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const { engine, reason = 'failed' } = error instanceof EngineError ? error : {};
      send(socket, { type: 'error', reason, message, ...(engine === undefined ? {} : { engine }) });
    }
    clearInterval(heartbeat);
    socket.end();
    this.#open -= 1;
    if (hasTurn) this.#startNext();
    if (this.#open === 0 && this.#stopIdleTimer !== undefined) this.#endWhenIdle();
    this.#endIfUnused();
  }

  async #waitForSlot(command: string, signal: AbortSignal): Promise<void> {
    if (this.#running < this.#slots) {
      this.#running += 1;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const queue = this.#waiting.get(command) ?? [];
      this.#waiting.set(command, [...queue, resolve]);
      signal.addEventListener('abort', () => {
        const rest = (this.#waiting.get(command) ?? []).filter((start) => start !== resolve);
        if (rest.length === 0) this.#waiting.delete(command);
        else this.#waiting.set(command, rest);
        reject(signal.reason);
      });
    });
  }

  #startNext(): void {
    this.#running -= 1;
    // The map is in the order of service: the first foley process is next.
    const [first] = this.#waiting;
    if (first === undefined) return;
    const [command, starts] = first;
    const start = starts.shift();
    this.#waiting.delete(command);
    if (starts.length > 0) this.#waiting.set(command, starts);
    this.#running += 1;
    start?.();
  }

  async #drain(socket: Socket, signal: AbortSignal): Promise<void> {
    let unread = socket.writableLength;
    let readAt = system.clock.monotonic();
    while (unread >= READ_AHEAD_BYTES) {
      await sleep(100, undefined, { signal });
      const now = system.clock.monotonic();
      if (socket.writableLength < unread) readAt = now;
      unread = socket.writableLength;
      if (now - readAt < STALL_MS || this.#waiting.size === 0) continue;
      const why = `its audio was not read for ${STALL_MS / 1000} s while other requests waited`;
      throw new EngineError('failed', `The engine ${this.#engine.name} was interrupted: ${why}.`);
    }
  }

  #endIfUnused(): void {
    if (this.#open === 0 && (this.#processes === 0 || this.#isRetired)) void this.stop();
  }

  async #retire(): Promise<void> {
    if (this.#isRetired) return;
    this.#isRetired = true;
    // This deletes the socket. The lock is released later, so that no other host has created its own.
    this.#server.close();
    await this.#release();
  }
}

async function encoded({
  chunks,
  format,
  gainDb,
  streamNumber,
}: Extract<HostRequest, { readonly type: 'encode' }>): Promise<string> {
  const { encodeSpeech } = await import('../encode/encode-speech.ts');
  async function* speech(): AsyncGenerator<SpeechChunk> {
    for (const { sampleRate, samples } of chunks) {
      yield { samples: samplesIn(Buffer.from(samples, 'base64')), sampleRate };
    }
  }
  const parts: Uint8Array[] = [];
  for await (const part of encodeSpeech(format, speech(), { gainDb, streamNumber })) {
    parts.push(part);
  }
  return Buffer.concat(parts).toString('base64');
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

class Locked extends Error {
  override readonly name = 'Locked';
}

async function claim(file: string): Promise<(() => Promise<void>) | undefined> {
  const lock = `${file}.lock`;
  const options = {
    lastActivity: async () => (await stat(lock).catch(() => undefined))?.mtimeMs,
    lockedError: () => new Locked(),
  };
  // A host that ends still has its lock for a short time.
  for (let turn = 0; turn < 200; turn += 1) {
    try {
      return await takeLock(system, lock, options);
    } catch (error) {
      if (!(error instanceof Locked)) throw error;
    }
    const other = await connectToHost(file);
    other?.destroy();
    if (other !== undefined) return undefined;
    await sleep(50);
  }
  return undefined;
}

async function main([file = '', keepAliveMs]: readonly string[]): Promise<void> {
  const registration: unknown =
    keepAliveMs === undefined ? JSON.parse(readFileSync(0, 'utf8')) : undefined;
  if (registration !== undefined && !Check(EngineRegistration, registration)) {
    throw new Error('invalid registration');
  }
  const release = await claim(file);
  if (release === undefined) return;
  await rm(file, { force: true });
  const host = await (registration === undefined
    ? EngineHost.forBuiltIn(Number(keepAliveMs), release)
    : EngineHost.forAdded(registration, release));
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.once(signal, () => void host.stop());
  }
  host.listen(file);
}

void main(process.argv.slice(2));
