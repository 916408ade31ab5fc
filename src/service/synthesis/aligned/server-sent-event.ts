/** One event of a stream as its bytes. Its name has no line break, and its data is a line of JSON. */
export function serverSentEvent(name: string, data: unknown): Uint8Array {
  return Buffer.from(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
}

/** A comment, which clients leave alone; proxies see that the connection lives. */
export const HEARTBEAT: Uint8Array = Buffer.from(': heartbeat\n\n');
