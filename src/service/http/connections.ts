import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** All connections, also those with a key. */
const MOST_CONNECTIONS = 1_024;
/** Connections on which no request had a good key yet; the rest is for those that have one. */
const MOST_WITHOUT_KEY = 256;

/** The connections of a server, so that those without a key never shut out those with one. */
export interface Connections {
  /** Marks a connection as one that has shown a key, or that another bound counts. */
  trust(socket: Duplex): void;
  /** Notes the answer that is sent on a connection. */
  answering(outgoing: ServerResponse): void;
}

/**
 * Bounds the connections of a server. Where too many have shown no key, the oldest of them is closed: first
 * one that gets no answer at the time.
 */
export function boundConnections(server: Server): Connections {
  const withoutKey = new Map<Duplex, ServerResponse | undefined>();
  server.maxConnections = MOST_CONNECTIONS;
  server.on('connection', (socket: Socket) => {
    withoutKey.set(socket, undefined);
    socket.once('close', () => withoutKey.delete(socket));
    if (withoutKey.size <= MOST_WITHOUT_KEY) return;
    const all = [...withoutKey];
    const [oldest] = all.find(([, answer]) => !isSending(answer)) ?? all[0] ?? [];
    oldest?.destroy();
    if (oldest !== undefined) withoutKey.delete(oldest);
  });
  return {
    trust: (socket) => void withoutKey.delete(socket),
    answering(outgoing) {
      const { socket } = outgoing.req;
      if (withoutKey.has(socket)) withoutKey.set(socket, outgoing);
    },
  };
}

function isSending(answer: ServerResponse | undefined): boolean {
  return answer !== undefined && answer.headersSent && !answer.writableFinished;
}
