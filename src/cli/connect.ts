import { version } from '../../package.json';
import { createApiClient } from '../api/client.ts';
import type { ServiceAddress } from '../api/service-address.ts';
import { readAccounts, selectAccount } from '../config/accounts.ts';
import { startEmbedded } from '../target/embedded.ts';
import { readKeyFile } from '../target/read-key.ts';
import type { Target } from '../target/resolve.ts';
import { resolveTarget } from '../target/resolve.ts';
import type { Connection, ConnectOptions, Context } from './context.ts';
import { describeEvent } from './verbose.ts';

const DEFAULT_MAX_RETRIES = 4;

/**
 * Finds the service that is meant, starts it if it is the embedded one, and makes the client of it.
 * @throws Failure: usage, config, auth or state
 */
export async function connect(context: Context, options: ConnectOptions): Promise<Connection> {
  const target = await findTarget(context, options);
  if (target.kind === 'hosted') return connectTo(context, target.address, async () => {});
  if (target.notice !== undefined) context.io.complain(target.notice);
  const service = await startEmbedded(await context.paths());
  return connectTo(context, service.address, () => service.close());
}

async function findTarget(context: Context, { publicOnly }: ConnectOptions): Promise<Target> {
  const { env, files, globals, io } = context;
  const { apiKeyFile } = globals;
  const { accountsFile } = await context.paths();
  return resolveTarget({
    flags: globals,
    env,
    keyFromFile:
      apiKeyFile === undefined
        ? undefined
        : await readKeyFile(apiKeyFile, { files, stdin: io.stdin }),
    account: selectAccount(await readAccounts(files, accountsFile)),
    publicOnly,
  });
}

function connectTo(
  { clock, env, globals, io, random }: Context,
  address: ServiceAddress,
  stop: () => Promise<void>,
): Connection {
  const client = createApiClient({
    address,
    clock,
    random,
    version,
    env,
    limits: {
      maxRetries: globals.maxRetries ?? DEFAULT_MAX_RETRIES,
      responseTimeoutMs: globals.responseTimeout,
      idleTimeoutMs: globals.idleTimeout,
    },
    observer: (event) => {
      if (globals.verbose === true) io.complain(describeEvent(event));
    },
  });
  return {
    client,
    target: address.kind,
    close: async () => {
      await client.close();
      await stop();
    },
  };
}
