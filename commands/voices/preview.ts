import { Option } from 'commander';
import type { CommandDefinition } from '../../src/cli/command.ts';
import { usageFailure } from '../../src/errors/failure.ts';
import { idOptions } from '../request-flags.ts';
import { filled, speechFormat } from '../speech-flags.ts';
import type { PreviewFlags } from './preview-voices.ts';
import { previewVoices } from './preview-voices.ts';

const TEXT = 'Hello. This is how I sound when I read a line to you.';

/** `foley voices preview ID…` (contract, section 8). */
export const voicesPreview: CommandDefinition<PreviewFlags> = {
  configure(command) {
    command
      .description(
        'Speaks a line with each of the voices, into files that are named after their ids, or through ' +
          'a player. It is billed as speech is.',
      )
      .argument('<id...>', 'voice ids')
      .addOption(
        new Option('--text <text>', 'the line')
          .argParser(filled('--text'))
          .default(TEXT, 'a greeting'),
      )
      .addOption(
        new Option('--output-dir <folder>', 'folder for the files (default: this one)').argParser(
          filled('--output-dir'),
        ),
      )
      .addOption(new Option('--play', 'play them one after the other; alone it writes no files'))
      .addOption(
        new Option('--player <command>', 'play with this program, which reads stdin').argParser(
          filled('--player'),
        ),
      )
      .addOption(
        new Option('-m, --model <id>', 'model id (default: each voice’s own)').argParser(
          filled('--model'),
        ),
      )
      .addOption(
        new Option('--format <format>', 'format of the files (default: mp3)').argParser(
          speechFormat('--format'),
        ),
      );
    const ids = idOptions('key under which the same line of one voice is not billed again');
    for (const option of ids) command.addOption(option);
    command.addHelpText('after', EXAMPLES);
  },
  async run(context, { args, options }) {
    const ids = [...new Set(args.map((id) => filled('ID')(id)))];
    refuseSharedIds(ids, options);
    return previewVoices(context, ids, options);
  },
};

const EXAMPLES = `
Examples:
  $ foley voices preview … --output-dir previews
  $ foley voices preview … --text "The doors are closing." --play`;

/** Each voice is a request of its own. */
function refuseSharedIds(
  ids: readonly string[],
  { idempotencyKey, requestId }: PreviewFlags,
): void {
  if (ids.length === 1) return;
  if (idempotencyKey === undefined && requestId === undefined) return;
  throw usageFailure(
    `${idempotencyKey === undefined ? '--request-id' : '--idempotency-key'} is for one request, and ${ids.length} voices are asked for`,
    'Name one voice, or leave it out.',
  );
}
