import { Option } from 'commander';
import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import { engineDeps, engineDocument, formatBytes, languagesOf } from '../shared/engine-list.ts';
import {
  addOptions,
  filled,
  integerOption,
  listOption,
  textOption,
} from '../../src/cli/flags/values.ts';
import { ENGINE_REQUESTS_MAX } from '../../src/contract/engine.ts';
import { startProgress } from '../../src/cli/render/progress.ts';
import type { Progress } from '../../src/cli/render/progress.ts';
import type { EngineCommand, EngineRegistration } from '../../src/contract/engine.ts';
import type { NaturalEngineDeps } from '../../src/engines/add-natural-engine.ts';
import type { ModelFile } from '../../src/engines/download-models.ts';
import type { OptionalPackages } from '../../src/engines/install.ts';
import type {
  EnginePart,
  NaturalEngine,
  NaturalEngineName,
} from '../../src/engines/natural-engines.ts';
import { Failure, usageFailure } from '../../src/errors/failure.ts';
import { counted } from '../../src/text/display.ts';
import type { EngineDocument } from '../shared/engine-list.ts';
import { addServers, requireUrl, serverUrl } from './servers.ts';

interface EngineAddFlags {
  readonly voice?: readonly string[];
  readonly from?: string;
  readonly yes?: true;
  readonly url?: readonly string[];
  readonly model?: string;
  readonly voicesFrom?: string;
  readonly keyFile?: string;
  readonly maxConcurrent?: number;
  readonly language?: string;
}

/** Defines the command `foley engine add NAME` (docs/engines.md). */
export const definition: CommandDefinition<EngineAddFlags, EngineDocument> = {
  configure(command) {
    command
      .description(
        'Adds the voices of a speech engine to the embedded service, after a test that it speaks. ' +
          '`hibari`, `kokoro` and `piper` are natural voices: foley shows what it downloads, with sizes and ' +
          'licenses, asks, and resumes an interrupted download. `espeak-ng` speaks 18 languages, under ' +
          'the GPL. npm installs the programs. With a command, foley adds any program that implements ' +
          'the protocol of docs/engines.md; it runs in the current folder, without a shell. With --url, ' +
          'foley adds servers that speak at /v1/audio/speech as OpenAI does, such as Kokoro-FastAPI, ' +
          'LocalAI or vLLM: a sentence goes to the server with the least to do. Replaces an engine of the ' +
          'same name.',
      )
      .argument(
        '<name>',
        'hibari, kokoro, piper, espeak-ng, or a name for your own program: a to z, 0 to 9 and -',
      )
      .argument('[command...]', 'program and its arguments, after --')
      .addHelpText('after', EXAMPLES);
    addOptions(command, [
      listOption('--voice <name>', 'hibari, kokoro, piper, --url: voice to add', filled('--voice')),
      textOption(
        '--from <place>',
        'hibari, kokoro, piper: folder or URL of a mirror with the files',
      ),
      new Option('--yes', 'accept download and licenses without asking'),
      listOption('--url <url>', 'server that speaks; give several to share the work', serverUrl),
      textOption('--model <name>', 'with --url: model of the servers (default: tts-1)'),
      textOption('--voices-from <path>', 'with --url: path of the list of voices on the server'),
      textOption('--key-file <path>', 'with --url: file with the key of the servers'),
      integerOption(
        '--max-concurrent <count>',
        'with --url: requests at once to one server (default: 1)',
        {
          minimum: 1,
          maximum: ENGINE_REQUESTS_MAX,
        },
      ),
      textOption(
        '--language <code>',
        'with --url: language of voices that name none (default: en)',
      ),
    ]);
  },
  async run(context, { args: [name = '', command, ...args], options }) {
    const { isNaturalEngine } = await import('../../src/engines/natural-engines.ts');
    const isNatural = isNaturalEngine(name);
    requireUrl(options, command);
    if ((command !== undefined || options.url !== undefined) && isNatural) {
      throw usageFailure(
        `the name ${name} is reserved for an engine that foley installs`,
        `Choose another name, such as my-${name}, or run \`foley engine add ${name}\`.`,
      );
    }
    if (isNatural) {
      const data = await installNatural(context, name, options);
      await endOldProcesses(context, name);
      return { data };
    }
    refuseNaturalFlags(options);
    const engine =
      options.url !== undefined
        ? await addServers(context, name, options)
        : command === undefined
          ? await installEspeak(context, name)
          : await add(context, { name, command, args, cwd: context.cwd() });
    await endOldProcesses(context, name);
    context.io.notice(describeAdded(engine));
    return { data: engineDocument(engine) };
  },
};

