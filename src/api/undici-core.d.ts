/**
 * The parts of undici that the tunnel through a proxy loads by path, so that the rest of it is never read. The
 * version is pinned; `test/api` notices when one of them moves.
 */
declare module 'undici/lib/dispatcher/pool.js' {
  import type { Pool as Published } from 'undici';

  const Pool: typeof Published;
  export = Pool;
}

declare module 'undici/lib/api/api-connect.js' {
  import type { Dispatcher } from 'undici';

  const connect: Dispatcher['connect'];
  export = connect;
}

declare module 'undici/lib/core/connect.js' {
  import type { Socket } from 'node:net';
  import type { buildConnector as published } from 'undici';

  /** Unlike the published types, these say that the connection that is being made is given back. */
  function buildConnector(
    options: published.BuildOptions,
  ): (target: published.Options, callback: published.Callback) => Socket;
  export = buildConnector;
}
