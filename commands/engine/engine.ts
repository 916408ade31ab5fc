import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import { engineDeps, engineDocument, languagesOf } from '../../src/cli/engine-list.ts';
import type { EngineCommand, EngineRegistration } from '../../src/contract/engine.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { counted } from '../../src/text/display.ts';
import type { Column } from '../../src/cli/render/table.ts';

/** `foley engine add`. */
export const engineAdd: CommandDefinition = {
  configure(command) {
    command
      .description(
        'Gives the embedded service the voices of another speech engine, once that has shown that it ' +
          'can speak. By its name alone foley installs espeak-ng, with npm: 18 languages, under the ' +
          'GPL, run as a program of its own. With a command it adds any program that keeps the ' +
          'protocol of docs/engines.md; it is run in the folder where you are now, without a shell. ' +
          'An engine of the same name is replaced.',
      )
      .argument('<name>', 'name of the engine: a to z, 0 to 9 and -')
      .argument('[command...]', 'program and its arguments, after --')
      .addHelpText('after', EXAMPLES);
  },
  async run(context, { args: [name = '', command, ...args] }) {
    const engine =
      command === undefined
        ? await install(context, name)
        : await add(context, { name, command, args, cwd: context.cwd() });
    context.io.notice(
      `added ${engine.name}: ${counted(engine.voices.length, 'voice')} in ${languagesOf(engine)}`,
    );
    return { data: engineDocument(engine) };
  },
};

const EXAMPLES = `
Examples:
  $ foley engine add espeak-ng
  $ foley engine add mine -- python3 engine.py --model de.onnx`;

async function add(context: Context, command: EngineCommand): Promise<EngineRegistration> {
  const { addEngine } = await import('../../src/engines/engines.ts');
  return addEngine(command, await engineDeps(context));
}

async function install(context: Context, name: string): Promise<EngineRegistration> {
  const { ADAPTER_FOLDER, ESPEAK_NG, installEspeakNg } =
    await import('../../src/engines/install-espeak-ng.ts');
  if (name !== ESPEAK_NG) {
    throw usageFailure(
      `foley cannot install "${name}"; the engine that it can install is ${ESPEAK_NG}`,
      'For a program of your own say which: `foley engine add NAME -- PROGRAM`.',
    );
  }
  const { installPackages } = await import('../../src/engines/install-espeak-ng.ts');
  context.io.notice(
    'foley: npm installs espeak-ng, which is free software under the GPL, version 3',
  );
  return installEspeakNg({
    ...(await engineDeps(context)),
    adapterFolder: ADAPTER_FOLDER,
    installPackages: (folder) => installPackages(folder, context),
  });
}

/** `foley engine list`. */
export const engineList: CommandDefinition = {
  configure(command) {
    command.description('Lists the engines that were added to the embedded service.');
  },
  async run(context) {
    const { loadEngineRegistrations, registrationsFile } =
      await import('../../src/engines/registrations.ts');
    const { engines: folder } = await context.paths();
    const engines = await loadEngineRegistrations(context.files, registrationsFile(folder));
    const { tableOrNotice } = await import('../../src/cli/render/table.ts');
    return {
      data: { items: engines.map((engine) => engineDocument(engine)), total: engines.length },
      ...tableOrNotice(engines, COLUMNS, NONE),
    };
  },
};

const NONE = 'No engine was added. `foley engine add espeak-ng` adds 18 languages.';

const COLUMNS: readonly Column<EngineRegistration>[] = [
  { title: 'NAME', value: ({ name }) => name, whole: true },
  { title: 'VERSION', value: ({ version }) => version },
  { title: 'LICENSE', value: ({ license }) => license },
  { title: 'VOICES', value: ({ voices }) => String(voices.length) },
  { title: 'LANGUAGES', value: languagesOf },
  { title: 'COMMAND', value: ({ command, args }) => [command, ...args].join(' ') },
];

/** `foley engine remove`. */
export const engineRemove: CommandDefinition = {
  configure(command) {
    command
      .description('Forgets an engine that was added, and deletes it where foley installed it.')
      .argument('<name>', 'name of the engine');
  },
  async run(context, { args: [name = ''] }) {
    const { removeEngine } = await import('../../src/engines/engines.ts');
    const { engine, deleted } = await removeEngine(name, await engineDeps(context));
    context.io.notice(`removed ${[name, ...deleted].join(' and ')}`);
    return { data: { removed: engineDocument(engine), deleted } };
  },
};
