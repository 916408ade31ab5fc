import { readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';

/**
 * Waits until the client has taken everything that was sent out of its system's buffer. A reset
 * that comes together with data is shown to a Node program as an orderly end, so a reset that has
 * to be seen must come after the data was read. Linux reports how much is unread at the other end of
 * a connection on the same machine; elsewhere a moment has to do.
 */
export async function allBytesRead(socket: Socket): Promise<void> {
  const { localPort, remotePort } = socket;
  if (process.platform !== 'linux' || localPort === undefined || remotePort === undefined) {
    await setTimeout(50);
    return;
  }
  while (
    !socket.destroyed &&
    unreadBytes(await readFile('/proc/net/tcp', 'latin1'), remotePort, localPort) > 0
  ) {
    await setTimeout(1);
  }
}

/** How many bytes wait to be read at the end of a connection, from the system's table of them. */
function unreadBytes(table: string, localPort: number, remotePort: number): number {
  const ports = `:${inHex(localPort)} \\w+:${inHex(remotePort)} `;
  const queue = new RegExp(String.raw`${ports}\w+ \w+:(\w+) `).exec(table)?.[1];
  return Number.parseInt(queue ?? '0', 16);
}

function inHex(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, '0');
}
