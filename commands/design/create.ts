import { Option } from 'commander';
import type { DesignOrder } from '../../src/api/resources/designs.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import { dryRunOption, idOptions } from '../../src/cli/flags/request.ts';
import { filled } from '../../src/cli/flags/speech.ts';
import { each } from '../../src/cli/flags/voices.ts';
import { describeDesign, makeDesign } from './make-design.ts';
import type { DesignCreateFlags } from './make-design.ts';

/** `foley design create PROMPT` (docs/api/voice-design.md). */
export const designCreate: CommandDefinition<DesignCreateFlags> = {
  freeText: true,
  configure(command) {
    command
      .description(
        'Has candidates made for a voice that is described in words, and lists them. They are ' +
          'temporary: listen to them, and keep one with `foley design save`.',
      )
      .argument('<prompt>', 'what the voice is to be like')
      .addOption(
        new Option('--preview-text <text>', 'what the candidates say')
          .argParser(filled('--preview-text'))
          .makeOptionMandatory(),
      )
      .addOption(
        new Option('--provider <name>', 'engine family to take (may be repeated)').argParser(
          each(filled('--provider')),
        ),
      )
      .addOption(
        new Option(
          '--output-dir <folder>',
          'save the preview of every candidate there, as <candidate>.<ext>',
        ).argParser(filled('--output-dir')),
      );
    const ids = idOptions('key under which the same design is not billed again');
    for (const option of [...ids, dryRunOption()]) command.addOption(option);
    command.addHelpText('after', EXAMPLES);
  },
  async run(context, { args: [given = ''], options }) {
    const { previewText, provider: providers } = options;
    const order: DesignOrder = {
      prompt: filled('PROMPT')(given),
      previewText,
      ...(providers === undefined ? {} : { providers }),
    };
    if (options.dryRun === true) return describeDesign(context, order, options);
    return makeDesign(context, order, options);
  },
};

const EXAMPLES = `
Examples:
  $ foley design create "An old man, deep and slow" \\
      --preview-text "Good evening." --output-dir candidates`;
