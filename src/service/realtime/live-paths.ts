import { REALTIME_PROTOCOLS } from '../../contract/realtime/protocols.ts';
import { ServiceError } from '../service-error.ts';

/** Version 1 is named by the spec and not described (section 9). */
const REALTIME_V1_PATH = '/v1/tts/live';

/** Whether a path is one where a handshake is expected. */
export function isLivePath(path: string): boolean {
  return LIVE_PATHS.has(path);
}

const { v2, v3 } = REALTIME_PROTOCOLS;
const LIVE_PATHS: ReadonlySet<string> = new Set([REALTIME_V1_PATH, v2.livePath, v3.livePath]);

/** 501 for version 1. */
export function realtimeV1(): ServiceError {
  const message = `Realtime speech is at ${v3.livePath} and ${v2.livePath}; version 1 is not described`;
  return new ServiceError('ERR_NOT_IMPLEMENTED', message);
}

/** 426 for a request that is no handshake of a WebSocket. */
export function upgradeRequired(): ServiceError {
  const message = 'This is the address of a WebSocket, version 13';
  return new ServiceError('ERR_UPGRADE_REQUIRED', message, {
    headers: { Upgrade: 'websocket', 'Sec-WebSocket-Version': '13' },
  });
}
