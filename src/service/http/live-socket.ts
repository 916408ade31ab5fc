import type { Socket } from 'node:net';
import type { RawData, WebSocket } from 'ws';
import type { Clock } from '../../effects/clock.ts';
import type { Admission } from '../realtime/admission.ts';
import type { LiveSocket } from '../realtime/live-socket.ts';
import type { Service } from '../service.ts';

export interface LiveSocketOptions {
  readonly service: Pick<Service, 'open'>;
  readonly clock: Clock;
  readonly socket: Socket;
  readonly admission: Admission;
}

/** How long the other side may take to say goodbye too. */
const GOODBYE_MS = 5_000;
/** What a client may have sent before it read our goodbye; behind it nothing is read any more. */
const MOST_LATE_FRAMES = 64;
/** Answers to pings that nobody reads. */
const MOST_UNREAD_BYTES = 8 * 1024 * 1024;
/** What a client on this machine needs to read what was sent before a reset. */
const READ_MS = 50;

/** Opens a realtime connection over a WebSocket that was just made. */
export function liveSocket(webSocket: WebSocket, options: LiveSocketOptions): void {
  const { service, clock, socket, admission } = options;
  webSocket.binaryType = 'nodebuffer';
  let isClosing = false;
  let lateFrames = 0;
  /** Whether a frame comes too late to be looked at. */
  const isLate = (): boolean => {
    if (!isClosing) return false;
    lateFrames += 1;
    if (lateFrames === MOST_LATE_FRAMES) webSocket.pause();
    return true;
  };
  const live: LiveSocket = {
    get bufferedAmount() {
      return webSocket.bufferedAmount;
    },
    send: (bytes, sent) => webSocket.send(bytes, { binary: true }, () => sent()),
    ping: () => webSocket.ping(),
    close(code) {
      isClosing = true;
      if (webSocket.readyState === webSocket.CLOSED) return;
      webSocket.close(code);
      const stop = clock.after(GOODBYE_MS, () => webSocket.terminate());
      webSocket.once('close', stop);
    },
    terminate: () => webSocket.terminate(),
    breakOff: (kind) => void breakOff(kind, socket, clock),
  };
  const listener = service.open(admission, live);
  webSocket.on('message', (data, isBinary) => {
    if (!isLate()) listener.message(bytesOf(data), !isBinary);
  });
  webSocket.on('ping', () => {
    if (!isLate() && webSocket.bufferedAmount > MOST_UNREAD_BYTES) webSocket.terminate();
  });
  webSocket.on('pong', () => {
    if (!isLate()) listener.pong();
  });
  webSocket.on('close', () => listener.closed());
  // What breaks the protocol is answered by the package, with the close code for it.
  webSocket.on('error', () => undefined);
}

/** A reset that comes with the last bytes is taken for an orderly end by some clients. */
async function breakOff(kind: 'reset' | 'truncate', socket: Socket, clock: Clock): Promise<void> {
  if (kind === 'truncate') return socket.destroySoon();
  await clock.sleep(READ_MS);
  socket.resetAndDestroy();
}

function bytesOf(data: RawData): Uint8Array {
  if (data instanceof Uint8Array) return data;
  return data instanceof ArrayBuffer ? new Uint8Array(data) : Buffer.concat(data);
}
