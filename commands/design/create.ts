import { Option } from 'commander';
import type { DesignOrder } from '../../src/api/voice-designs.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import type { IdFlags } from '../request-flags.ts';
import { dryRunOption, idOptions } from '../request-flags.ts';
import { filled } from '../speech-flags.ts';
import { each } from '../voices/voice-flags.ts';
import { describeDesign, makeDesign } from './make-design.ts';

export interface DesignCreateFlags extends IdFlags {
  readonly previewText: string;
  readonly provider?: readonly string[];
  readonly outputDir?: string;
}

/** `foley design create PROMPT` (contract, section 8; spec section 4.6). */
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
  $ foley design create "An old man, calm and slow" \\
      --preview-text "Good evening." --output-dir candidates`;
