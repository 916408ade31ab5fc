import { Option } from 'commander';
import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { counted } from '../../src/text/display.ts';
import { formatBytes } from '../shared/engine-list.ts';
import type { RemovedAudio } from '../shared/journal.ts';
import { reuseFolder } from '../shared/journal.ts';

interface ClearFlags {
  readonly yes?: true;
}

/** Defines the command `foley reuse clear`. */
export const definition: CommandDefinition<ClearFlags, RemovedAudio> = {
  configure(command) {
    command
      .description(
        'Removes all audio that --reuse stored. Output files stay. Asks on a terminal; elsewhere requires --yes.',
      )
      .addOption(new Option('--yes', 'remove without asking'));
  },
  async run(context, { options: { yes } }) {
    const { clearFolder } = await import('../../src/paid/reuse/reuse-folder.ts');
    if (yes !== true) await ask(context);
    const { folder } = await reuseFolder(context);
    const { bytes, files } = await clearFolder(context.system, folder);
    context.io.notice(`removed ${counted(files, 'file')} (${formatBytes(bytes)})`);
    return { data: { removed: files, bytes } };
  },
};

async function ask(context: Context): Promise<void> {
  const { confirm, requireAnswers } = await import('../../src/cli/prompt.ts');
  requireAnswers(context, 'remove the stored audio');
  if (await confirm('Remove all audio that --reuse stored?', context)) return;
  throw usageFailure('cancelled: the stored audio was not removed');
}
