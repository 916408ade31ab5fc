import type { DesignChoice } from '../../src/api/resources/designs.ts';
import { saveDesignRequest } from '../../src/api/resources/designs.ts';
import type { CommandDefinition, Context } from '../../src/cli/command.ts';
import type { DryRunFlag, IdFlags } from '../shared/flags/speech.ts';
import { dryRunOption, idOptions } from '../shared/flags/speech.ts';
import { addOptions, filled, textOption } from '../../src/cli/flags/values.ts';
import type { VisibilityFlag } from '../shared/flags/voices.ts';
import { visibilityOption, madeVoiceNotice, madeVoiceResult } from '../shared/flags/voices.ts';
import { withJournal } from '../shared/journal.ts';
import { startProgress } from '../../src/cli/render/progress.ts';
import { LANGUAGE_MAX_CHARACTERS } from '../../src/contract/limits.ts';
import type { CommandResult, DryRunDocument } from '../../src/cli/render/result.ts';
import { dryRunResult } from '../../src/cli/render/result.ts';
import { designOptions } from './create.ts';
import type { MadeVoiceDocument } from '../shared/flags/voices.ts';

interface DesignSaveFlags extends VisibilityFlag, IdFlags, DryRunFlag {
  readonly name: string;
  readonly language?: string;
}

/** Defines the command `foley design save DESIGN CANDIDATE --name NAME` (docs/api/voice-design.md). */
export const definition: CommandDefinition<DesignSaveFlags, MadeVoiceDocument | DryRunDocument> = {
  configure(command) {
    command
      .description(
        'Saves a candidate as a permanent voice, and prints the voice id for `foley tts -v`.',
      )
      .argument('<design>', 'design id')
      .argument('<candidate>', 'candidate id')
      .addHelpText('after', EXAMPLES);
    const language = "language of the voice (default: the design's)";
    addOptions(command, [
      textOption('--name <name>', 'name of the voice (required)').makeOptionMandatory(),
      visibilityOption(),
      textOption('--language <code>', language, LANGUAGE_MAX_CHARACTERS),
      ...idOptions('key that makes a repeated request save only once'),
      dryRunOption(),
    ]);
  },
  async run(context, { args: [design = '', candidate = ''], options }) {
    const { language, name, visibility } = options;
    const choice: DesignChoice = {
      designId: filled('DESIGN')(design),
      candidateId: filled('CANDIDATE')(candidate),
      name,
      visibility,
      language,
    };
    if (options.dryRun !== true) return save(context, choice, options);
    const { client } = await context.connect();
    return dryRunResult(
      client.describe(saveDesignRequest(choice, designOptions(context, options))),
    );
  },
};

const EXAMPLES = `
Examples:
  $ foley design create "A young woman" --preview-text "Hello." \\
      | awk 'NR == 2 { print $1, $2 }' | xargs foley design save --name Ada`;

async function save(
  context: Context,
  choice: DesignChoice,
  flags: IdFlags,
): Promise<CommandResult<MadeVoiceDocument>> {
  const { client, target } = await context.connect();
  const { saveDesign } = await import('../../src/voices/create.ts');
  const progress = startProgress(context.io, context.system.clock, 'saving the voice');
  return withJournal(
    context,
    () => progress.stop(),
    async (tools) => {
      const options = designOptions(context, flags);
      const voice = await saveDesign(choice, { client, options, ...tools });
      tools.notice(madeVoiceNotice(voice, choice.name));
      return madeVoiceResult(voice, target);
    },
  );
}
