import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import type { GlobalOptions } from '../../src/cli/flags/global.ts';
import type { CommandResult } from '../../src/cli/render/result.ts';
import { serviceHost } from '../../src/cli/connect.ts';
import { startService } from '../../src/embedded/start.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import type {
  AccountKey,
  Alias,
  OpenServiceOptions,
  RunningService,
} from '../../src/service/running-service.ts';
import { display } from '../../src/text/display.ts';
import { createServeLog } from './log.ts';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';
import { Option } from 'commander';
import { addOptions, integerOption, listOption, oneOf } from '../../src/cli/flags/values.ts';
import type { FaultRule } from '../../src/service/http/faults.ts';
import { parseFaultRule } from '../../src/embedded/fault-rule.ts';
import { readInput } from '../../src/cli/read-input.ts';
import { octal, sharedPermissions } from '../../src/config/accounts.ts';
import { parseAcceptedKeys } from '../../src/embedded/accepted-keys.ts';
import { CREDITS_MAX, parseRate, SERVED_MODELS } from '../../src/embedded/service-options.ts';

export const definition: CommandDefinition<ServeFlags, ServeDocument> = {
  configure(command) {
    command
      .description(
        'Runs the embedded service, a complete offline implementation of the API, until it is ' +
          'stopped. Prints its address and key when it is ready. --verbose logs every request to stderr.',
      )
      .addHelpText('after', HELP);
    addOptions(command, [...listenOptions(), ...behaviourOptions()]);
  },
  async run(context, { options }) {
    refuseOtherServices(context.globals);
    refuseOpenHost(options);
    await requireModels(context, options);
    const { clock } = context.system;
    const { globals, io, signal } = context;
    const log = createServeLog({ globals, io, now: () => clock.now(), signal });
    const { acceptKeysFile } = options;
    const keys =
      acceptKeysFile === undefined
        ? undefined
        : await readAcceptedKeys(context, acceptKeysFile, log.warn);
    log.hide(secretsOf(keys));
    const settings = { ...serviceOptions(options, keys), report: log.report };
    const host = await serviceHost(context);
    const dataDir = options.dataDir ?? (await dataFolder(context, options));
    const service = await startService({ ...settings, dataDir }, host);
    log.hide([...secretsOf(keys), service.apiKey]);
    try {
      log.report({ type: 'started', baseUrl: service.baseUrl });
      await context.emit(announcement(service, acceptKeysFile));
      if (globals.json !== true && service.pageLink !== undefined) {
        io.notice(`foley: to inspect the service, open ${service.pageLink} (works in one browser)`);
      }
      if (!signal.aborted) await once(signal, 'abort');
    } finally {
      log.report({ type: 'stopping' });
      await service.close();
      log.report({ type: 'stopped' });
    }
    signal.throwIfAborted();
    return {};
  },
};

const HELP = `
A fault rule injects a fault:
  METHOD PATH-GLOB; EFFECT [; retry-after=N] [; times=N|every=N]
refuse the first two requests:
  POST /**; status=503; retry-after=1; times=2
slow down polling:
  GET /api/open/v3/speech/tts/jobs/*; delay=2s
drop the connection during the audio:
  POST /api/open/v3/speech/tts; reset-after=4096
every third job is only partly spoken:
  POST /**/tts/jobs; job=partial_fail; every=3
Effects are status=N, delay=D, reset-after=N, truncate=N (bytes of the body),
job=fail and job=partial_fail. In a path * stays within a segment, ** does not.`;

function refuseOtherServices(globals: GlobalOptions): void {
  const { account, apiKeyFile, baseUrl, realtimeUrl } = globals;
  const others = Object.entries({
    '--account': account,
    '--api-key-file': apiKeyFile,
    '--base-url': baseUrl,
    '--realtime-url': realtimeUrl,
  });
  const [flag] = others.find(([, value]) => value !== undefined) ?? [];
  if (flag === undefined) return;
  throw usageFailure(
    `${flag} does not work with foley serve, which runs the embedded service`,
    'Leave it out.',
  );
}

