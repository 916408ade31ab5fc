import { Option } from 'commander';
import type { CommandDefinition } from '../src/cli/command.ts';
import type { GlobalOptions } from '../src/cli/global-options.ts';
import type { CommandResult } from '../src/cli/result.ts';

import { usageFailure } from '../src/errors/failure.ts';
import type { OpenServiceOptions, RunningService } from '../src/service/running-service.ts';
import { startService } from '../src/target/start-service.ts';
import { integerWithin } from '../src/cli/number-flags.ts';
import { serviceHost } from '../src/cli/service-host.ts';

interface ServeFlags {
  readonly host: string;
  readonly port: number;
  readonly dataDir?: string;
  readonly unavailable?: readonly string[];
  readonly allowHost?: readonly string[];
  readonly allowOrigin?: readonly string[];
}

/** `foley serve` (contract, section 9): the embedded service as a long-running server. */
export const serve: CommandDefinition<ServeFlags> = {
  configure(command) {
    command
      .description(
        'Runs the embedded service, a complete offline implementation of the API, until it is ' +
          'stopped. Prints its address and key once it is ready.',
      )
      .addOption(new Option('--host <address>', 'address to listen on').default('127.0.0.1'))
      .addOption(
        new Option('--port <n>', 'port to listen on; 0 is a free one')
          .default(4747)
          .argParser(integerWithin('--port', { minimum: 0, maximum: 65_535 })),
      )
      .addOption(
        new Option('--data-dir <dir>', 'where its data is kept (default: the state folder)'),
      )
      .addOption(repeatable('--unavailable <model>', 'model that is refused as unavailable'))
      .addOption(repeatable('--allow-host <name>', 'host name to answer besides loopback'))
      .addOption(repeatable('--allow-origin <url>', 'origin of a page to answer'));
  },
  async run(context, { options }): Promise<CommandResult> {
    refuseOtherServices(context.globals);
    const service = await startService(serviceOptions(options), await serviceHost(context));
    try {
      await context.emit(announcement(service));
      await aborted(context.signal);
    } finally {
      await service.close();
    }
    context.signal.throwIfAborted();
    return {};
  },
};

/** Flags that name another service have nothing to say here. */
function refuseOtherServices(globals: GlobalOptions): void {
  const { account, apiKeyFile, baseUrl, realtimeUrl } = globals;
  const others = Object.entries({
    '--account': account,
    '--api-key-file': apiKeyFile,
    '--base-url': baseUrl,
    '--realtime-url': realtimeUrl,
  });
  const [given] = others.find(([, value]) => value !== undefined) ?? [];
  if (given === undefined) return;
  throw usageFailure(
    `${given} names another service, and foley serve is the embedded one`,
    'Leave it out.',
  );
}

function serviceOptions(flags: ServeFlags): Partial<OpenServiceOptions> {
  if (!['127.0.0.1', '::1', 'localhost'].includes(flags.host)) {
    throw usageFailure(
      `--host is ${flags.host}; without a keys file the service listens on this computer only`,
      'Leave --host out, or use 127.0.0.1 or ::1.',
    );
  }
  return {
    host: flags.host,
    port: flags.port,
    ...(flags.dataDir === undefined ? {} : { dataDir: flags.dataDir }),
    unavailableModels: flags.unavailable ?? [],
    allowHosts: flags.allowHost ?? [],
    allowOrigins: flags.allowOrigin ?? [],
  };
}

function announcement({ baseUrl, realtimeUrl, apiKey }: RunningService): CommandResult {
  return {
    data: { baseUrl, realtimeUrl, apiKey },
    human: ({ paint }) =>
      `foley service ready: FOLEY_BASE_URL=${paint.bold(baseUrl)} FOLEY_API_KEY=${apiKey}`,
  };
}

function repeatable(flags: string, description: string): Option {
  return new Option(flags, `${description} (may be repeated)`).argParser(
    (given: string, previous: readonly string[] | undefined) => [...(previous ?? []), given],
  );
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
