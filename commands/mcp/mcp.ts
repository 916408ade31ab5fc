import { Writable } from 'node:stream';
import { Option } from 'commander';
import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import { addOptions, filled, numberOption } from '../../src/cli/flags/values.ts';
import { reasonOf } from '../../src/durable/file-failures.ts';
import { usageFailure } from '../../src/errors/failure.ts';

interface McpFlags {
  readonly dir: string;
  readonly maxCredits?: number;
  readonly creditRate?: number;
  readonly allowOverwrite?: true;
}

/** Defines the command `foley mcp`. */
export const definition: CommandDefinition<McpFlags> = {
  configure(command) {
    command.description(
      'Serves tools to AI agents over the Model Context Protocol, on stdin and stdout: speech, scripts, captions, ' +
        'alignment, voices, models, jobs and recovery. All files are in one folder.',
    );
    addOptions(command, [
      new Option('--dir <dir>', 'folder for all files of the tools; created if it is missing')
        .argParser(filled('--dir'))
        .default('.', '.'),
      numberOption('--max-credits <n>', 'refuse calls that may cost more credits in total', {
        minimum: 0,
      }),
      numberOption(
        '--credit-rate <n>',
        'credits per character for --max-credits (default: from earlier charges)',
        { minimum: 0 },
      ),
      new Option('--allow-overwrite', 'let tools replace files'),
    ]);
    command.addHelpText('after', EXAMPLES);
  },
  async run(context, { options }) {
    const { clock, files } = context.system;
    const { io, signal } = context;
    const { allowOverwrite, creditRate, dir, maxCredits } = options;
    if (creditRate !== undefined && maxCredits === undefined) {
      throw usageFailure('--credit-rate requires --max-credits');
    }
    const folder = await openFolder(dir, files);
    const [{ serveMcp }, { readTree }, { readOutputSchemas }] = await Promise.all([
      import('./serve.ts'),
      import('../../src/cli/described-command.ts'),
      import('../../src/cli/output-schema.ts'),
    ]);
    await serveMcp({
      tree: await readTree(),
      schemas: await readOutputSchemas(),
      folder,
      mayOverwrite: allowOverwrite === true,
      files,
      maxCredits,
      creditRate,
      globalFlags: globalFlags(context),
      clock,
      stdin: io.stdin(),
      stdout: new Writable({
        write(chunk: Uint8Array, _encoding, done) {
          void writeTo(io, chunk, done);
        },
      }),
      warn: (sentence) => io.warn(sentence),
      signal,
    });
    signal.throwIfAborted();
    return {};
  },
};

async function openFolder(dir: string, files: Context['system']['files']): Promise<string> {
  try {
    await files.mkdir(dir, { recursive: true });
    return await files.realpath(dir);
  } catch (error) {
    throw usageFailure(`--dir ${dir} cannot be opened: ${reasonOf(error, dir)}`);
  }
}

async function writeTo(
  io: Context['io'],
  chunk: Uint8Array,
  done: (error?: Error) => void,
): Promise<void> {
  try {
    await io.writeOut(chunk);
    done();
  } catch (error) {
    done(error instanceof Error ? error : new Error(String(error)));
  }
}

const EXAMPLES = `
Examples:
  $ foley mcp --dir ~/audio
  $ foley mcp --dir ~/audio --max-credits 1000 --credit-rate 1`;

// The flags that choose the service and the account. A key on stdin would be read from the client.
function globalFlags({ globals }: Context): readonly string[] {
  const { account, apiKeyFile, baseUrl, local, maxRetries, realtimeUrl } = globals;
  if (apiKeyFile === '-') {
    throw usageFailure(
      '--api-key-file is "-", but stdin carries the messages of the client',
      'Give the key in a file, or in FOLEY_API_KEY.',
    );
  }
  const given = {
    account,
    'api-key-file': apiKeyFile,
    'base-url': baseUrl,
    'max-retries': maxRetries,
    'realtime-url': realtimeUrl,
  };
  return [
    ...(local === true ? ['--local'] : []),
    ...Object.entries(given).flatMap(([name, value]) =>
      value === undefined ? [] : [`--${name}=${value}`],
    ),
  ];
}
