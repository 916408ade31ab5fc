import { isIP } from 'node:net';
import { connect } from 'node:tls';
import type { Connector } from './connections.ts';
import { endOf, Opening } from './connections.ts';

/**
 * Encrypted connections over those of another connector.
 * @param certificates to trust (PEM) instead of the built-in ones
 */
export function secureConnector(
  url: URL,
  inner: Connector,
  certificates: string | undefined,
): Connector {
  const opening = new Opening();
  const { host } = endOf(url);
  const target = {
    host,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ALPNProtocols: ['http/1.1'],
    // Said aloud, since an environment variable could otherwise turn the check off.
    rejectUnauthorized: true,
    ...(certificates === undefined ? {} : { ca: certificates }),
  };
  let session: Buffer | undefined;
  return {
    async open() {
      const socket = connect({ ...target, session, socket: await inner.open() });
      socket.on('session', (latest) => {
        session = latest;
      });
      return opening.ready(socket, 'secureConnect');
    },
    close() {
      inner.close();
      opening.close();
    },
  };
}