// The models of added engines are known only when the command runs.
async function requireModels(context: Context, { unavailable = [] }: ServeFlags): Promise<void> {
  const local = unavailable.filter((id) => isLocal(id));
  if (local.length === 0) return;
  const { loadEngineRegistrations, registrationsFile } =
    await import('../../src/engines/registrations.ts');
  const { engines: folder } = await context.paths();
  const engines = await loadEngineRegistrations(context.system.files, registrationsFile(folder));
  const added = engines.flatMap(({ models = [] }) => models.map(({ id }) => id));
  const check = oneOf('--unavailable', [...SERVED_MODELS, ...added]);
  for (const id of local) check(id);
}

function isLocal(modelId: string): boolean {
  return modelId.startsWith('local-');
}

function refuseOpenHost({ acceptKeysFile, host }: ServeFlags): void {
  const isLoopback = /^(localhost|::1|127(\.\d{1,3}){3})$/.test(host);
  if (isLoopback || (acceptKeysFile !== undefined && host !== '')) return;
  throw usageFailure(
    `--host is ${host}; without a keys file the service listens only on loopback addresses`,
    'Leave --host out, use 127.0.0.1 or ::1, or give --accept-keys-file.',
  );
}

// Other commands on this computer keep their account, and do not refill the account of this service.
async function dataFolder(
  context: Context,
  { credits, fault, rateLimit, unavailable }: ServeFlags,
): Promise<string> {
  const { servedData, serviceData } = await context.paths();
  const flags = [credits, fault, rateLimit, unavailable];
  return flags.every((flag) => flag === undefined) ? serviceData : servedData;
}

function serviceOptions(
  flags: ServeFlags,
  keys: readonly AccountKey[] | undefined,
): Partial<OpenServiceOptions> {
  const { credits, maxWaiting, rateLimit } = flags;
  return {
    host: flags.host,
    port: flags.port,
    ...(keys === undefined ? {} : { keys }),
    ...(credits === undefined ? {} : { openingCredits: credits }),
    ...(rateLimit === undefined ? {} : { requestsPerSecond: rateLimit }),
    ...(maxWaiting === undefined ? {} : { maxWaiting }),
    faults: flags.fault ?? [],
    aliases: flags.alias ?? [],
    hasMetrics: flags.metrics === true,
    unavailableModels: flags.unavailable ?? [],
    allowHosts: flags.allowHost ?? [],
    allowOrigins: flags.allowOrigin ?? [],
    verifiesWholeLedger: true,
    // Output may be logged: no link may open the accounts of other users.
    hasPage: keys === undefined,
  };
}

function secretsOf(keys: readonly AccountKey[] = []): readonly string[] {
  return keys.map(({ key }) => key);
}

/** The address and key of the service, which are printed when it is ready. */
export interface ServeDocument {
  readonly baseUrl: string;
  readonly realtimeUrl: string;
  /** Null for keys from a file. */
  readonly apiKey: string | null;
}

// Omits API keys that come from a keys file, because the output may be logged.
function announcement(
  service: RunningService,
  keysFile: string | undefined,
): CommandResult<ServeDocument> {
  const { baseUrl, realtimeUrl } = service;
  const apiKey = keysFile === undefined ? service.apiKey : null;
  return {
    data: { baseUrl, realtimeUrl, apiKey },
    human: ({ paint }) => {
      const key =
        apiKey === null ? `(keys: ${display(keysFile ?? '')})` : `FOLEY_API_KEY=${apiKey}`;
      return `foley service ready: FOLEY_BASE_URL=${paint.bold(baseUrl)} ${key}`;
    },
  };
}

