import { crc32 } from 'node:zlib';
import type { LogRecord } from '../../src/durable/log.ts';

/** Encodes a record as a line of a log of version 1, as earlier builds of foley wrote it. */
export function oldLogLine(record: LogRecord): Buffer {
  const json = JSON.stringify(record);
  const sum = crc32(`v1 ${json}`).toString(16).padStart(8, '0');
  return Buffer.from(`\nv1 ${sum} ${json}\n`);
}