const EXAMPLES = `
Examples:
  $ foley engine add kokoro
  $ foley engine add hibari --voice fenrir
  $ foley engine add piper --voice en_US-joe-medium --yes
  $ foley engine add espeak-ng
  $ foley engine add gpu --url http://10.0.0.2:8880 --url http://10.0.0.3:8880
  $ foley engine add mine -- python3 engine.py --model de.onnx`;

// A process of the engine that had this name finishes its running requests.
async function endOldProcesses(context: Context, name: string): Promise<void> {
  const { stopEngines } = await import('../../src/engines/inspector.ts');
  await stopEngines((await context.paths()).runtime, name, false);
}

function describeAdded(engine: EngineRegistration): string {
  return `added ${engine.name}: ${counted(engine.voices.length, 'voice')} in ${languagesOf(engine)}`;
}

function refuseNaturalFlags({ from, url, voice }: EngineAddFlags): void {
  const isVoice = voice !== undefined && url === undefined;
  const flag = isVoice ? '--voice' : from === undefined ? undefined : '--from';
  if (flag !== undefined)
    throw usageFailure(`${flag} works with the engines hibari, kokoro and piper only`);
}

async function add(context: Context, command: EngineCommand): Promise<EngineRegistration> {
  const { addEngine } = await import('../../src/engines/engines.ts');
  return addEngine(command, await engineDeps(context));
}

async function installEspeak(context: Context, name: string): Promise<EngineRegistration> {
  const { ADAPTERS_FOLDER, ESPEAK_NG, installEspeakNg, installPackages } =
    await import('../../src/engines/install.ts');
  if (name !== ESPEAK_NG) {
    throw usageFailure(
      `foley cannot install "${name}"; it can install hibari, kokoro, piper and ${ESPEAK_NG}`,
      'Add your own program with `foley engine add NAME -- PROGRAM`.',
    );
  }
  context.io.notice('foley: installing espeak-ng with npm (free software, GPL version 3)');
  return installEspeakNg({
    ...(await engineDeps(context)),
    adapterFolder: ADAPTERS_FOLDER,
    installPackages: (folder, optional) => installPackages(folder, optional, context),
  });
}

async function installNatural(
  context: Context,
  name: NaturalEngineName,
  flags: EngineAddFlags,
): Promise<EngineDocument> {
  const { NATURAL_ENGINES } = await import('../../src/engines/natural-engines.ts');
  const { deps, stop } = await naturalEngineDeps(context, flags.from);
  let added: EngineRegistration;
  try {
    added = await addWithConsent(context, NATURAL_ENGINES[name], flags, deps);
  } catch (error) {
    if (context.signal.aborted)
      context.io.notice('foley: stopped; run the command again to resume');
    throw error;
  } finally {
    await stop();
  }
  const [wanted = NATURAL_ENGINES[name].voice] = flags.voice ?? [];
  // A Piper voice with several speakers has an id for each, such as `en_US-libritts-high+p3922`.
  const ids = added.voices.map(({ id }) => id);
  const voice = ids.find((id) => id === wanted || id.startsWith(`${wanted}+`)) ?? ids[0] ?? wanted;
  context.io.notice(describeAdded(added));
  context.io.notice(`Listen: foley tts "Hello from foley" -v ${voice} --play`);
  context.io.notice(`Make it the default voice: foley config set voice ${voice}`);
  return engineDocument(added);
}

