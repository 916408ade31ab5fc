import { Option } from 'commander';
import { allVoices, listVoices } from '../../src/api/voices.ts';
import type { CommandDefinition } from '../../src/cli/command.ts';
import type { Context } from '../../src/cli/context.ts';
import type { CommandResult } from '../../src/cli/result.ts';
import { integerWithin } from '../../src/cli/number-flags.ts';
import { PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from '../../src/contract/limits.ts';
import type { Voice } from '../../src/contract/schemas/voice.ts';
import type { Column } from '../../src/cli/table.ts';

interface VoicesListFlags {
  readonly page?: number;
  readonly pageSize?: number;
  readonly all?: true;
  readonly includePersonal?: true;
}

/** `foley voices list` (contract, section 8; spec section 4.1). */
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
  },
  run: (context, { options }) =>
    options.all === true ? everyPage(context, options) : onePage(context, options),
};

async function onePage(context: Context, flags: VoicesListFlags): Promise<CommandResult> {
  const { client } = await context.connect();
  const { page, pageSize, includePersonal } = flags;
  const { value, raw } = await listVoices(client, {
    page,
    pageSize,
    includePersonal,
    signal: context.signal,
  });
  const rest =
    value.totalPages > value.page
      ? `page ${value.page} of ${value.totalPages}; --all shows all ${value.total}`
      : undefined;
  if (rest !== undefined) context.io.notice(rest);
  return present(value.items, raw);
}

async function everyPage(context: Context, flags: VoicesListFlags): Promise<CommandResult> {
  const { client } = await context.connect();
  const voices: Voice[] = [];
  const raw: unknown[] = [];
  const query = { includePersonal: flags.includePersonal, signal: context.signal };
  for await (const listed of allVoices(client, query)) {
    voices.push(listed.voice);
    raw.push(listed.raw);
  }
  return present(voices, { items: raw, total: raw.length });
}

async function present(voices: readonly Voice[], data: unknown): Promise<CommandResult> {
  const { table } = await import('../../src/cli/table.ts');
  return {
    data,
    human: (look) => (voices.length === 0 ? 'There are no voices.' : table(voices, COLUMNS, look)),
  };
}

const COLUMNS: readonly Column<Voice>[] = [
  { title: 'ID', value: ({ voiceId }) => voiceId, whole: true },
  { title: 'NAME', value: ({ name }) => name },
  { title: 'LANGUAGE', value: ({ primaryLanguage }) => primaryLanguage },
  { title: 'MODELS', value: ({ modelIds }) => modelIds.join(', ') },
];
