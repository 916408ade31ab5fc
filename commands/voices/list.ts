import { Option } from 'commander';
import type { CommandDefinition } from '../../src/cli/command.ts';
import { integerWithin, oneOf } from '../../src/cli/flags/values.ts';
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from '../../src/contract/limits.ts';
import { VOICE_TYPES } from '../../src/contract/values.ts';
import { filled } from '../../src/cli/flags/speech.ts';
import type { VoicesListFlags } from './list-surface.ts';
import { chooseVoiceSurface, VOICE_SURFACES } from './list-surface.ts';

/** `foley voices list` (docs/api/speech.md#v3, docs/api/other-clients.md and docs/api/voices.md). */
export const voicesList: CommandDefinition<VoicesListFlags> = {
  configure(command) {
    command
      .description('Lists the voices of the service.')
      .addOption(
        new Option('--page <n>', 'page number, from 1').argParser(
          integerWithin('--page', { minimum: 1 }),
        ),
      )
      .addOption(
        new Option(
          '--page-size <n>',
          `voices a page, at most ${PAGE_SIZE_MAX} (default: ${PAGE_SIZE_DEFAULT})`,
        ).argParser(integerWithin('--page-size', { minimum: 1, maximum: PAGE_SIZE_MAX })),
      )
      .addOption(new Option('--all', 'every page').conflicts(['page', 'pageSize']))
      .addOption(new Option('--include-personal', 'also your own voices'));
    for (const option of filterOptions()) command.addOption(option);
  },
  async run(context, { options }) {
    const surface = chooseVoiceSurface(options);
    const { client } = await context.connect();
    const { showVoices } = await import('./show-list.ts');
    return showVoices(surface, options, { ...context, client });
  },
};

function filterOptions(): Option[] {
  return [
    new Option('--type <type>', `v1: ${VOICE_TYPES.join(', ')}`).argParser(
      oneOf('--type', VOICE_TYPES),
    ),
    textOption('--language <code>', 'v1: exactly this primary language'),
    textOption('--supports-language <code>', 'v1: this language among those of the voice'),
    textOption('--search <text>', 'v1: part of the name or the description'),
    textOption('--provider <name>', 'v1: this engine family'),
    new Option(
      '--api <surface>',
      `interface of the service: ${VOICE_SURFACES.join(', ')} (default: v3, or v1 for its filters)`,
    ).argParser(oneOf('--api', VOICE_SURFACES)),
  ];
}

function textOption(flags: string, description: string): Option {
  const [flag = ''] = flags.split(' ');
  return new Option(flags, description).argParser(filled(flag));
}
