import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ListenError } from './listen-error.ts';

/** Starts to listen. @throws ListenError when the port is taken or the address is not ours */
export function listen(server: Server, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, host, port)));
    server.listen({ host, port }, () => {
      const address = server.address();
      if (typeof address === 'object' && address !== null) resolve(address);
      else reject(new TypeError('the server has no address'));
    });
  });
}

/** Host and port as a URL writes them; an address of every interface is reached by loopback. */
export function urlOf({ address, port }: AddressInfo): string {
  if (address === '0.0.0.0') return `127.0.0.1:${port}`;
  if (address === '::') return `[::1]:${port}`;
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

function listenError(error: Error, host: string, port: number): ListenError {
  if ('code' in error && error.code === 'EADDRINUSE') {
    return new ListenError('in-use', `Port ${port} of ${host} is in use`, error);
  }
  return new ListenError('refused', `${host} port ${port} cannot be listened on`, error);
}
