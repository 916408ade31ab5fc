import { Option } from 'commander';
import type { DesignChoice } from '../../src/api/voice-designs.ts';
import { saveDesignRequest } from '../../src/api/voice-designs.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import type { Context } from '../../src/cli/context.ts';
import { startProgress } from '../../src/cli/progress.ts';
import type { CommandResult } from '../../src/cli/result.ts';
import { openJournal } from '../open-journal.ts';
import type { IdFlags } from '../request-flags.ts';
import { dryRunOption, idOptions } from '../request-flags.ts';
import { filled } from '../speech-flags.ts';
import { dryRunResult } from '../tts-words.ts';
import type { VisibilityFlag } from '../voices/voice-flags.ts';
import { languageCode, visibilityOption } from '../voices/voice-flags.ts';
import { madeVoiceNotice, madeVoiceResult } from '../voices/voice-words.ts';
import { designOptions } from './make-design.ts';

interface DesignSaveFlags extends VisibilityFlag, IdFlags {
  readonly name: string;
  readonly language?: string;
}

/** `foley design save DESIGN CANDIDATE --name NAME` (contract, section 8; spec section 4.6). */
export const designSave: CommandDefinition<DesignSaveFlags> = {
  configure(command) {
    command
      .description(
        'Makes a permanent voice of a candidate, and prints its id, with which `foley tts -v` speaks.',
      )
      .argument('<design>', 'design id')
      .argument('<candidate>', 'candidate id')
      .addOption(
        new Option('--name <name>', 'name of the voice')
          .argParser(filled('--name'))
          .makeOptionMandatory(),
      )
      .addOption(visibilityOption())
      .addOption(
        new Option(
          '--language <code>',
          'language of the voice (default: that of the design)',
        ).argParser(languageCode('--language')),
      );
    const ids = idOptions('key under which the same candidate is saved once only');
    for (const option of [...ids, dryRunOption()]) command.addOption(option);
    command.addHelpText('after', EXAMPLES);
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
  $ foley design create "A calm woman" --preview-text "Hello." \\
      | awk 'NR == 2 { print $1, $2 }' | xargs foley design save --name Calm`;

async function save(
  context: Context,
  choice: DesignChoice,
  flags: IdFlags,
): Promise<CommandResult> {
  const { clock, io } = context;
  const { client, target } = await context.connect();
  const { journal } = await openJournal(context);
  const { saveDesign } = await import('../../src/voices/design-voice.ts');
  const progress = startProgress(io, clock, 'saving the voice');
  const notice = (line: string): void => {
    progress.stop();
    io.notice(line);
  };
  try {
    const options = designOptions(context, flags);
    const voice = await saveDesign(choice, { client, journal, options, notice });
    progress.stop();
    io.notice(madeVoiceNotice(voice, choice.name));
    return madeVoiceResult(voice, target);
  } finally {
    progress.stop();
    await journal.close();
  }
}
