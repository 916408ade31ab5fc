import { Option } from 'commander';
import { deleteVoice, getVoice } from '../../src/api/resources/voices.ts';
import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import { filled } from '../../src/cli/flags/values.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { display } from '../../src/text/display.ts';

interface VoicesDeleteFlags {
  readonly yes?: true;
}

/** Defines the command `foley voices delete ID` (docs/api/voices.md). */
export const definition: CommandDefinition<VoicesDeleteFlags> = {
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

async function ask(context: Context, id: string): Promise<void> {
  const { confirm, requireAnswers } = await import('../../src/cli/prompt.ts');
  requireAnswers(context, 'delete the voice');
  const { client } = await context.connect();
  const { name } = (await getVoice(client, id, context.signal)).value;
  if (await confirm(display(`Delete the voice "${name}" (${id}) permanently?`), context)) return;
  throw usageFailure('cancelled: the voice was not deleted');
}
