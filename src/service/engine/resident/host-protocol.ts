import { lstat, readdir } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Type } from 'typebox';
import type { Static, TObject } from 'typebox';
import { Check } from 'typebox/schema';
import { mapOf } from '../../../contract/schemas.ts';
import { errnoOf, hasErrno, UnsafeFile } from '../../../durable/file-failures.ts';
import { readLock } from '../../../durable/lock.ts';
import { systemFiles } from '../../../system/file-system.ts';
import { systemProcesses } from '../../../system/processes.ts';
import type { EncodedFormat } from '../../speech/encode.ts';
import type { EngineRequest, PronouncedSpan, SpeechChunk } from '../speech-engine.ts';
import { ByteQueue } from '../process/byte-queue.ts';

const PronouncedSpans = Type.Unsafe<readonly PronouncedSpan[]>(
  Type.Array(Type.Object({ start: Type.Number(), end: Type.Number(), phonemes: Type.String() })),
);

const EngineRequestRecord = Type.Object({
  text: Type.String(),
  voice: Type.String(),
  speed: Type.Number(),
  pitch: Type.Number(),
  model: Type.Optional(Type.String()),
  controls: Type.Optional(mapOf(Type.Union([Type.String(), Type.Number()]))),
  textNormalization: Type.Optional(Type.Boolean()),
  isTimed: Type.Optional(Type.Boolean()),
  pronounced: Type.Optional(PronouncedSpans),
  isInteractive: Type.Optional(Type.Boolean()),
});

/** The formats that an engine host encodes: those whose encoders are slow to load. */
const HOSTED_FORMATS = ['mp3', 'ogg', 'opus'] as const;

/** Returns whether an engine host encodes a format. */
export function isHosted(format: EncodedFormat): format is (typeof HOSTED_FORMATS)[number] {
  return HOSTED_FORMATS.some((one) => one === format);
}

const SENDER = {
  /** Id of the foley process that sends the request. The engine host takes turns between foley processes. */
  command: Type.String(),
  /** Idle time in milliseconds after which the engine ends. */
  keepAliveMs: Type.Number({ minimum: 0 }),
};

const CLONE = {
  type: Type.Literal('clone'),
  reference: Type.Object({ audio: Type.String(), text: Type.String() }),
};

// Encodes a short speech; the samples are 32-bit numbers in the byte order of the computer, in base64.
const ENCODE = {
  type: Type.Literal('encode'),
  format: Type.Enum(HOSTED_FORMATS),
  gainDb: Type.Number(),
  streamNumber: Type.Optional(Type.Number()),
  chunks: Type.Array(Type.Object({ samples: Type.String(), sampleRate: Type.Number() })),
};

/** A request to an engine host, without the fields of its sender. */
export type HostTask =
  | { readonly type: 'speak'; readonly request: EngineRequest }
  | Static<TObject<typeof CLONE>>
  | Static<TObject<typeof ENCODE>>;

/**
 * The request that a client sends to an engine host, one for each connection, as a line of JSON. A closed connection
 * cancels the request.
 */
export const HostRequest = Type.Union([
  Type.Object({ ...SENDER, type: Type.Literal('speak'), request: EngineRequestRecord }),
  Type.Object({ ...SENDER, ...CLONE }),
  Type.Object({ ...SENDER, ...ENCODE }),
  Type.Object({
    type: Type.Literal('stop'),
    /** True to end at once; false to finish the running requests first. */
    isNow: Type.Boolean(),
  }),
]);
export type HostRequest = Static<typeof HostRequest>;

const HostReply = Type.Union([
  // The samples follow the line as 32-bit numbers in the byte order of the computer.
  Type.Object({
    type: Type.Literal('chunk'),
    bytes: Type.Integer({ minimum: 0, multipleOf: Float32Array.BYTES_PER_ELEMENT }),
    sampleRate: Type.Number(),
    words: Type.Optional(
      Type.Array(
        Type.Object({
          start: Type.Number(),
          end: Type.Number(),
          startMs: Type.Number(),
          endMs: Type.Number(),
        }),
      ),
    ),
    span: Type.Optional(Type.Object({ start: Type.Number(), end: Type.Number() })),
  }),
  // Sent regularly, so that a client notices a host that hangs.
  Type.Object({ type: Type.Literal('waiting') }),
  Type.Object({ type: Type.Literal('cloned'), voice: Type.String() }),
  Type.Object({ type: Type.Literal('encoded'), audio: Type.String() }),
  Type.Object({ type: Type.Literal('done') }),
  Type.Object({
    type: Type.Literal('error'),
    reason: Type.Enum(['unspeakable', 'failed']),
    message: Type.String(),
    /** Name of the failed engine, if the user added that engine. */
    engine: Type.Optional(Type.String()),
  }),
]);
type HostReply = Static<typeof HostReply>;

/** Interval in milliseconds at which an engine host sends `waiting` messages during a request. */
export const HEARTBEAT_MS = 15_000;

/** Maximum length in bytes of a line on a connection to an engine host. */
export const LINE_MAX_BYTES = 4 * 1024 * 1024;

/** Sends a message without audio, from an engine host to its client or back. */
export function send(socket: Socket, message: HostRequest | Exclude<HostReply, { type: 'chunk' }>) {
  socket.write(`${JSON.stringify(message)}\n`);
}

/** Sends a chunk of speech from an engine host to its client. */
export function sendChunk(socket: Socket, { samples, ...rest }: SpeechChunk): void {
  const { buffer, byteLength, byteOffset } = samples;
  const line = JSON.stringify({ type: 'chunk', bytes: byteLength, ...rest });
  socket.write(`${line}\n`);
  // The engine does not change samples that it has returned.
  socket.write(new Uint8Array(buffer, byteOffset, byteLength));
}

