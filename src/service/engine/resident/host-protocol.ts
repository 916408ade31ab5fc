import { lstat, mkdir, readdir } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { Check } from 'typebox/schema';
import { errnoOf, hasErrno, UnsafeFile } from '../../../durable/file-failures.ts';
import type { SpeechChunk } from '../speech-engine.ts';
import { ByteQueue } from '../process/messages.ts';

const EngineRequestRecord = Type.Object({
  text: Type.String(),
  voice: Type.String(),
  speed: Type.Number(),
  pitch: Type.Number(),
  model: Type.Optional(Type.String()),
  controls: Type.Optional(Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()]))),
  textNormalization: Type.Optional(Type.Boolean()),
  isTimed: Type.Optional(Type.Boolean()),
});

const SENDER = {
  /** The command that asks; the host serves commands in turn. */
  command: Type.String(),
  /** Idle time in milliseconds after which the engine ends. */
  keepAliveMs: Type.Number(),
};

/** The only message on a connection to a host: one line of JSON. Closing the connection cancels the request. */
export const HostRequest = Type.Union([
  Type.Object({ ...SENDER, type: Type.Literal('speak'), request: EngineRequestRecord }),
  Type.Object({
    ...SENDER,
    type: Type.Literal('clone'),
    reference: Type.Object({ audio: Type.String(), text: Type.String() }),
  }),
  Type.Object({
    type: Type.Literal('stop'),
    /** False to finish running requests first. */
    isNow: Type.Boolean(),
  }),
]);
export type HostRequest = Static<typeof HostRequest>;

const HostReply = Type.Union([
  /** Speech. The samples follow the line as 32-bit numbers in the byte order of the computer. */
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
  }),
  /** Sent all the time, so that a command notices a host that hangs. */
  Type.Object({ type: Type.Literal('waiting') }),
  Type.Object({ type: Type.Literal('cloned'), voice: Type.String() }),
  Type.Object({ type: Type.Literal('done') }),
  Type.Object({
    type: Type.Literal('error'),
    reason: Type.Enum(['unspeakable', 'failed']),
    message: Type.String(),
    /** Name of the added engine that failed. */
    engine: Type.Optional(Type.String()),
  }),
]);
type HostReply = Static<typeof HostReply>;
export type FailedReply = Extract<HostReply, { readonly type: 'error' }>;

/** Time between two `waiting` messages in milliseconds. */
export const HEARTBEAT_MS = 15_000;

/** Maximum length of a line in bytes. */
export const LINE_MAX_BYTES = 4 * 1024 * 1024;

/** Sends a message without samples. */
export function send(socket: Socket, message: HostRequest | Exclude<HostReply, { type: 'chunk' }>) {
  socket.write(`${JSON.stringify(message)}\n`);
}

/** Sends a part of the speech. */
export function sendChunk(socket: Socket, { sampleRate, samples, words }: SpeechChunk): void {
  const { buffer, byteLength, byteOffset } = samples;
  const times = words === undefined ? {} : { words };
  const line = JSON.stringify({ type: 'chunk', bytes: byteLength, sampleRate, ...times });
  socket.write(`${line}\n`);
  // The engine does not change samples that it has returned.
  socket.write(new Uint8Array(buffer, byteOffset, byteLength));
}

export type Received =
  | Exclude<HostReply, { type: 'chunk' }>
  | { readonly type: 'chunk'; readonly chunk: SpeechChunk };

/** Reads the messages of a host. @throws Error for an invalid message, and errors of the socket */
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
    // A copy, because samples must begin at a multiple of four bytes.
    const samples = new Float32Array(new Uint8Array(bytes).buffer);
    const { sampleRate, words } = message;
    const times = words === undefined ? {} : { words };
    yield { type: 'chunk', chunk: { samples, sampleRate, ...times } };
  }
}

/** Connects to a host; returns undefined if no host listens. @throws other system errors */
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
 * Creates the folder of the sockets, which only this user may access.
 * @throws UnsafeFile for a folder of another user, or one that other users can access; system errors
 */
export async function requireSocketFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
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

/** The end of the name of a socket, `NAME.<16 hexadecimal digits>.sock`. */
export const SOCKET_SUFFIX = '.sock';

/**
 * Ends the processes that are kept ready, and waits until they have ended.
 * @param name the engine; undefined for all engines
 * @param isNow false to only make them end after their running requests, and return at once
 * @returns the names of the engines, one for each process
 * @throws UnsafeFile if other users can access the folder; system errors
 */
export async function stopHosts(
  folder: string,
  name: string | undefined,
  isNow: boolean,
): Promise<string[]> {
  const files = await readdir(folder).catch((error: unknown): string[] => {
    if (hasErrno(error, 'ENOENT')) return [];
    throw error;
  });
  if (files.length > 0) await requireSocketFolder(folder);
  const found = files.flatMap((file) => {
    const engine = SOCKET_NAME.exec(file)?.[1];
    return engine === undefined || (name !== undefined && name !== engine)
      ? []
      : [{ engine, file }];
  });
  const stopped = await Promise.all(
    found.map(async ({ engine, file }) => {
      const socket = await connectToHost(path.join(folder, file));
      if (socket === undefined) return [];
      const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
      send(socket, { type: 'stop', isNow });
      socket.resume();
      await ended;
      return [engine];
    }),
  );
  return stopped.flat();
}

const SOCKET_NAME = /^([a-z][a-z0-9-]*)\.[0-9a-f]{16}\.sock$/;
