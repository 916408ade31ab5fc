import { encodeFrame } from '../../src/realtime/frames.ts';
import type { OpenSocket, SocketEvent } from '../../src/live/websocket.ts';

/** Creates sockets whose events a test emits, and which show whether they are paused. */
export function sockets() {
  const all: { readonly tell: (event: SocketEvent) => void; isRead: boolean }[] = [];
  const open: OpenSocket = (tell) => {
    const socket = { tell, isRead: true };
    all.push(socket);
    return {
      send: () => {},
      close: () => {},
      abort: () => {},
      pause: () => {
        socket.isRead = false;
      },
      resume: () => {
        socket.isRead = true;
      },
    };
  };
  return { all, open };
}

/** Returns an event with a message of the service. */
export const frame = (
  message: { readonly event: string } & Readonly<Record<string, unknown>>,
): SocketEvent => ({
  type: 'frame',
  bytes: encodeFrame(message, 'v3'),
});