export type Received =
  | Exclude<HostReply, { type: 'chunk' }>
  | { readonly type: 'chunk'; readonly chunk: SpeechChunk };

/** Reads the messages of an engine host. @throws Error for an invalid message; errors of the socket */
export async function* readReplies(socket: Socket): AsyncGenerator<Received, undefined> {
  const queue = new ByteQueue(socket);
  for (;;) {
    const line = await queue.line(LINE_MAX_BYTES);
    if (line === undefined) return;
    const message: unknown = line === 'too long' ? undefined : JSON.parse(line.toString());
    if (!Check(HostReply, message)) throw new Error('invalid message');
    if (message.type !== 'chunk') {
      yield message;
      continue;
    }
    const bytes = await queue.bytes(message.bytes);
    if (bytes === undefined) return;
    const samples = samplesIn(bytes);
    const { bytes: _bytes, type, ...rest } = message;
    yield { type, chunk: { samples, ...rest } };
  }
}

/** Returns the samples in the bytes of a message. Copies, because samples must begin at a multiple of four bytes. */
export function samplesIn(bytes: Buffer): Float32Array<ArrayBuffer> {
  return new Float32Array(new Uint8Array(bytes).buffer);
}

/** Connects to an engine host by its socket file; returns undefined if no host listens. @throws other system errors */
export function connectToHost(file: string): Promise<Socket | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect(file);
    const fail = (error: Error): void => {
      if (NOT_LISTENING.has(errnoOf(error))) resolve(undefined);
      else reject(error);
    };
    socket.once('error', fail);
    socket.once('connect', () => {
      socket.off('error', fail);
      // The end of the connection is handled, whatever the cause.
      socket.on('error', () => undefined);
      resolve(socket);
    });
  });
}

// EAGAIN: too many connections wait for the host.
const NOT_LISTENING = new Set<string | undefined>([
  'ENOENT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EAGAIN',
]);

/**
 * Creates the folder for the sockets of engine hosts, or checks the existing folder. Only this user may access the
 * folder.
 * @throws UnsafeFile if it is not a folder, belongs to another user, or can be accessed by other users; system errors
 */
export async function requireSocketFolder(folder: string): Promise<void> {
  await systemFiles.mkdir(folder, { recursive: true, mode: 0o700 });
  await checkSocketFolder(folder);
}

/** Checks an existing folder for sockets. Throws like {@link requireSocketFolder}. */
export async function checkSocketFolder(folder: string): Promise<void> {
  const stats = await lstat(folder);
  const mode = stats.mode & 0o777;
  if (!stats.isDirectory()) throw new UnsafeFile('it is not a folder');
  if (stats.uid !== process.geteuid?.()) {
    throw new UnsafeFile(`it belongs to another user (uid ${stats.uid})`);
  }
  if ((mode & 0o077) !== 0) {
    throw new UnsafeFile(`other users can access it (mode ${mode.toString(8)}; 700 is required)`);
  }
}

/** Suffix of the file names of sockets, such as `piper.0123456789abcdef.sock`. */
export const SOCKET_SUFFIX = '.sock';

/**
 * Stops engine hosts, the processes that keep engines ready between commands.
 * @param name name of the engine; undefined for all engines
 * @param isNow true to cancel running requests, wait for each host to stop, and kill a host that hangs; false to let
 * the hosts finish running requests, without waiting for them
 * @returns the name of the engine of each host
 * @throws UnsafeFile if other users can access the folder; system errors
 */
export function stopHosts(
  folder: string,
  name: string | undefined,
  isNow: boolean,
): Promise<readonly string[]> {
  return eachHost(folder, name, async (socket, file) => {
    const ended = new Promise<boolean>((resolve) => socket.once('close', () => resolve(true)));
    send(socket, { type: 'stop', isNow });
    socket.resume();
    if (await Promise.race([ended, sleep(STOP_MS, false, { ref: false })])) return;
    socket.destroy();
    if (isNow) await killHost(file);
  });
}

/** Lists the running engine hosts by the names of their engines. Throws like {@link stopHosts}. */
export function listHosts(folder: string): Promise<readonly string[]> {
  return eachHost(folder, undefined, async (socket) => void socket.destroy());
}

async function eachHost(
  folder: string,
  name: string | undefined,
  work: (socket: Socket, file: string) => Promise<void>,
): Promise<readonly string[]> {
  const files = await readdir(folder).catch((error: unknown): string[] => {
    if (hasErrno(error, 'ENOENT')) return [];
    throw error;
  });
  if (files.length > 0) await checkSocketFolder(folder);
  const names = files.map(async (file) => {
    const engine = SOCKET_NAME.exec(file)?.[1];
    if (engine === undefined || (name !== undefined && name !== engine)) return [];
    const socket = await connectToHost(path.join(folder, file));
    if (socket === undefined) return [];
    await work(socket, path.join(folder, file));
    return [engine];
  });
  return (await Promise.all(names)).flat();
}

// The engine of a host gets 2 s to exit.
const STOP_MS = 6_000;

async function killHost(file: string): Promise<void> {
  const { owner } = (await readLock(`${file}.lock`, systemFiles)) ?? {};
  if (owner === undefined || systemProcesses().liveness(owner) === 'dead') return;
  process.kill(owner.pid, 'SIGKILL');
}

const SOCKET_NAME = /^([a-z][a-z0-9-]*)\.[0-9a-f]{16}\.sock$/;
