import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '../../effects/clock.ts';
import type { BodyCut } from './faults.ts';

/**
 * Writes an answer that stops after so many bytes of its body: `reset` breaks the
 * connection, `truncate` ends it in order, so that a length that was announced, or the last chunk, is
 * missing. A reset after no byte at all leaves nothing of the answer. A body that has no more bytes
 * than that is sent as it is. What is not sent was made for a client that left.
 */
export async function sendCut(
  response: Response,
  outgoing: ServerResponse,
  { kind, afterBytes }: BodyCut,
  clock: Clock,
): Promise<void> {
  const socket = outgoing.socket ?? (await connectionOf(outgoing, clock));
  if (kind === 'reset' && afterBytes === 0) {
    socket?.resetAndDestroy();
    await response.body?.cancel(CUT);
    return;
  }
  outgoing.writeHead(response.status, [...response.headers].flat());
  outgoing.flushHeaders();
  const isWhole = await writeUpTo(afterBytes, response, outgoing);
  if (isWhole) outgoing.end();
  else if (kind === 'truncate') socket?.destroySoon();
  else {
    // A reset that comes with the last bytes is taken for an orderly end by some clients.
    await clock.sleep(READ_MS);
    socket?.resetAndDestroy();
  }
}

const CUT = new Error('a fault rule cut the answer');
/** What a client on this machine needs to read what was sent. */
const READ_MS = 50;

/**
 * The connection, when the answer before on it is through and was read: until then an answer has none.
 * Nothing when it is gone by then.
 */
async function connectionOf(outgoing: ServerResponse, clock: Clock): Promise<Socket | undefined> {
  const { socket: shared } = outgoing.req;
  if (shared.destroyed) return undefined;
  const gone = new AbortController();
  const leave = (): void => gone.abort();
  shared.once('close', leave);
  try {
    await once(outgoing, 'socket', gone);
    await clock.sleep(READ_MS);
    return shared;
  } catch {
    return undefined;
  } finally {
    shared.off('close', leave);
  }
}

/** Gives whether that was all of the body. */
async function writeUpTo(
  most: number,
  { body }: Response,
  outgoing: ServerResponse,
): Promise<boolean> {
  if (body === null) return true;
  const reader = body.getReader();
  let left = most;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return true;
      const sent = value.subarray(0, left);
      if (sent.length > 0) await write(outgoing, sent);
      if (sent.length < value.length) break;
      left -= sent.length;
    }
  } catch {
    // It failed by itself, or its client is gone.
  }
  await reader.cancel(CUT).catch(() => undefined);
  return false;
}

function write(outgoing: ServerResponse, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    outgoing.once('close', resolve);
    outgoing.write(bytes, (error) => {
      outgoing.off('close', resolve);
      if (error === null || error === undefined) resolve();
      else reject(error);
    });
  });
}
