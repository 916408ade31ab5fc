import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import { engineDeps, engineDocument, languagesOf } from '../../src/cli/engine-list.ts';
import type { EngineCommand, EngineRegistration } from '../../src/contract/engine.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { counted } from '../../src/text/display.ts';

export const engineAdd: CommandDefinition = {
  configure(command) {
    command
      .description(
        'Adds the voices of a speech engine to the embedded service, after a test that it speaks. ' +
          '`foley engine add espeak-ng` installs espeak-ng with npm: 18 languages, under the GPL, as a ' +
          'separate program. With a command, foley adds any program that implements the protocol of ' +
          'docs/engines.md; it runs in the current folder, without a shell. Replaces an engine of the ' +
          'same name.',
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
  const { ADAPTER_FOLDER, ESPEAK_NG, installEspeakNg, installPackages } =
    await import('../../src/engines/install-espeak-ng.ts');
  if (name !== ESPEAK_NG) {
    throw usageFailure(
      `foley cannot install "${name}"; it can install ${ESPEAK_NG}`,
      'Add your own program with `foley engine add NAME -- PROGRAM`.',
    );
  }
  context.io.notice('foley: installing espeak-ng with npm (free software, GPL version 3)');
  return installEspeakNg({
    ...(await engineDeps(context)),
    adapterFolder: ADAPTER_FOLDER,
    installPackages: (folder) => installPackages(folder, context),
  });
}