interface ServeFlags {
  readonly host: string;
  readonly port: number;
  readonly dataDir?: string;
  readonly acceptKeysFile?: string;
  readonly credits?: number;
  readonly rateLimit?: number;
  readonly maxWaiting?: number;
  readonly alias?: readonly Alias[];
  readonly metrics?: boolean;
  readonly unavailable?: readonly string[];
  readonly fault?: readonly FaultRule[];
  readonly allowHost?: readonly string[];
  readonly allowOrigin?: readonly string[];
}

function listenOptions(): Option[] {
  return [
    new Option('--host <address>', 'address to listen on').default('127.0.0.1', '127.0.0.1'),
    integerOption('--port <n>', 'port to listen on; 0 selects a free one', {
      minimum: 0,
      maximum: 65_535,
    }).default(4747),
    new Option(
      '--data-dir <dir>',
      'folder for the data of the service (default: a folder in the state folder)',
    ),
    new Option('--accept-keys-file <path>', 'API keys to accept, lines of "key[ account]"'),
    integerOption('--credits <n>', 'credits of every account at the start', {
      minimum: 0,
      maximum: CREDITS_MAX,
    }),
    new Option('--rate-limit <rate>', 'request rate for each account, such as 10/s').argParser(
      (given) => parseRate(given, '--rate-limit'),
    ),
    integerOption(
      '--max-waiting <n>',
      'queue length for speech; further requests get 429 (default: 64)',
      { minimum: 1, maximum: 10_000 },
    ),
  ];
}

function behaviourOptions(): Option[] {
  const hosts = 'host to accept besides loopback, and to fetch media from';
  const known = oneOf('--unavailable', SERVED_MODELS);
  const parse = (given: string): string => (isLocal(given) ? given : known(given));
  const models = Object.assign(parse, { words: SERVED_MODELS });
  return [
    new Option('--metrics', 'serve metrics for Prometheus at /metrics'),
    listOption(
      '--alias <name=id>',
      'other name of a model or voice, for OpenAI clients',
      parseAlias,
    ),
    listOption('--unavailable <model>', 'model to report as unavailable', models),
    listOption('--fault <rule>', 'inject a fault, such as "POST /**; status=503"', parseFaultRule),
    listOption('--allow-host <name>', hosts, parseHostName),
    listOption('--allow-origin <url>', 'web origin to accept', parseOrigin),
  ];
}

function parseAlias(given: string): Alias {
  const [, name, id] = /^([^\s=]+)=(\S+)$/.exec(given) ?? [];
  if (name !== undefined && id !== undefined) return { name, id };
  throw usageFailure(
    `--alias is "${given}"; it takes a name and the id of a model or voice, such as tts-1=vendor-s1`,
  );
}

function parseHostName(given: string): string {
  if (isIPv6(given)) return `[${given}]`;
  if (/^(\[[\da-f:.]+\]|[\w.-]+)$/i.test(given)) return given;
  throw usageFailure(
    `--allow-host is "${given}"; it takes a host name or IP address, without scheme, port and path`,
  );
}

function parseOrigin(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:';
  if (isWeb && url.href === `${url.origin}/`) return url.origin;
  throw usageFailure(
    `--allow-origin is "${given}"; it takes an origin such as https://studio.example, without a path`,
  );
}

/**
 * Reads the file of `--accept-keys-file`, which lists API keys; `-` is stdin. Warns if other users can access the file.
 * @throws Failure of kind `usage` if the file cannot be read or is invalid
 */
async function readAcceptedKeys(
  context: Context,
  file: string,
  warn: (message: string) => void,
): Promise<readonly AccountKey[]> {
  const name = `--accept-keys-file ${display(file)}`;
  const bytes = await readInput(context, file, name);
  const mode = file === '-' ? undefined : await sharedPermissions(context.system, file);
  if (mode !== undefined) {
    warn(
      `${display(file)} contains API keys and is readable by others (${octal(mode)}); run chmod 600 on it`,
    );
  }
  return parseAcceptedKeys(bytes.toString('latin1'), name);
}