async function addWithConsent(
  context: Context,
  { name, parts: partsOf }: NaturalEngine,
  { voice = [], yes }: EngineAddFlags,
  deps: NaturalEngineDeps,
): Promise<EngineRegistration> {
  const [adding, { missingFiles, readSmallFile }, { findInstallation }, { optionalPackages }] =
    await Promise.all([
      import('../../src/engines/add-natural-engine.ts'),
      import('../../src/engines/download-models.ts'),
      import('../../src/engines/install.ts'),
      import('../../src/engines/natural-engines.ts'),
    ]);
  await adding.requireFreeName(name, deps);
  const stored = await adding.storedVoices(name, deps);
  const parts = await partsOf(voice, stored, (file) => readSmallFile(file, deps));
  const files = parts.flatMap((part) => part.files);
  const isInstalled = (await findInstallation(name, optionalPackages(parts), deps)) !== undefined;
  const offer = { name, parts, isInstalled, missing: new Set(await missingFiles(files, deps)) };
  if (!isInstalled || offer.missing.size > 0) {
    if (yes === true) describeOffer(offer).forEach((line) => context.io.notice(line));
    else await requireConsent(context, offer);
  }
  return adding.addNaturalEngine(name, parts, deps);
}

interface Offer {
  readonly name: string;
  readonly parts: readonly EnginePart[];
  readonly missing: ReadonlySet<ModelFile>;
  readonly isInstalled: boolean;
}

async function requireConsent(context: Context, offer: Offer): Promise<void> {
  const { globals, io } = context;
  const { canAsk, confirm } = await import('../../src/cli/prompt.ts');
  const mayAsk = globals.input && canAsk(io);
  // With --json and without a question, the error contains the parts.
  if (mayAsk || globals.json !== true) for (const line of describeOffer(offer)) io.warn(line);
  if (!mayAsk) {
    throw new Failure(
      globals.input
        ? 'cannot ask for consent without a terminal'
        : '--no-input forbids asking for consent',
      {
        code: 'usage',
        exit: 'usage',
        hint: 'Nothing was downloaded. Add --yes to accept these parts and their licenses.',
        details: {
          parts: offer.parts.map(({ bytes, license, source, what }) => ({
            what,
            bytes,
            license,
            source,
          })),
        },
      },
    );
  }
  if (await confirm('Download and install this?', context)) return;
  throw usageFailure('cancelled: nothing was downloaded');
}

function describeOffer({ isInstalled, missing, name, parts }: Offer): readonly string[] {
  return [
    `foley engine add ${name} installs these parts`,
    ...parts.map(({ bytes, files, license, source, what }) => {
      const isStored = files.length === 0 ? isInstalled : !files.some((file) => missing.has(file));
      const size = formatBytes(bytes) + (isStored ? ', stored already' : '');
      return `${what} (${size}): license ${license}; ${source}`;
    }),
  ];
}

async function naturalEngineDeps(
  context: Context,
  from: string | undefined,
): Promise<{ readonly deps: NaturalEngineDeps; readonly stop: () => Promise<void> }> {
  const [{ ADAPTERS_FOLDER, installPackages }, { modelDeps }] = await Promise.all([
    import('../../src/engines/install.ts'),
    import('../shared/engine-list.ts'),
  ]);
  const { clock } = context.system;
  const { io } = context;
  let progress: Progress | undefined;
  const show = (label: string, bytes?: number): void => {
    progress?.stop();
    progress = startProgress(io, clock, label, bytes === undefined ? undefined : { bytes });
  };
  const { closeClient, ...models } = await modelDeps(context, from);
  const deps = {
    ...(await engineDeps(context)),
    ...models,
    adapterFolder: ADAPTERS_FOLDER,
    installPackages: (folder: string, optional: OptionalPackages) =>
      installPackages(folder, optional, context),
    onDownload: (bytes: number) => bytes > 0 && show('downloading', bytes),
    onProgress: (bytes: number) => progress?.update('downloading', bytes),
    onRecord: (file: string, sum: string) =>
      io.notice(`foley: recorded the SHA-256 of ${file}: ${sum}`),
    onInstall: () => show('installing'),
  };
  const stop = async (): Promise<void> => {
    progress?.stop();
    await closeClient();
  };
  return { deps, stop };
}
