import { getVoice, deleteVoice } from '../../src/api/resources/voices.ts';
import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import { renderFields } from '../../src/cli/render/table.ts';
import { Option } from 'commander';
import { filled } from '../../src/cli/flags/speech.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { display } from '../../src/text/display.ts';

/** `foley voices get ID` (docs/api/speech.md#v3). */
export const voicesGet: CommandDefinition = {
  configure(command) {
    command.description('Shows one voice.').argument('<id>', 'voice id');
  },
  async run(context, { args: [id = ''] }) {
    const { client } = await context.connect();
    const { value, raw } = await getVoice(client, id, context.signal);
    return {
      data: raw,
      human: (style) =>
        renderFields(
          [
            ['id', value.voiceId],
            ['name', value.name],
            ['kind', value.isPersonal ? 'personal' : 'public'],
            ['language', value.primaryLanguage],
            ['languages', value.languages.join(', ')],
            ['models', value.modelIds.join(', ')],
          ],
          style,
        ),
    };
  },
};

interface VoicesDeleteFlags {
  readonly yes?: true;
}

/** `foley voices delete ID` (docs/api/voices.md). */
export const voicesDelete: CommandDefinition<VoicesDeleteFlags> = {
  configure(command) {
    command
      .description(
        'Deletes one of your own voices permanently. Asks on a terminal; elsewhere requires --yes.',
      )
      .argument('<id>', 'voice id')
      .addOption(new Option('--yes', 'delete without asking'))
      .addHelpText('after', EXAMPLES);
  },
  async run(context, { args: [given = ''], options: { yes } }) {
    const id = filled('ID')(given);
    if (yes !== true) await ask(context, id);
    const { client } = await context.connect();
    const data = await deleteVoice(client, id, context.signal);
    context.io.notice(`deleted the voice ${id}`);
    return { data };
  },
};

const EXAMPLES = `
Examples:
  $ foley voices delete "$(foley voices create Ada ada.wav)" --yes`;

/** @throws Failure (usage) without a terminal, or when the user declines */
async function ask(context: Context, id: string): Promise<void> {
  const { globals, io } = context;
  const { canAsk, confirm } = await import('../../src/cli/prompt.ts');
  if (!globals.input || !canAsk(io)) {
    throw usageFailure(
      globals.input
        ? 'cannot ask for confirmation without a terminal'
        : '--no-input forbids asking for confirmation',
      'Add --yes to delete the voice without asking.',
    );
  }
  const { client } = await context.connect();
  const { name } = (await getVoice(client, id, context.signal)).value;
  if (await confirm(display(`Delete the voice "${name}" (${id}) permanently?`), context)) return;
  throw usageFailure('cancelled: the voice was not deleted');
}
